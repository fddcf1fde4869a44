"""One server, first come first served: Lindley's recursion for all jobs at once."""

import numpy as np

from deadheat.model import Array


def starts(arrival: Array, service: Array, free: float = 0.0) -> Array:
    """When each job's service starts: at its arrival, or when the one before is done; `free` is when the server is.

    Before job n the server has worked without pause since some job k: its end is arrival_k + service_k + ... +
    service_{n-1}, and the latest of those over k is the time it becomes free.
    """
    before = np.concatenate([[0.0], np.cumsum(service)[:-1]])
    slack = arrival - before
    latest = np.maximum(np.maximum.accumulate(slack), free)
    return np.where(slack >= latest, arrival, before + latest)  # a free server starts at the arrival, to the last digit
