"""First K of n: any 8 of 12 samples of a noisy function will do, and the slow ones are not waited for.

30 iterations, each from the first 8 of 12 samples; the minimum is near 2.0
"""

import numpy as np

import deadheat as dh
from deadheat.jobs import Rollouts


def sample(place, seed):
    """A noisy slope of (place - 2)^2, which takes a random time."""
    rng = np.random.default_rng(seed)
    return 2 * (place - 2.0) + 0.1 * rng.normal()


job = Rollouts(sample, 10.0, lambda place, slopes, i: place - 0.2 * slopes.mean(), iterations=30, critical=8, total=12)
done = dh.run(job, workers=2)
place = done.state
print(f"{done.deliveries[0].iterations} iterations, each from the first 8 of 12 samples;", end=" ")
print(f"the minimum is near {place:.1f}")
