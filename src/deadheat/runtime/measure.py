"""Measure real workers on a job, and write them down as a scenario has them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from json import dumps
from math import inf

from deadheat.coding import Code
from deadheat.errors import DeadheatError, finite
from deadheat.model import Cluster
from deadheat.runtime.job import Workable
from deadheat.runtime.options import Options
from deadheat.scheduling import Engine, Sample

MOST_ROUNDS = 100_000


class NothingMeasured(DeadheatError):
    """No worker finished two tasks."""


@dataclass(frozen=True, eq=False)
class Measured:
    """The workers that answered, with what they did; silent: the names of those that did not."""

    samples: Mapping[str, Sample]
    silent: Sequence[str]

    def toml(self, about: str) -> str:
        lines = [f"# {line}" for line in about.splitlines()]
        for name, sample in self.samples.items():
            mean, comm = sample.mean, sample.latency
            lines += [
                "",
                "[[workers]]",
                f"name = {dumps(name)}",
                f"mean = {mean.mean:.6e}   # seconds per unit of work, 95 % interval {mean.low:.3e} to {mean.high:.3e},"
                f" {len(sample.work)} tasks",
                f"std = {sample.std:.6e}",
                f"comm = {comm.mean:.6e}   # seconds per iteration, {max(comm.low, 0):.3e} to {comm.high:.3e},"
                f" {len(sample.comm)} rounds",
            ]
        lines += [f"# {name} did not finish two tasks" for name in self.silent]
        return "\n".join(lines) + "\n"


def measure(
    job: Workable, cluster: Cluster | None = None, code: Code | None = None, engine: str | Engine = "local", *,
    seconds: float = 10.0, workers: int | None = None, work: float | None = None, emulate: bool = False, seed: int = 0,
    quotas: Sequence[float | None] | None = None, address: str | None = None, memory: float = inf,
) -> Measured:  # fmt: skip
    """Have all workers do tasks of the job for so many seconds, all at once as in a run.

    cluster: for the names of the workers (and, with emulate, their laws). The unit of work is one chunk, or as `work`
    says. The other arguments are those of `run`.
    """
    finite("seconds", seconds, "give for how long to measure", above=0.0)
    options = Options(
        cluster=cluster, code=code, engine=engine, workers=workers, work=work, emulate=emulate, seed=seed,
        quotas=quotas, address=address, memory=memory,
    )  # fmt: skip
    program = options.program(job)
    driver = options.start()
    try:
        driver.gather(len(options.declared))
        samples = driver.probe(program, job.start, MOST_ROUNDS, seconds)
    finally:
        options.close(driver)
    names = options.declared.names
    measured = {names[w]: sample for w, sample in sorted(samples.items()) if len(sample.work) > 1}
    if not measured:
        why = next((sample.error for sample in samples.values() if sample.error), "measure longer, or cut finer chunks")
        raise NothingMeasured(f"no worker finished two tasks within {seconds:g} s: {why}")
    return Measured(measured, [name for name in names if name not in measured])
