"""The average delay of the first J jobs, as one draw shows it: its mean and its spread.

Delays of successive jobs are correlated and the queue starts empty, so the average of 1000 of them is neither the
steady state's mean nor as certain as 1000 independent numbers. With W the wait of a job, S its service and A the time
to the next arrival, W' = (W + S - A)^+ (Lindley). Read backwards, the sum of the next k delays of a job that waits w
has the moments
    V_k(w) = E[w + S + V_{k-1}(W')],   U_k(w) = E[(w + S)^2 + 2 (w + S) V_{k-1}(W') + U_{k-1}(W')],
two convolutions a step on a lattice of waits. S is a gamma law with the service's moments (a job is a sum of
iterations), A one with the stream's: exact for Poisson arrivals.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import whole
from deadheat.model import Array, Interval, Stream, checked, quantity, special

Spectrum = NDArray[np.complex128]
CELLS_PER_SPREAD = 16  # lattice points to one standard deviation of S - A: adds 0.1 % to its variance
MOST_CELLS = 2**13
STEPS = 2000  # a longer stable draw adds the same to mean and variance with every further job
NEVER_WAITS = 40.0  # standard deviations between a job's end and the next arrival
SURE = 5.0  # drift beyond this many standard deviations: an unstable queue is never empty again


@dataclass(frozen=True)
class Draw:
    """The average delay of `jobs` successive jobs that find the system empty: mean and standard deviation.

    Its law is a lognormal above `floor`, the service time that no average falls below: averages lean to the right.
    """

    jobs: int
    mean: float
    std: float
    floor: float = 0.0

    @property
    def interval(self) -> Interval:
        """The mean, and the ends between which 95 % of the draws lie."""
        return Interval(self.mean, self.quantile(0.025), self.quantile(0.975))

    @property
    def low(self) -> float:
        return self.interval.low

    @property
    def high(self) -> float:
        return self.interval.high

    def quantile(self, level: float) -> float:
        wait, width = self._wait()
        return self.floor + wait * math.exp(width * float(special.ndtri(level)) - width**2 / 2)

    def rank(self, value: float) -> float:
        """The share of draws below a value: 0.5 is the middle, 0.001 would be a surprise."""
        wait, width = self._wait()
        if value <= self.floor or width == 0:
            return float(value >= self.mean)
        return float(special.ndtr((math.log((value - self.floor) / wait) + width**2 / 2) / width))

    def _wait(self) -> tuple[float, float]:
        """Mean of the part above the floor, and the width of its logarithm."""
        wait = max(self.mean - self.floor, math.ulp(self.mean))
        return wait, math.sqrt(math.log1p((self.std / wait) ** 2)) if self.std > 0 else 0.0


@checked
def draw(stream: Stream, service_mean: float, service_std: float, jobs: int) -> Draw:
    """What the average delay of the first `jobs` jobs will be, in a stable queue or an unstable one."""
    jobs = whole("jobs", jobs, "give the number of jobs")
    quantity("service_mean", service_mean, "give seconds, above 0", above=0.0)
    quantity("service_std", service_std, "give seconds, 0 for none", least=0.0)
    drift, spread = service_mean - stream.interarrival_mean, math.hypot(service_std, stream.interarrival_std)
    if drift <= -NEVER_WAITS * spread or (drift <= 0 and spread <= 1e-9 * service_mean):
        return Draw(jobs, service_mean, service_std / math.sqrt(jobs))  # every job is done before the next arrives
    if drift >= 0 and drift * math.sqrt(jobs) >= SURE * spread:
        # Waits are a random walk, and the average is E[T_s] + (E[T_s] - E[T_a])(J-1)/2. The walk starts anew at 0 in
        # its first steps; that lifts it by spread^2/(2 drift), as for a Brownian motion.
        mean = service_mean + drift * (jobs - 1) / 2 + spread**2 / (2 * drift) * (jobs > 1)
        left = (jobs - 1) * (2 * jobs - 1) / (6 * jobs)  # the squares of the parts of the average that steps stay in
        return Draw(jobs, mean, math.sqrt(spread**2 * left + service_std**2 / jobs))
    if drift >= 0 and jobs > STEPS:
        return _lumped(stream, service_mean, service_std, jobs)
    steps = min(jobs, STEPS)
    mean, var, more_mean, more_var = _moments(stream, service_mean, service_std, steps)
    mean = (mean + (jobs - steps) * more_mean) / jobs
    std = math.sqrt(max(var + (jobs - steps) * more_var, 0.0)) / jobs
    return Draw(jobs, mean, std, floor=max(service_mean - 3 * service_std / jobs**0.5, 0.0))


def _lumped(stream: Stream, service_mean: float, service_std: float, jobs: int) -> Draw:
    """Many jobs at a utilisation of one, or hardly more: so many in a row count as one, whose wait is theirs.

    Waits grow with the root of the number of jobs, so that what happens within a lump is next to nothing.
    """
    size = math.ceil(jobs / STEPS)
    arrivals = Stream(size * stream.interarrival_mean, math.sqrt(size) * stream.interarrival_std, 1)
    lumps = draw(arrivals, size * service_mean, math.sqrt(size) * service_std, jobs // size)
    own = (size - 1) * service_mean
    # A walk of few large steps starts anew at 0 less often than one of many small ones [Chernoff, Siegmund].
    missed = 0.5826 * (math.sqrt(size) - 1) * math.hypot(service_std, stream.interarrival_std)
    mean = max(lumps.mean - own, service_mean) + missed
    return Draw(jobs, mean, lumps.std, floor=max(lumps.floor - own, 0.0))


def _moments(stream: Stream, service_mean: float, service_std: float, steps: int) -> tuple[float, float, float, float]:
    """Mean and variance of the sum of `steps` delays from an empty system, and what one more step adds to each."""
    drift, spread = service_mean - stream.interarrival_mean, math.hypot(service_std, stream.interarrival_std)
    reach = 10 * spread * math.sqrt(steps) + max(drift, 0.0) * steps
    if drift < 0:
        reach = min(reach, 20 * spread**2 / -drift + 10 * spread)  # waits fall off like exp(2 drift w/spread^2)
    cells = min(int(CELLS_PER_SPREAD * reach / spread) + 1, MOST_CELLS)
    step = reach / cells
    place, chance, with_service = _increments(stream, service_mean, service_std, step)
    below, above = max(-int(place[0]), 0), max(int(place[-1]), 0)
    size = 1 << (cells + below + above + place.size).bit_length()
    kernel, service_kernel = (np.conj(np.fft.rfft(k, size)) for k in (chance, with_service))
    wait = step * np.arange(cells)
    shift = int(place[0]) + below

    def after(values: Array) -> Spectrum:
        """The transform of a function of the wait, extended flat below 0 and straight beyond the lattice."""
        end = values[-1] + (values[-1] - values[-2]) * np.arange(1, above + 1)
        return np.fft.rfft(np.concatenate([np.full(below, values[0]), values, end]), size)

    def expect(transform: Spectrum, weights: Spectrum) -> Array:
        """E[weight f(W')] at every wait: a correlation with the increments."""
        return np.fft.irfft(transform * weights, size)[shift : shift + cells]

    square = service_std**2 + service_mean**2
    delay, delay2 = wait + service_mean, wait**2 + 2 * wait * service_mean + square
    v, u = np.zeros(cells), np.zeros(cells)
    mean = var = more_mean = more_var = 0.0
    for _ in range(steps):
        v_next, u_next = after(v), after(u)
        next_v = expect(v_next, kernel)
        u = delay2 + 2 * (wait * next_v + expect(v_next, service_kernel)) + expect(u_next, kernel)
        v = delay + next_v
        more_mean, more_var = float(v[0]) - mean, float(u[0] - v[0] ** 2) - var
        mean, var = float(v[0]), float(u[0] - v[0] ** 2)
    return mean, var, more_mean, more_var


def _increments(stream: Stream, service_mean: float, service_std: float, step: float) -> tuple[Array, Array, Array]:
    """Lattice places of X = S - A with P(X) and E[S; X]; mass is split between neighbours so that E[X] is kept."""
    services, weights = _service_points(service_mean, service_std)
    reach = 40 * stream.interarrival_std  # beyond it lies 1e-17 of an exponential
    shortest, longest = max(stream.interarrival_mean - reach, 0.0), stream.interarrival_mean + reach
    place = np.arange(math.floor((services[0] - longest) / step), math.ceil((services[-1] - shortest) / step) + 2)
    chance, with_service = np.zeros(place.size), np.zeros(place.size)
    for s, weight in zip(services, weights, strict=True):
        # E[(A - y)^+] is convex in y; its second difference is the mass that a hat function gathers at a point.
        stop = _stop_loss(stream, s - step * np.append(place[0] - 1, np.append(place, place[-1] + 1)))
        mass = weight * (stop[2:] - 2 * stop[1:-1] + stop[:-2]) / step
        chance += mass
        with_service += s * mass
    return place.astype(float), chance / chance.sum(), with_service * (service_mean / with_service.sum())


def _service_points(mean: float, std: float) -> tuple[Array, Array]:
    """Nine points and weights for a gamma law: Gauss-Hermite, carried over by its quantiles."""
    if std <= 1e-9 * mean:
        return np.array([mean]), np.array([1.0])
    nodes, weights = np.polynomial.hermite_e.hermegauss(9)
    weights = weights / weights.sum()
    points = np.asarray(special.gammaincinv((mean / std) ** 2, special.ndtr(nodes))) * (std**2 / mean)
    middle = float(weights @ points)
    deviation = math.sqrt(float(weights @ (points - middle) ** 2))
    return np.maximum(mean + (points - middle) * (std / deviation), 0.0), weights


def _stop_loss(stream: Stream, y: Array) -> Array:
    """E[(A - y)^+] for the gamma law of the times between arrivals."""
    m, s = stream.interarrival_mean, stream.interarrival_std
    if s <= 1e-9 * m:
        return np.maximum(m - y, 0.0)
    shape, scale = (m / s) ** 2, s**2 / m
    x = np.maximum(y, 0.0) / scale
    return np.where(y > 0, m * (1 - special.gammainc(shape + 1, x)) - y * (1 - special.gammainc(shape, x)), m - y)
