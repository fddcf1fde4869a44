"""Every engine through the shipped suite."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from deadheat.runtime.conformance import CHECKS
from deadheat.runtime.engines.local import LocalEngine
from deadheat.runtime.engines.ray import RayEngine


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_local(check: Callable[..., None]) -> None:
    check(LocalEngine)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_ray(check: Callable[..., None], ray_cluster: None) -> None:
    check(RayEngine)
