"""Speed, as ratios against a limit or a peer in the same run: `make bench`.

One thread of linear algebra for all: two that spin on two cores measure each other.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
