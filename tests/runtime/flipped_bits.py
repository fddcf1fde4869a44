"""A worker that flips a bit in some of its results: an engine on sampled time that does it, by seed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from descent import gradient

import deadheat as dh
from deadheat.coding import Code, Mixture
from deadheat.runtime import Job, Run, run
from deadheat.scheduling import Event, Finished
from deadheat.simulation import VirtualEngine

FOUR = dh.Cluster([dh.Worker(1.0, 0.3, comm=0.1, name=f"w{number}") for number in range(4)])
LIAR = 1


def noisy_descent(iterations: int) -> Job:
    """Least squares on noisy data: its chunks' gradients stay as large as the noise, and only their sum vanishes."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(12, 20, 8))
    y = x @ rng.normal(size=8) + 0.1 * rng.normal(size=(12, 20))
    return Job(list(zip(x, y, strict=True)), gradient, np.zeros(8), lambda w, total, i: w - total / 400, iterations)


def flipped(value: Any, rng: np.random.Generator) -> Any:
    """The result with one bit of one number turned over."""
    if isinstance(value, Mixture):
        return Mixture(flipped(value.value, rng), value.dtype, value.shape)
    numbers = np.array(value)
    bits = numbers.reshape(-1).view(f"u{numbers.real.itemsize}")
    place = rng.integers(bits.size)
    bits[place] ^= bits.dtype.type(1 << int(rng.integers(8 * bits.itemsize)))
    return numbers


class FlippingEngine(VirtualEngine):
    """One result in `every` of the liar's has a bit flipped; flips: how many had."""

    def __init__(self, *args: Any, every: float = 50.0, flip_seed: int = 0, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._every, self._rng, self.flips = every, np.random.default_rng(flip_seed), 0

    def wait(self, timeout: float | None) -> list[Event]:
        return [self._touched(event) for event in super().wait(timeout)]

    def _touched(self, event: Event) -> Event:
        mine = isinstance(event, Finished) and event.worker == LIAR and event.ticket.iteration >= 0
        if not mine or self._rng.random() * self._every >= 1:
            return event
        assert isinstance(event, Finished)
        self.flips += 1
        return replace(event, value=flipped(event.value, self._rng))


def flipping_run(job: Any, code: Code | None, seed: int, every: float = 50.0, **settings: Any) -> tuple[Run, int]:
    """A run on four workers of which one flips bits, when it is over; and how many it flipped."""
    spec = job.program(code, np.inf).spec
    engine = FlippingEngine(FOUR, dh.split(FOUR, spec), seed=seed, every=every, flip_seed=seed)
    return run(job, FOUR, code, engine, **settings).wait(), engine.flips
