"""The delay of a job, from arrival to delivery, in a queue with one server: the cluster as a whole."""

import math

from deadheat.errors import whole
from deadheat.model import Stream, checked


@checked
def service_moments(iterations: int, mean: float, std: float) -> tuple[float, float]:
    """Mean and standard deviation of a job's service time: `iterations` independent iterations."""
    count = whole("iterations", iterations, "give the iterations of one job")
    return count * mean, math.sqrt(count) * std


@checked
def kingman(stream: Stream, service_mean: float, service_std: float) -> float:
    """The mean delay in a G/G/1 queue, approximately (Kingman); infinite where rho >= 1.

    D = E[T_s] (1 + rho/(1-rho) (c_a^2 + c_s^2)/2). For Poisson arrivals c_a = 1 and it is Pollaczek-Khinchine's.
    """
    rho = service_mean / stream.interarrival_mean
    if rho >= 1:
        return math.inf
    arrivals = (stream.interarrival_std / stream.interarrival_mean) ** 2
    service = (service_std / service_mean) ** 2
    return service_mean * (1 + rho / (1 - rho) * (arrivals + service) / 2)


@checked
def pollaczek_khinchine(rate: float, service_mean: float, service_std: float) -> float:
    """The mean delay in an M/G/1 queue, exactly: E[T_s] + lambda E[T_s^2]/(2 (1 - lambda E[T_s]))."""
    rho = rate * service_mean
    if rho >= 1:
        return math.inf
    return service_mean + rate * (service_std**2 + service_mean**2) / (2 * (1 - rho))


@checked
def mean_delay(stream: Stream, service_mean: float, service_std: float) -> float:
    """Pollaczek-Khinchine for a Poisson stream, Kingman for any other."""
    if stream.is_poisson:
        return pollaczek_khinchine(stream.rate, service_mean, service_std)
    return kingman(stream, service_mean, service_std)
