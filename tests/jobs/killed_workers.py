"""Jobs of which some lose a worker on the way, all in one run with the same workers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import deadheat as dh
from deadheat.coding import Code
from deadheat.runtime import Delivery, Run, Workable, run
from deadheat.scheduling import Dismiss, Finished, Lost

CLUSTER = dh.Cluster([dh.Worker(4e-4 * times, 1e-4 * times, comm=2e-4) for times in (1.0, 1.5, 2.0, 3.0)])
WORK = 30.0  # units of a plain iteration: about 5 ms on the four of them
ITERATIONS, KILLED_AT = 30, 10
GRADIENT_CODES: dict[str, Code | None] = {  # of 12 chunks
    "uncoded": None,
    "replication": dh.codes.replication(6, 2),
    "fractional": dh.codes.fractional_repetition(12, 2),
    "cyclic": dh.codes.cyclic(12, 3),
    "cyclic, reuse": dh.codes.cyclic(12, 3, reuse=True),
    "cyclic MDS": dh.codes.cyclic_mds(12, 3),
    "cyclic MDS, complex": dh.codes.cyclic_mds(12, 2),
    "Reed-Solomon": dh.codes.reed_solomon(12, 3),
    "Reed-Solomon, reuse": dh.codes.reed_solomon(12, 3, reuse=True),
    "cut in 2": dh.codes.communication_efficient(12, 2, 2),
    "cut in 4, reuse": dh.codes.communication_efficient(12, 2, 4, reuse=True),
}


@dataclass(eq=False)
class Deaths:
    """A listener of a run: kills a worker in iteration 10 of the jobs of these names (of all where none are given).

    slowest: always the slowest, else each time another one.
    """

    slowest: bool = False
    names: Collection[str] = ()
    run: Run | None = None
    killed: dict[int, int] = field(default_factory=dict)  # by job
    lost: list[int] = field(default_factory=list)
    dismissed: list[int] = field(default_factory=list)
    deliveries: dict[str, Delivery] = field(default_factory=dict)
    spared: frozenset[int] = frozenset()

    def __call__(self, event: object, at: float) -> None:
        match event:
            case Finished(ticket=ticket) if ticket.iteration == KILLED_AT and ticket.job not in self.killed:
                assert self.run is not None
                if ticket.job not in self.spared:
                    alive = sorted(self.run.driver.master.alive)
                    self.killed[ticket.job] = alive[-1 if self.slowest else ticket.job % len(alive)]
                    self.run.driver.engine.kill(self.killed[ticket.job])
            case Lost(worker=worker):
                self.lost.append(worker)
            case Dismiss(worker=worker):
                self.dismissed.append(worker)

    def done(self, name: str) -> Delivery:
        """The delivery of a job that went through all its iterations."""
        delivery = self.deliveries[name]
        assert delivery.error is None
        assert delivery.iterations == ITERATIONS
        assert (delivery.job in self.killed) == (delivery.job not in self.spared)
        return delivery


def with_deaths(
    jobs: Sequence[Workable], codes: Sequence[Code | None], deaths: Deaths, engine: str = "local", workers: int = 4
) -> Deaths:
    """Run the jobs one after the other on the last so many emulated workers."""
    cluster = dh.Cluster(list(CLUSTER)[-workers:])
    if deaths.names:
        deaths.spared = frozenset(number for number, job in enumerate(jobs) if job.name not in deaths.names)
    deaths.run = run(list(jobs), cluster, list(codes), engine, emulate=True, work=WORK, listeners=[deaths])
    deaths.deliveries = {delivery.name: delivery for delivery in deaths.run}
    return deaths
