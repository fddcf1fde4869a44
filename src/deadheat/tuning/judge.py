"""What a candidate would do: by the exact law where it holds, else by simulated iterations until they are enough."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from deadheat.coding import Certificate, IllConditioned, Shape, affordable, certify, placement
from deadheat.model import Cluster, CodeSpec, Interval, Overhead, Split, Stream, Switching, Workload, interval, laws
from deadheat.planning import POLICIES
from deadheat.queueing import IterationLaw, fluid_bound, mean_delay, seconds_of_law, service_moments
from deadheat.scheduling import SCHEDULES, Static, results
from deadheat.simulation import batches, root, seconds_of_run, times_of
from deadheat.tuning.candidates import Candidate, seconds_per_task

ROUNDS = (64, 64, 128, 256, 512, 1024, 2048)  # simulated iterations, until they are enough
FEWEST = 10  # runs before an interval is trusted to stop: two may agree by accident
PRECISION = 0.01  # of the mean iteration, at which they are
MOST_WORK = 1000.0  # times the plain work, beyond which work is not what a code loses by
LONGEST = 12.0  # seconds of all laws and simulations, roughly; those of the examples take ten
BREAK_EVEN_LAWS, FASTEST_LAWS = 20, 8  # laws that a break-even and a fastest split take
PER_WORKER = 4e-6  # seconds of each worker with a task or without, for a candidate
TABLE, MOST_TABLE, PER_ENTRY = 100.0, 2.0**24, 1e-7  # entries of a table per squared load, in all; seconds of each
CERTIFIED_ON = 32  # random patterns and lost blocks, each, on which a choice's conditioning is tried


@dataclass(frozen=True)
class Expected:
    """The time of an iteration at the workers: its mean, whose interval has no width where it is exact, and its std.

    done: how many results are in at its end.
    """

    mean: Interval
    std: float
    done: float


@dataclass(frozen=True, eq=False)
class Choice:
    """A judged candidate: what to expect of it, and what it costs.

    delay: predicted mean delay of a job. interval: its 95 % interval where it was simulated, None where it is exact.
    work_factor: K C/W, the work of the results that were used, in plain iterations. storage: the most that a worker
    holds of the data.
    """

    shape: Shape
    spec: CodeSpec
    split: Split
    policy: str
    schedule: str
    overhead: Overhead
    delay: float
    interval: Interval | None
    iteration_mean: float
    service_mean: float
    utilisation: float
    work_factor: float
    storage: float

    @property
    def family(self) -> str:
        return self.shape.family

    @property
    def coded(self) -> bool:
        return self.family != "uncoded"

    @cached_property
    def certificate(self) -> Certificate | None:
        """How far its code may be trusted; None where it is refused because it would lose too many digits."""
        try:
            code = self.shape.build()
        except IllConditioned:
            return None
        tried = min(CERTIFIED_ON, affordable(code))
        return certify(code, tried, stride=max(code.total // tried, 1))

    def __str__(self) -> str:
        settings = ""
        for name, value in self.shape.settings.items():
            settings += f", {name}" if value is True else f", {name} {value}" if value else ""
        how = "" if self.schedule == "static" else f", {self.schedule}"
        return f"{self.family} (K = {self.spec.critical} of {self.spec.total}{settings}), {self.policy} split{how}"


@dataclass(eq=False)
class Judge:
    """Judges candidates on one cluster and stream. What has the same tasks and the same split is looked at once."""

    cluster: Cluster
    stream: Stream
    gamma: float
    condition: Switching | None
    seed: int
    _judged: dict[tuple[CodeSpec, str], tuple[Split, Expected]] = field(default_factory=dict)

    def judge(self, candidate: Candidate, best: float = math.inf) -> Choice:
        """The candidate with its split and its predicted delay; a simulation ends when it cannot be the best."""
        shape, spec, stream = candidate.shape, candidate.spec, self.stream
        exact = self.is_exact(candidate)
        if exact:
            split, expected = self._exact(spec, candidate.policy)
        else:
            split = POLICIES[candidate.policy](self.cluster, spec, self.gamma)
            expected = self._simulated(candidate, split, best)
        extra, times = candidate.overhead.total, expected.mean
        delay, low, high = (self.delay(time + extra, expected.std) for time in (times.mean, times.low, times.high))
        service = (times.mean + extra) * stream.iterations
        factor = (expected.done + split.active * shape.cost.shared_chunks) * shape.cost.work
        storage = max(shape.cost.held(tasks) for tasks in placement(split.loads))
        if not SCHEDULES[candidate.schedule].keeps_split:
            storage = max(storage, 1.0)  # any task may come to any worker
        return Choice(
            shape=shape, spec=spec, split=split, policy=candidate.policy, schedule=candidate.schedule,
            overhead=candidate.overhead, delay=delay, interval=None if exact else Interval(delay, low, high),
            iteration_mean=times.mean + extra, service_mean=service, utilisation=service / stream.interarrival_mean,
            work_factor=factor, storage=storage,
        )  # fmt: skip

    def is_exact(self, candidate: Candidate) -> bool:
        """Whether theory tells all: the K-th result of a static split, states new in every iteration."""
        independent = self.condition is None or self.condition.independent
        return candidate.shape.any_critical and type(SCHEDULES[candidate.schedule]) is Static and independent

    def least_delay(self, candidate: Candidate) -> float:
        """A delay below which no split of the candidate's tasks can come; next to 0 where there is no such bound."""
        iteration = fluid_bound(self.cluster.tasks(candidate.spec), candidate.shape.fewest) + candidate.overhead.total
        return self.delay(iteration, 0.0) if iteration > 0 else 0.0

    def break_even(self, workload: Workload, criticals: Sequence[int], iteration: float) -> float:
        """How many times the plain work workers that are never without a task could do in that time.

        The best K of those given is taken. NaN where theory does not know or would take long, 1 where not even the
        plain work fits, and infinite where MOST_WORK times the plain work would, more than any code does.
        """
        if self.condition is not None and not self.condition.independent:
            return math.nan
        if BREAK_EVEN_LAWS * self._seconds_of_law(max(criticals) * len(self.cluster), max(criticals)) > LONGEST:
            return math.nan
        each = {k: seconds_per_task(workload, 1.0 if workload.kind == "gradient" else 1 / k, 0.0) for k in criticals}

        def takes(times: float, critical: int) -> float:
            spec = CodeSpec(critical, 1.0, times * workload.work / critical, seconds_per_task=each[critical])
            loads = np.full(len(self.cluster), critical)
            law = IterationLaw(self.cluster.tasks(spec), loads, critical, condition=self.condition)
            return law.mean + workload.update

        best = min(criticals, key=lambda k: takes(1.0, k))
        low, high = 1.0, 2.0
        if takes(low, best) >= iteration:
            return low
        while takes(high, best) < iteration:
            low, high = high, 2 * high
            if low > MOST_WORK:
                return math.inf
        for _ in range(10):
            middle = (low + high) / 2
            low, high = (middle, high) if takes(middle, best) < iteration else (low, middle)
        return low

    def seconds(self, candidate: Candidate) -> float:
        """How long it takes to judge a candidate, roughly."""
        total, critical = candidate.spec.total, candidate.spec.critical
        law = self._seconds_of_law(total, critical)
        split = FASTEST_LAWS * law if candidate.policy == "fastest" else 0.0
        if self.is_exact(candidate):
            return split or law
        even = np.bincount(np.arange(total) % len(self.cluster), minlength=len(self.cluster))
        stream, schedule = Stream(1.0, 0.0, sum(ROUNDS)), SCHEDULES[candidate.schedule]
        return split + seconds_of_run(
            Split.of(even, candidate.spec), stream, 1, schedule, by_tasks=True, followed=False
        )

    def _seconds_of_law(self, total: int, critical: int) -> float:
        """Of a law with even loads; sums without a closed form are convolved on a table for each worker."""
        workers = len(self.cluster)
        busy = min(workers, total)
        table = min(TABLE * (total / busy) ** 2, MOST_TABLE) * self._convolved * busy / workers
        return seconds_of_law(busy, total, critical) + PER_WORKER * workers + PER_ENTRY * table

    @cached_property
    def _convolved(self) -> int:
        return sum(not isinstance(law, laws.ExactSums) for law in self.cluster.laws)

    def delay(self, iteration: float, iteration_std: float) -> float:
        """The mean delay of jobs with such iterations."""
        if not math.isfinite(iteration):
            return math.inf
        mean, std = service_moments(self.stream.iterations, iteration, iteration_std)
        return mean_delay(self.stream, mean, std) if mean < self.stream.interarrival_mean else math.inf

    def _exact(self, spec: CodeSpec, policy: str) -> tuple[Split, Expected]:
        if (spec, policy) not in self._judged:
            split = POLICIES[policy](self.cluster, spec, self.gamma)
            law = IterationLaw(self.cluster.tasks(spec), split.loads, spec.critical, condition=self.condition)
            expected = Expected(Interval(law.mean, law.mean, law.mean), law.std, float(spec.critical))
            self._judged[spec, policy] = split, expected
        return self._judged[spec, policy]

    def _simulated(self, candidate: Candidate, split: Split, best: float) -> Expected:
        """Iterations by the hundred until their mean is known well enough, or certainly worse than the best.

        Where workers stay slow for several iterations, these are simulated in runs as long as a job, and the std is
        that of a job's mean, so that the variance of its service is right.
        """
        shape, condition, schedule = candidate.shape, self.condition, SCHEDULES[candidate.schedule]
        code = None if shape.any_critical else shape.build()
        run = 1 if condition is None or condition.independent else self.stream.iterations
        times, arrived = np.empty(0), []
        for number, size in enumerate(ROUNDS):
            seeds = root(int(np.random.SeedSequence(self.seed, spawn_key=(number,)).generate_state(1)[0]))
            iterations = max(size // run, 2) * run
            batch = next(batches(self.cluster, split, condition, seeds, multiple=run, total=iterations))
            lengths = times_of(schedule, batch, code)
            times = np.append(times, lengths.reshape(-1, run).mean(axis=1))
            if code is not None:
                arrived.append(np.count_nonzero(results(batch) <= lengths[:, None]) / lengths.size)
            if not np.isfinite(times).all():  # at times nobody can finish it
                return Expected(Interval(math.inf, math.inf, math.inf), 0.0, float(shape.critical))
            if times.size < 2:
                continue
            reached, std = interval(times), float(times.std(ddof=1)) * math.sqrt(run)
            lost = self.delay(reached.low + candidate.overhead.total, std) > best
            if lost or (times.size >= FEWEST and reached.precision <= PRECISION):
                break
        done = float(np.mean(arrived)) if arrived else float(candidate.spec.critical)
        return Expected(reached, std, done)
