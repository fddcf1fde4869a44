"""Five workers for Figures 2 to 4: the paper's own are only in lost figures, so these are built to its words.

K = 1000 tasks of C = 500 operations, I = 10 iterations, one job in 100 s. For Figures 2 and 3 the uniform split must be
unstable and the optimal one stable; for Figure 4 a stronger set keeps both stable for every Omega.
"""

import numpy as np

from deadheat.model import Cluster, CodeSpec, Stream

NOTE = (
    "The paper does not print its workers (they are in a lost figure); these are a seeded cluster built to its words."
)


def stream() -> Stream:
    """Poisson, rate 0.01 per second, ten iterations a job."""
    return Stream.poisson(0.01, 10)


def spec(redundancy: float = 1.0) -> CodeSpec:
    """K = 1000, C = 500."""
    return CodeSpec(1000, redundancy, 500.0)


def workers(strength: float = 1.0) -> Cluster:
    """Exponential workers whose speeds lie within a factor of six, at 0.1 to 0.9 s; `strength` divides task times."""
    rng = np.random.default_rng(20220)
    per_unit = np.sort(rng.uniform(0.016, 0.096, 5)) / strength / spec().work  # from seconds per task
    return Cluster.from_columns(per_unit, per_unit, rng.uniform(0.1, 0.9, 5), names=["w1", "w2", "w3", "w4", "w5"])
