"""HCMM: loads for coded computation over heterogeneous clusters [1], the best known rival of Theorem 2.

A worker's whole load l takes a shifted exponential time, at least a l and on average l/mu more, and counts only when
all of it is done. HCMM picks the loads that make the expected amount done by some time t largest: l_p = t/lambda_p
with exp(mu lambda) = exp(a mu) (mu lambda + 1). Only their ratio is used here: the number of tasks is the code's.
(HCMM's own is `hcmm_redundancy`.) It takes no account of c_p.

[1] Reisizadeh, Prakash, Pedarsani, Avestimehr, Coded computation over heterogeneous clusters, 2019, eq. (15) to (18).
"""

import numpy as np

from deadheat.model import Array, Cluster, CodeSpec, Split, checked
from deadheat.planning.fixed_ratio import by_weight

LEAST_SHIFT = 0.01  # a as a part of the mean: with a = 0 HCMM would give a worker all the work there is


@checked
def hcmm(cluster: Cluster, spec: CodeSpec, gamma: float = 1.0) -> Split:
    """Tasks in HCMM's proportion 1/lambda_p."""
    tasks = cluster.tasks(spec)
    scale, y = _fit(tasks.pace, tasks.std)
    rate = 1 / (scale * y)
    return by_weight(cluster, spec, rate / rate.max(), gamma, "hcmm")


@checked
def hcmm_redundancy(cluster: Cluster) -> float:
    """The redundancy that HCMM itself would take: sum_p 1/lambda_p over sum_p mu_p/(1 + mu_p lambda_p)."""
    scale, y = _fit(cluster.mean, cluster.std)
    return float((1 / (scale * y)).sum() / (1 / (scale * (1 + y))).sum())


def _fit(mean: Array, std: Array) -> tuple[Array, Array]:
    """The scale 1/mu of the shifted exponential, and y = mu lambda > 0, the only root of y = a mu + log(1 + y)."""
    scale = np.clip(std, 1e-9 * mean, (1 - LEAST_SHIFT) * mean)
    x = (mean - scale) / scale  # a mu
    y = x + np.sqrt(2 * x) + 1  # above the root, for Newton's steps: log(1 + y) <= sqrt(2 x) + 1 there
    for _ in range(60):
        step = (y - x - np.log1p(y)) * (1 + y) / y
        y = y - step
        if (np.abs(step) <= 1e-14 * y).all():
            break
    return scale, np.asarray(y)
