"""The options of a run: workers, code, split and schedule, checked once for `run`, `Pool` and `measure`."""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakSet

from deadheat.coding import Code
from deadheat.errors import BadInput, finite, nearest, whole
from deadheat.model import Cluster, special
from deadheat.planning import POLICIES, Policy
from deadheat.runtime.driver import Driver, Listener
from deadheat.runtime.emulation import emulations
from deadheat.runtime.engines.local_engine import LocalEngine
from deadheat.runtime.engines.ray_engine import RayEngine
from deadheat.runtime.job import Workable, private_copy
from deadheat.scheduling import Engine, Estimates, Master, Program, Schedule, schedule_named

ENGINES = ("local", "ray")
_used: WeakSet[Any] = WeakSet()  # engines, since their workers remember tickets
UNKNOWN = 1e-3  # seconds per unit of work that are taken for granted of workers nobody has measured
CHECKED = 1 / 200  # of tasks that are checked by default: half a per cent of the work
MOST_DEFAULT = 8  # workers that are started without being asked for


@dataclass(frozen=True, eq=False)
class Options:
    """What was asked for; every field is documented at `run`. Raises BadInput for what cannot be meant."""

    cluster: Cluster | None = None
    code: Code | None = None
    engine: str | Engine = "local"
    workers: int | None = None
    policy: str | Policy = "optimal"
    schedule: str | Schedule = "static"
    gamma: float = 1.0
    work: float | None = None
    adapt: bool = True
    emulate: bool = False
    seed: int = 0
    quotas: Sequence[float | None] | None = None
    address: str | None = None
    memory: float = math.inf
    checks: str | float = "auto"
    patience: float | None = None

    def __post_init__(self) -> None:
        named, number = isinstance(self.engine, str), isinstance(self.memory, (int, float))
        for field, refused, problem, remedy in (
            ("cluster", not isinstance(self.cluster, Cluster | None), "not a Cluster", "give dh.Cluster([...])"),
            ("code", not isinstance(self.code, Code | None), "not a code", "give one of dh.codes: cyclic(12, 2), say"),
            ("engine", named and self.engine not in ENGINES, "no such engine", nearest(str(self.engine), ENGINES)),
            ("engine", not isinstance(self.engine, str | Engine), "not an engine", 'give "local", "ray" or an Engine'),
            ("emulate", self.emulate and not named, "an engine of your own has its workers", "give them emulations"),
            ("emulate", self.emulate and self.cluster is None, "there is nothing to emulate", "give the cluster"),
            ("quotas", self.quotas and self.engine != "local", "only local workers have them", 'use engine="local"'),
            ("address", self.address and self.engine != "ray", "of no use without Ray", 'use engine="ray"'),
            ("memory", not number or isinstance(self.memory, bool), "not a number", "give bytes, such as 1e9"),
            ("memory", number and not self.memory > 0, "no room for any chunk", "give bytes, above 0"),
            ("policy", not isinstance(self.policy, str) and not callable(self.policy), "not a policy", "give a name"),
        ):  # fmt: skip
            if refused:
                raise BadInput(field, getattr(self, field), problem, remedy)
        finite("gamma", self.gamma, "give a weight in 1/second, such as 1.0", least=0.0)
        _ = self.check_rate
        if self.patience is not None:
            finite("patience", self.patience, "give the seconds that a task may take at most", above=0.0)
        whole("seed", self.seed, "give a number from 0 on", least=0)
        if self.work is not None:
            finite("work", self.work, "give units of work of a plain iteration, above 0", above=0.0)
        existing = None if isinstance(self.engine, str) else self.engine.workers
        if existing not in (None, len(self.declared)):
            problem = f"workers, and the engine has {existing}"
            raise BadInput("cluster", len(self.declared), problem, "let them agree")
        if self.workers not in (None, len(self.declared)):
            raise BadInput("workers", self.workers, f"the cluster has {len(self.declared)}", "leave it out")
        _ = self.named_policy, self.named_schedule

    @property
    def check_rate(self) -> float:
        """The part of tasks that are checked."""
        if self.checks == "auto":
            return CHECKED
        remedy = 'give "auto", or the part of tasks to check, from 0 (none) to 1'
        return finite("checks", self.checks, remedy, least=0.0, most=1.0)

    @property
    def guessed(self) -> bool:
        """Whether nothing was said of the workers, so that a probe measures them."""
        return self.cluster is None

    @cached_property
    def declared(self) -> Cluster:
        """The workers as they were declared; equal ones where nothing was said of them."""
        if self.cluster is not None:
            return self.cluster
        count = self.workers
        if count is None and isinstance(self.engine, Engine):
            count = self.engine.workers
        if count is None:
            count = min(os.cpu_count() or 1, MOST_DEFAULT)
        return Cluster.from_columns([UNKNOWN] * whole("workers", count, "give the number of workers"), 0.0)

    @cached_property
    def named_policy(self) -> Policy:
        return POLICIES.find(self.policy, "policy") if isinstance(self.policy, str) else self.policy

    @cached_property
    def named_schedule(self) -> Schedule:
        return schedule_named(self.schedule)

    @property
    def emulation(self) -> str:
        """How the workers are made unequal, in words; empty where they are as they are."""
        means = ["task times are stretched to the laws given"] if self.emulate else []
        return " and ".join([*means, "CPU quotas limit them"] if self.quotas is not None else means)

    def start(self, listeners: Sequence[Listener] = ()) -> Driver:
        """Start the workers; a driver with a master for them."""
        workers = emulations(self.declared, self.seed) if self.emulate else [None] * len(self.declared)
        engine = self.engine
        if isinstance(engine, Engine):
            if engine in _used:
                raise BadInput("engine", type(engine).__name__, "has served a run before", "make one for each run")
            _used.add(engine)
        elif engine == "local":
            engine = LocalEngine(workers, quotas=self.quotas)
        else:
            engine = RayEngine(workers, address=self.address)
        try:
            special.gammaincc(1.0, 1.0)  # estimates need scipy: import it now, while the workers start
            master = Master(
                Estimates(self.declared, self.guessed), policy=self.named_policy, gamma=self.gamma,
                schedule=self.named_schedule, adapt=self.adapt,
            )  # fmt: skip
        except BaseException:  # Control-C, say
            if isinstance(self.engine, str):
                engine.close()
            raise
        return Driver(master, engine, list(listeners), checks=self.check_rate, thrifty=self.checks == "auto")

    def close(self, driver: Driver) -> None:
        """End the workers, if they were started here."""
        if isinstance(self.engine, str):
            driver.engine.close()

    def program(self, job: Workable, code: Code | None = None) -> Program:
        """A job under its code, ready to be submitted."""
        must_be_job(job)
        program = job.program(self.code if code is None else code, self.memory)
        private_copy(job.start)  # what cannot be copied is refused before any work
        if self.work is not None:
            program.work = self.work
        if program.patience is None:
            program.patience = self.patience
        if program.spec.shared_chunks and not self.named_schedule.keeps_split:
            problem = "tasks that share chunks must stay where they were planned"
            raise BadInput("schedule", self.schedule, problem, 'use schedule="static", or a code without reuse')
        self.named_policy(self.declared, program.spec, self.gamma)  # a split that cannot be is refused at the door
        return program


def must_be_job(job: object) -> None:
    """Refuse what cannot be run."""
    if isinstance(job, type) or not callable(getattr(job, "program", None)):
        raise BadInput("job", job, "not a job", "give a dh.Job, or one of dh.jobs")
