"""Every engine through the shipped suite."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import deadheat as dh
from deadheat.runtime.conformance import CHECKS
from deadheat.runtime.engines.local import LocalEngine
from deadheat.runtime.engines.ray import RayEngine
from deadheat.runtime.engines.virtual import VirtualEngine


def virtual(workers: int) -> VirtualEngine:
    """A second for each task, on a clock that jumps."""
    cluster = dh.Cluster.from_columns([1.0] * workers, 0.0)
    return VirtualEngine(cluster, dh.uniform(cluster, dh.CodeSpec(100)))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_virtual(check: Callable[..., None]) -> None:
    check(virtual)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_local(check: Callable[..., None]) -> None:
    check(LocalEngine)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_ray(check: Callable[..., None], ray_cluster: None) -> None:
    check(RayEngine)
