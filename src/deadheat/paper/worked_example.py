"""The worked example of section IV-C: five workers, a gradient code, a Poisson stream."""

from deadheat.model import Cluster, CodeSpec, Stream, Worker

SPEEDS = (5.29e7, 7.26e7, 3.10e7, 1.37e7, 6.03e7)  # mu_p, operations per second
COMM = (0.0481, 0.0562, 0.0817, 0.0509, 0.0893)  # c_p, seconds per iteration
SAMPLES, CHUNKS, CHUNKS_PER_TASK, OPERATIONS = 554_400, 100, 51, 10  # n, m, d, alpha
PRINTED = {"optimal": 47.93, "uniform": 129.96, "lower bound": 42.04}  # seconds, each one draw of 1000 jobs


def cluster() -> Cluster:
    """The five workers: exponential tasks of rate mu_p per operation."""
    return Cluster(
        Worker(1 / speed, 1 / speed, comm, f"w{p}") for p, (speed, comm) in enumerate(zip(SPEEDS, COMM, strict=True), 1)
    )


def spec(redundancy: float = 1.1) -> CodeSpec:
    """K = 50 of 55 tasks, each of C = d alpha n/m = 2,827,440 operations."""
    return CodeSpec(50, redundancy, CHUNKS_PER_TASK * OPERATIONS * SAMPLES / CHUNKS)


def stream() -> Stream:
    """Poisson with rate 0.01 per second, 50 iterations a job."""
    return Stream.poisson(0.01, 50)
