"""Entangled polynomial codes: the fewest results for a given size of task.

They need their powers of x: real points while these last, and roots of unity, with complex work, beyond.

Yu, Maddah-Ali, Avestimehr, Straggler mitigation in distributed matrix multiplication: fundamental limits and optimal
coding, 2020.
"""

from functools import partial

import numpy as np

from deadheat.coding.block_products import MOST_SPARE, Grid, block_cost, blocks_of, sides
from deadheat.coding.certification import LIMIT, gate
from deadheat.coding.generator_matrices import chebyshev_points, circle_points
from deadheat.coding.linear_code import LinearCode
from deadheat.coding.shape import Family, Shape, Shapes, at_least
from deadheat.errors import BadInput
from deadheat.model import AnyArray

MOST_REAL = 16  # K up to which real points keep seven digits (tests/coding/test_code_costs.py builds them)


def entangled(
    inner: int, left: int, right: int, total: int, points: str = "auto", *, limit: float = LIMIT
) -> LinearCode:
    """Cut A in left x inner blocks, B in inner x right; any K = inner left right + inner - 1 of n results give A B.

    points: "real" up to K = 16 or so, "circle" (complex: four times the work and twice the storage) beyond; "auto".
    """
    p, m, q = blocks_of(inner=inner, left=left, right=right)
    K = p * m * q + p - 1
    n = at_least(total, K, "inner left right + inner - 1")
    if points not in ("auto", "real", "circle"):
        raise BadInput("points", points, "no such points", 'take "real", "circle" or "auto"')
    on_circle = points == "circle" or (points == "auto" and K > MOST_REAL)
    x: AnyArray = circle_points(n) if on_circle else chebyshev_points(n)
    j, u, v = np.arange(p), np.arange(m), np.arange(q)
    a = x[:, None] ** (j + p * u[:, None]).ravel()  # A[u, j] has the power j + p u
    b = x[:, None] ** (p - 1 - j[:, None] + p * m * v).ravel()  # B[j, v] the power p - 1 - j + p m v
    wanted = (p - 1 + p * u[:, None] + p * m * v).ravel()
    code = LinearCode("entangled", "product", rows=x[:, None] ** np.arange(K), target=np.eye(K)[wanted], critical=K,
                      cost=block_cost(p, m, q, critical=K, total=n, is_complex=on_circle), least=m * q,
                      encoders=(a, b), assemble=Grid(m, q))  # fmt: skip
    other = "" if on_circle else 'points="circle", '
    return gate(code, limit, f"take {other}fewer tasks to spare, or codes.polydot")


def _shapes(kind: str, critical: int, total: int) -> Shapes:
    spare = total - critical
    for inner in (2, 3, 4) if spare <= MOST_SPARE else ():
        left, right = sides(max(round((critical + 1) / inner) - 1, 2))
        K = inner * left * right + inner - 1
        yield Shape("entangled", kind, K, K + spare, build=partial(entangled, inner, left, right, total=K + spare),
                    cost=block_cost(inner, left, right, critical=K, total=K + spare, is_complex=K > MOST_REAL),
                    settings={"inner": inner, "left": left, "right": right})  # fmt: skip


FAMILY = Family("entangled", ("product",), title="Entangled polynomials", source="Yu et al. 2020", work="1/(pmn)",
                factor="1 + 1/(mn) - 1/(pmn)", enough="any K = pmn + p - 1", shapes=_shapes,
                notes="real points to K = 16; complex beyond: four times the work")  # fmt: skip
