"""The dead heat: give each worker the load that makes all finish together (Theorem 2).

The loads kappa_p(theta) at which every active worker has the score theta grow with theta, so theta is the root of
sum_p min(kappa_p(theta), cap_p) = n. It lies between the least a_p (nobody is active) and a theta at which the total
is reached for certain. Newton's steps in the logarithms (the loads grow like theta, later like its root: nearly a
straight line there), kept inside that bracket, find it, and bisection takes over where they fail.
Everything is measured from the least a_p, so that workers of small a_p keep their digits beside those of large a_p.
"""

import numpy as np

from deadheat.errors import BadInput, NoConvergence
from deadheat.model import Array, Tasks
from deadheat.planning.score import Score

STEPS = 200  # bisection alone ends a bracket of 60 binary orders in half of that
TOLERANCE = 1e-13  # of the total; the rest is shared out in proportion


def equalise(tasks: Tasks, total: int, score: Score, caps: Array) -> tuple[Array, float]:
    """The real shares, at most `caps`, that sum to `total` and give all active workers one score, and that score theta.

    Raises BadInput where the caps do not hold the total, NoConvergence where the score is not increasing.
    """
    require_room(caps, total)
    curve = score.on(tasks)
    origin = float(curve.start.min())
    offset = curve.start - origin
    tops = offset + curve.rise(np.minimum(float(total), caps))
    able = caps >= total
    low, high = 0.0, float(tops[able].min() if able.any() else tops.max())
    reachable = offset < high  # nobody else can become active
    part, part_offset, part_caps = curve.of(reachable), offset[reachable], caps[reachable]
    height = high
    for _ in range(STEPS):
        kappa, slopes = part.loads(height - part_offset)
        full = kappa >= part_caps
        if full.any():
            kappa, slopes = np.where(full, part_caps, kappa), np.where(full, 0.0, slopes)
        placed = float(kappa.sum())
        if abs(placed - total) <= TOLERANCE * total:
            break
        low, high = (height, high) if placed < total else (low, height)
        steepness = height * float(slopes.sum()) / placed if placed > 0 else 0.0  # of log placed in log height
        step = height * (total / placed) ** min(1 / steepness, 60.0) if steepness > 0 else low
        new = step if low < step < high else (low + high) / 2
        if new in (low, high):
            break  # the bracket is two neighbouring numbers
        height = new
        if 2 * np.count_nonzero(here := part_offset < high) < here.size:
            part, part_offset, part_caps = part.of(here), part_offset[here], part_caps[here]
    kappa = np.minimum(curve.loads(height - offset)[0], caps)
    gap = total - float(kappa.sum())
    if abs(gap) > 0.5:
        raise NoConvergence("the balance of the scores", STEPS, gap)
    free = np.where(kappa < caps, kappa, 0.0)  # who may take the last rounding error, in proportion
    weight = float(free.sum())
    return kappa + free * (gap / weight) if weight > 0 else kappa, origin + height


def require_room(caps: Array, total: int) -> None:
    """Refuse caps that cannot hold the total."""
    room = float(np.minimum(caps, total).sum())
    if room < total:
        problem = f"the workers together hold {room:g} of {total} tasks"
        raise BadInput("capacity", int(room), problem, "raise capacities or add workers")
