"""Lagrange coding: any polynomial of the data, computed on mixtures that lie on one curve through all blocks.

u(z) = sum_j X_j l_j(z) passes the block X_j at the point beta_j. A task computes f(u(alpha_i)); f(u(z)) has the degree
(parts - 1) deg f, so K = (parts - 1) deg f + 1 results determine it, and with it f(X_j) = f(u(beta_j)). The first tasks
sit at the betas: their results are plain, and where all of them arrive nothing is decoded.

Yu, Li, Raviv, Kalan, Soltanolkotabi, Avestimehr, Lagrange coded computing, AISTATS 2019.
"""

import numpy as np

from deadheat.coding.certification import LIMIT, gate
from deadheat.coding.cost import Cost
from deadheat.coding.generator_matrices import chebyshev_rows
from deadheat.coding.linear_code import LinearCode
from deadheat.coding.shape import Family, at_least
from deadheat.errors import whole


def lagrange(parts: int, degree: int, total: int, *, limit: float = LIMIT) -> LinearCode:
    """The values f(X_j) of a polynomial f of that degree at all blocks, from any K = (parts - 1) degree + 1 results."""
    count = whole("parts", parts, "give the number of blocks")
    power = whole("degree", degree, "give the degree of the function")
    K = (count - 1) * power + 1
    n = at_least(total, K, "(parts - 1) degree + 1")
    alpha = np.cos(np.pi * (np.arange(n) + 0.5) / n)
    plain = np.unique(np.round((np.arange(count) + 0.5) * n / count - 0.5).astype(int))
    rest = np.setdiff1d(np.arange(n), plain)
    alpha = np.concatenate([alpha[plain], np.random.default_rng(0).permutation(alpha[rest])])
    beta, part = alpha[:count], 1 / count
    gaps = beta[:, None] - beta + np.eye(count)  # l_j(alpha_i) by the barycentric formula, the identity at the betas
    logs = -np.log(np.abs(gaps)).sum(axis=1)
    terms = np.prod(np.sign(gaps), axis=1) * np.exp(logs - logs.max()) / (alpha[count:, None] - beta)
    encoder = np.vstack([np.eye(count), terms / terms.sum(axis=1, keepdims=True)])
    cost = Cost(part, part, result=part, encode=n - count, decode=K, plain=count)
    code = LinearCode("lagrange", "function", rows=chebyshev_rows(alpha, K), target=chebyshev_rows(beta, K), critical=K,
                      cost=cost, least=count, encoders=(encoder,))  # fmt: skip
    return gate(code, limit, "take fewer blocks or fewer tasks to spare")


# The tuner is offered no shapes: no workload and no job computes functions of the data.
FAMILY = Family("lagrange", ("function",), title="Polynomials of the data", source="Yu et al. 2019", work="1/k",
                factor="about deg f", enough="any K = (k-1) deg f + 1",
                notes="plain results first; Chebyshev points, gated")  # fmt: skip
