"""Rateless (LT) codes: every task is the sum of a random number of blocks; a little more than m results peel.

[1] Luby, LT codes, FOCS 2002 (the robust soliton law of the degrees).
[2] Mallick, Chaudhari, Sheth, Palanikumar, Joshi, Rateless codes for near-perfect load balancing in distributed
matrix-vector multiplication, 2019.
"""

import math
from dataclasses import replace
from functools import partial

import numpy as np

from deadheat.coding.cost import Cost
from deadheat.coding.peeling_code import PeelingCode
from deadheat.coding.shape import Family, Shape, Shapes
from deadheat.errors import BadInput, finite, whole
from deadheat.model import Array

SPREAD, FAILURE = 0.03, 0.5  # c and delta of the robust soliton law
DRAWS = 200  # of a code, before it is given up
LEAST_SPARE = 1.2  # tasks per block: with fewer, hardly any draw peels


def lt(parts: int, total: int, *, spread: float = SPREAD, failure: float = FAILURE, seed: int = 0) -> PeelingCode:
    """There are m blocks and n tasks of some blocks each; about m (1 + eps) results suffice, which ones is luck.

    spread, failure: c and delta of that law. All n tasks together always peel: other draws are dropped.
    """
    m = whole("parts", parts, "give the number of blocks (m)")
    n = whole("total", total, "give the number of tasks (n)")
    needed, fits = math.ceil(LEAST_SPARE * m), math.floor(n / LEAST_SPARE)
    if m > n:
        remedy = f"take at most {fits}, or total = {needed}" if fits else f"take total = {needed}"
        raise BadInput("parts", m, f"more than the {n} tasks there are", remedy)
    if n < needed:
        raise BadInput("total", n, f"too few to peel {m} blocks", f"take at least {needed}, or codes.ldpc")
    c = finite("spread", spread, "give c of the robust soliton law, such as 0.03", above=0.0)
    delta = finite("failure", failure, "give delta of the robust soliton law, such as 0.5", above=0.0)
    if delta >= 1:
        raise BadInput("failure", failure, "must be below 1", "give delta of the robust soliton law, such as 0.5")
    chances = robust_soliton(m, c, delta)
    rng = np.random.default_rng(seed)
    for _ in range(DRAWS):
        degrees = 1 + rng.choice(m, n, p=chances)
        rows = [np.sort(rng.choice(m, d, replace=False)) for d in degrees]
        tasks = tuple((row, np.ones(row.size)) for row in rows)
        encoder = np.array([np.bincount(row, minlength=m) for row in rows], float)
        code = PeelingCode("lt", "linear", symbols=m, wanted=m, tasks=tasks, checks=(), critical=n, least=m,
                           cost=_cost(m, n, float(degrees.mean())), encoders=(encoder,))  # fmt: skip
        if code.decodable(range(n)):
            return replace(code, critical=0)
    problem = f"in {DRAWS} draws, {n} tasks never covered {m} blocks"
    raise BadInput("spread", spread, problem, f"take {SPREAD}, or more tasks")


def robust_soliton(parts: int, spread: float, failure: float) -> Array:
    """The chances of the degrees 1 ... m (Luby's tau added to the ideal soliton, normalised)."""
    m, d = parts, np.arange(1, parts + 1)
    ideal = np.append(1 / m, 1 / (d[1:] * (d[1:] - 1.0)))
    ripple = spread * math.log(m / failure) * math.sqrt(m) if m > 1 else 1.0
    spike = int(np.clip(round(m / max(ripple, 1e-9)), 1, m))
    extra = np.where(d < spike, ripple / (d * m), 0.0)
    extra[spike - 1] = ripple * math.log(max(ripple / failure, 1.0 + 1e-9)) / m
    chances = ideal + extra
    return np.asarray(chances / chances.sum())


def _cost(parts: int, total: int, degree: float) -> Cost:
    return Cost(1 / parts, 1 / parts, result=1 / parts, encode=degree * total / parts, decode=degree)


def _shapes(kind: str, critical: int, total: int) -> Shapes:
    if total >= LEAST_SPARE * critical:
        cost = _cost(critical, total, float(robust_soliton(critical, SPREAD, FAILURE) @ np.arange(1, critical + 1)))
        yield Shape("lt", kind, critical, total, cost, partial(lt, critical, total), any_critical=False)


FAMILY = Family("lt", ("linear",), title="Random sums of blocks", source="Luby 2002; Mallick et al. 2019", work="1/m",
                factor="1 + eps", enough="about m (1 + eps)", shapes=_shapes,
                notes="rateless; robust soliton degrees, peeling")  # fmt: skip
