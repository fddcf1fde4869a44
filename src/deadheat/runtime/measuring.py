"""Measure real workers on a job, and write them down as a scenario has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from json import dumps
from typing import Unpack

from deadheat.coding import Code
from deadheat.errors import DeadheatError, finite
from deadheat.model import Cluster
from deadheat.runtime.engine import Engine
from deadheat.runtime.job import Workable
from deadheat.runtime.probing import Sample, probe
from deadheat.runtime.setups import Setup, Ways

MOST_ROUNDS = 100_000


class NothingMeasured(DeadheatError):
    """No worker finished two tasks."""

    def __init__(self, seconds: float, error: str) -> None:
        why = error or "measure longer, or cut the data into smaller chunks"
        super().__init__(f"no worker finished two tasks within {seconds:g} s: {why}")


@dataclass(frozen=True, eq=False)
class Measured:
    """The workers that answered, with what they did; silent: the names of those that did not."""

    samples: Mapping[str, Sample]
    silent: Sequence[str]

    def toml(self, about: str) -> str:
        """Tables [[workers]], with intervals as remarks."""
        lines = [f"# {line}" for line in about.splitlines()]
        for name, sample in self.samples.items():
            mean, way = sample.mean, sample.way
            lines += [
                "",
                "[[workers]]",
                f"name = {dumps(name)}",
                f"mean = {mean.mean:.6e}   # seconds per unit of work, 95 % interval {mean.low:.3e} to {mean.high:.3e},"
                f" {len(sample.work)} tasks",
                f"std = {sample.std:.6e}",
                f"comm = {way.mean:.6e}   # seconds per iteration, {max(way.low, 0):.3e} to {way.high:.3e},"
                f" {len(sample.comm)} orders",
            ]
        lines += [f"# {name} did not finish two tasks" for name in self.silent]
        return "\n".join(lines) + "\n"


def measure(
    job: Workable,
    cluster: Cluster | None = None,
    code: Code | None = None,
    engine: str | Engine = "local",
    *,
    seconds: float = 10.0,
    **ways: Unpack[Ways],
) -> Measured:
    """Have all workers do tasks of the job for so many seconds, all at once as in a run.

    cluster: for the names of the workers (and, with emulate, their laws). The unit of work is one chunk, or as `work`
    says. code, ways: as for `run`.
    """
    finite("seconds", seconds, "give for how long to measure", above=0.0)
    setup = Setup(cluster, code, engine, **ways)
    driver = setup.driver()
    try:
        driver.gather(len(setup.known))
        samples = probe(driver, driver.take(setup.task(job)), MOST_ROUNDS, seconds)
    finally:
        if isinstance(engine, str):
            driver.engine.close()
    names = setup.known.names
    found = {names[w]: sample for w, sample in sorted(samples.items()) if len(sample.work) > 1}
    if not found:
        raise NothingMeasured(seconds, next((one.error for one in samples.values() if one.error), ""))
    return Measured(found, [name for name in names if name not in found])
