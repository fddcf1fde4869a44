"""Any sum over chunks: k-means, with a closure for the work and a class of one's own for the state.

3 centres after 2 iterations: (-4.0, 0.0) (0.0, 4.0) (4.0, 0.0)
"""

import numpy as np

import deadheat as dh

rng = np.random.default_rng(0)
truth = np.array([[-4.0, 0.0], [0.0, 4.0], [4.0, 0.0]])
points = np.concatenate([centre + 0.5 * rng.normal(size=(400, 2)) for centre in truth])
rng.shuffle(points)


class Centres:
    """The state: where the centres are."""

    def __init__(self, places):
        self.places = places


def assign(centres, chunk):
    """For each centre the sum of its points, and how many there are."""
    nearest = np.linalg.norm(chunk[:, None] - centres.places, axis=2).argmin(axis=1)
    mine = np.eye(3)[nearest]
    return np.column_stack([mine.T @ chunk, mine.sum(axis=0)])


def move(centres, total, iteration):
    """Each to the middle of its points; over when none moves."""
    new = total[:, :2] / total[:, 2:]
    return dh.Converged(Centres(new)) if np.allclose(new, centres.places) else Centres(new)


job = dh.Job(
    np.array_split(points, 12), assign, Centres(np.array([[-1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])), move, iterations=50
)
done = dh.run(job, workers=2)
centres = sorted(tuple((np.round(place, 0) + 0.0).tolist()) for place in done.state.places)
print(f"3 centres after {done.deliveries[0].iterations} iterations:", *centres)
