"""When jobs arrive: a gamma law's times between them, or a list of measured ones."""

import numpy as np

from deadheat.model import Array, Stream, fit


def gaps(stream: Stream, jobs: int, rng: np.random.Generator) -> Array:
    """The seconds before each job's arrival: exponential for a Poisson stream, constant for a steady beat."""
    law = fit("gamma", stream.interarrival_mean, stream.interarrival_std)
    return np.asarray(law.rvs(jobs, rng), float)
