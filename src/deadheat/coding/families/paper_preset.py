"""The paper's own codes: the matrix B of its appendix, and the m = 100, d = 51 code of its worked example."""

import numpy as np

from deadheat.coding.cost import Cost
from deadheat.coding.linear_code import LinearCode, gradient_code
from deadheat.coding.shape import Family, Shape, Shapes

CHUNKS, TASKS, CRITICAL = 100, 55, 50
DEGREE = CHUNKS - CRITICAL + 1  # 51
COST = Cost(DEGREE / CHUNKS, DEGREE / CHUNKS, decode=CRITICAL, mix=DEGREE, more=2 / CHUNKS)


def paper_example() -> LinearCode:
    """K = 2, Omega = 1.5, m = 3, d = 2: the gradient from any 2 of 3 results (appendix)."""
    rows = np.array([[1.0, 0.0, 0.5], [1.0, -1.0, 0.0], [0.0, 1.0, 0.5]])
    return gradient_code("paper", rows, 2, Cost(2 / 3, 2 / 3, decode=2, mix=2, more=1 / 3))


def paper_preset(seed: int = 0) -> LinearCode:
    """K = 50 of n = 55 tasks of d = 51 of m = 100 chunks (section IV-C); the paper does not print its matrix.

    Rows lie in a random space of K dimensions that contains the all-one vector; a row of it can be made to vanish at
    any K - 1 chunks, so d = m - K + 1 are left. It does 25.5 times the plain work: n chunks would do, with d = 6.
    """
    rng = np.random.default_rng(seed)
    space = np.vstack([np.ones(CHUNKS), rng.standard_normal((CRITICAL - 1, CHUNKS))])
    rows = np.zeros((TASKS, CHUNKS))
    for task in range(TASKS):
        held = (task * CHUNKS // TASKS + np.arange(DEGREE)) % CHUNKS
        absent = np.setdiff1d(np.arange(CHUNKS), held)
        mixture = np.linalg.svd(space[:, absent].T)[2][-1]  # the one direction that vanishes at all of them
        rows[task, held] = mixture @ space[:, held]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return gradient_code("paper", rows, CRITICAL, COST)


def _shapes(kind: str, critical: int, total: int) -> Shapes:
    if (critical, total) == (CRITICAL, TASKS):
        yield Shape("paper", kind, critical, total, COST, paper_preset, {"chunks": CHUNKS, "degree": DEGREE})


FAMILY = Family("paper", ("gradient",), title="The worked example's code", source="the paper, section IV-C",
                work="d/m = 0.51", factor="25.5", enough="any K = 50 of 55", shapes=_shapes,
                notes="the preset m = 100, d = 51; 25 times the plain work")  # fmt: skip
