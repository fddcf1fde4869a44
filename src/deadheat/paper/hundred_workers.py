"""A hundred workers for Figures 5 to 7 and Table II, built to meet every number that the paper prints of its own.

Those are only in a lost figure. Printed are: K = 350 has the least mismatch and K = 110 the greatest; at K = 350 theta
is 646.24 and 33 of the 100 are active; the delays of Table II. KC = Z is fixed; Omega is not printed, and 1.1 gives
delays near the table's. The seed is the first that meets the mismatch and the active workers; Z follows from theta.
"""

from functools import cache

import numpy as np

from deadheat.model import Cluster, CodeSpec
from deadheat.planning import split

SEED, BEST, THETA, REDUNDANCY, JOBS = 7023, 350, 646.24, 1.1, 1000
TASKS = tuple(range(110, 520, 10))  # the K that are compared
TABLE = {110: 9.19e4, 200: 8.07e4, 350: 7.71e4, 510: 7.50e4}  # Table II, seconds
NOTE = (
    "The paper's hundred workers are in a lost figure. These are a seeded cluster that meets what it prints of them:"
    " theta = 646.24 and 33 active workers at K = 350, the least mismatch there and the greatest at K = 110 (of 110,"
    " 120, ..., 510). Omega = 1.1 is our choice."
)


def spec(critical: int) -> CodeSpec:
    """K tasks of 1/K of an iteration's work each: KC = Z, one unit."""
    return CodeSpec(critical, REDUNDANCY, 1 / critical)


@cache
def workers() -> Cluster:
    """The cluster, with its speeds scaled so that theta at K = 350 is the printed one."""
    rng = np.random.default_rng(SEED)
    comm, slowness = rng.uniform(0, 75, 100), rng.uniform(0.3, 3, 100)
    low, high = 50.0, 2000.0
    for _ in range(60):
        scale = (low * high) ** 0.5
        cluster = Cluster.from_columns(slowness * scale, slowness * scale, comm)
        low, high = (scale, high) if split(cluster, spec(BEST)).theta < THETA else (low, scale)
    return cluster
