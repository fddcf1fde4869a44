"""Every engine through the shipped suite."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import deadheat as dh
from deadheat.runtime import LocalEngine, RayEngine
from deadheat.runtime.conformance import CHECKS
from deadheat.scheduling import Engine, Event, Message
from deadheat.simulation import VirtualEngine


def virtual(workers: int) -> VirtualEngine:
    """A second for each task, on a clock that jumps."""
    cluster = dh.Cluster.from_columns([1.0] * workers, 0.0)
    return VirtualEngine(cluster, dh.uniform(cluster, dh.CodeSpec(100)))


ENGINES: dict[str, Callable[[int], Engine]] = {"virtual": virtual, "local": LocalEngine, "ray": RayEngine}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", list(ENGINES))
def test_every_engine(name: str, check: Callable[..., None], request: pytest.FixtureRequest) -> None:
    if name == "ray":
        request.getfixturevalue("ray_cluster")
    check(ENGINES[name])


class Deaf(VirtualEngine):
    """Workers that get no messages."""

    def send(self, worker: int, message: Message) -> None:
        return


@pytest.mark.parametrize("check", CHECKS[:-2], ids=lambda check: check.__name__)
def test_an_engine_that_does_not_deliver_fails(check: Callable[..., None]) -> None:
    """A negative control: all checks but those of waiting and closing fail."""

    def deaf(workers: int) -> Engine:
        cluster = dh.Cluster.from_columns([1.0] * workers, 0.0)
        return Deaf(cluster, dh.uniform(cluster, dh.CodeSpec(100)))

    with pytest.raises(AssertionError, match="waited in vain"):
        check(deaf)


class Least(Engine):
    """The four methods that must be written, and no more."""

    def now(self) -> float:
        return 0.0

    def send(self, worker: int, message: Message) -> None:
        return

    def wait(self, timeout: float | None) -> list[Event]:
        return []

    def close(self) -> None:
        return


def test_an_engine_of_four_methods_has_harmless_defaults() -> None:
    with Least() as engine:
        assert (engine.workers, engine.exhausted, engine.pid(0)) == (None, False, None)
        engine.dismiss(0)
        with pytest.raises(NotImplementedError, match="Least cannot kill workers"):
            engine.kill(0)
    with pytest.raises(TypeError, match="abstract"):
        Engine()  # type: ignore[abstract]
