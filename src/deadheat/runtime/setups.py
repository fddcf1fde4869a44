"""The setup of a run: workers, code and ways, checked once; `run` and `Pool` begin with it."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence, Sized
from dataclasses import dataclass
from typing import Any, TypedDict
from weakref import WeakSet

from deadheat.coding import Code
from deadheat.errors import BadInput, finite, nearest, whole
from deadheat.model import Cluster, CodeSpec
from deadheat.planning import policy as named
from deadheat.runtime.briefs import Brief, Policy
from deadheat.runtime.driver import Driver, Listener, Task
from deadheat.runtime.emulation import emulations
from deadheat.runtime.engine import Engine
from deadheat.runtime.engines.local import LocalEngine
from deadheat.runtime.engines.ray import RayEngine
from deadheat.runtime.estimates import Estimates
from deadheat.runtime.job import Workable
from deadheat.runtime.master import Master
from deadheat.runtime.schedules import SCHEDULES, Schedule

ENGINES = ("local", "ray")
_used: WeakSet[Any] = WeakSet()  # engines, since their workers remember tickets
UNKNOWN = 1e-3  # seconds per unit of work that are taken for granted of workers nobody has measured
MOST_DEFAULT = 8  # workers that are started without being asked for


class Ways(TypedDict, total=False):
    """How `run` and `Pool` may work, besides cluster, code and engine.

    workers: how many, where no cluster is given. policy: of the split. schedule: "static", "top-up" or "pull".
    gamma: weight of the second moment in Theorem 2. work: units of work of a plain iteration, in the cluster's unit;
    by default one for each chunk. adapt: split anew as the workers change.
    emulate: stretch task times to the cluster's laws, with this seed (demonstrations and tests).
    quotas: shares of a core that local workers get (as root, on Linux). address: of a Ray cluster.
    memory: bytes of chunks that a worker may keep of those it reads itself.
    """

    workers: int | None
    policy: str | Policy
    schedule: str | Schedule
    gamma: float
    work: float | None
    adapt: bool
    emulate: bool
    seed: int
    quotas: Sequence[float | None] | None
    address: str | None
    memory: float


@dataclass(eq=False)
class Setup:
    """What was asked for, with what was left out filled in. Raises BadInput for what cannot be meant."""

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

    def __post_init__(self) -> None:
        if self.cluster is not None and not isinstance(self.cluster, Cluster):
            raise BadInput("cluster", self.cluster, "not a Cluster", "give dh.Cluster([...]), or workers=2")
        if isinstance(self.memory, bool) or not isinstance(self.memory, (int, float)):
            raise BadInput("memory", self.memory, "not a number", "give bytes, such as 1e9")
        if self.emulate and not isinstance(self.engine, str):
            raise BadInput("emulate", True, "an engine of your own has its workers", "give them emulations")
        self.guessed = self.cluster is None
        self.known = self._workers() if self.cluster is None else self.cluster
        if isinstance(self.engine, Sized) and not isinstance(self.engine, str) and len(self.engine) != len(self.known):
            raise BadInput(
                "cluster", len(self.known), f"workers, and the engine has {len(self.engine)}", "let them agree"
            )
        if self.workers not in (None, len(self.known)):
            raise BadInput("workers", self.workers, f"the cluster has {len(self.known)}", "leave it out")
        if isinstance(self.engine, str) and self.engine not in ENGINES:
            raise BadInput("engine", self.engine, "no such engine", nearest(self.engine, ENGINES))
        if isinstance(self.schedule, str) and self.schedule not in SCHEDULES:
            raise BadInput(
                "schedule", self.schedule, "no such schedule in a live run", nearest(self.schedule, SCHEDULES)
            )
        if self.quotas is not None and self.engine != "local":
            raise BadInput("quotas", self.quotas, "only local workers can be limited", 'use engine="local"')
        if self.address is not None and self.engine != "ray":
            raise BadInput("address", self.address, "of no use without Ray", 'use engine="ray"')
        if not self.memory > 0:
            raise BadInput("memory", self.memory, "no room for any chunk", "give bytes, above 0")
        if self.work is not None:
            finite("work", self.work, "give units of work of a plain iteration, above 0", above=0.0)
        self._policy = named(self.policy) if isinstance(self.policy, str) else self.policy
        self._schedule = SCHEDULES[self.schedule] if isinstance(self.schedule, str) else self.schedule

    @property
    def emulation(self) -> str:
        """How the workers are made unequal, in words; empty where they are as they are."""
        ways = ["task times are stretched to the laws given"] if self.emulate else []
        return " and ".join([*ways, "CPU quotas limit them"] if self.quotas is not None else ways)

    def _workers(self) -> Cluster:
        """Equal workers, as long as nobody has measured them."""
        if self.emulate:
            raise BadInput("emulate", True, "there is nothing to emulate", "give the cluster")
        count = min(os.cpu_count() or 1, MOST_DEFAULT) if self.workers is None else self.workers
        if self.workers is None and isinstance(self.engine, Sized):
            count = len(self.engine)
        return Cluster.from_columns([UNKNOWN] * whole("workers", count, "give the number of workers"), 0.0)

    def driver(self, listeners: Sequence[Listener] = ()) -> Driver:
        """A driver on an engine with workers."""
        workers = emulations(self.known, self.seed) if self.emulate else [None] * len(self.known)
        place: Engine
        if not isinstance(self.engine, str):
            place = self.engine
            if place in _used:
                raise BadInput("engine", type(place).__name__, "has served a run before", "make one for each run")
            _used.add(place)
        elif self.engine == "local":
            place = LocalEngine(workers, quotas=self.quotas)
        else:
            place = RayEngine(workers, address=self.address)
        return Driver(Master(Estimates(self.known, self.guessed)), place, list(listeners))

    def task(self, job: Workable, code: Code | None = None) -> Task:
        """A job with its code, ready to be driven."""
        made = job.prepare(code or self.code, self.memory)
        cost = made.code.cost
        units = (made.units if self.work is None else self.work) * cost.work
        spec = CodeSpec.of(made.code.critical, made.code.total, units, cost.shared_chunks)
        brief = Brief(made.code, spec, job.iterations, self._policy, self.gamma, self._schedule, self.adapt)
        return Task(brief, made.work, job.start, made.step, name=job.name, share=made.share)
