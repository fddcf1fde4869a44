"""What the tests of several rooms share: hypothesis without a clock or a dice, and one specimen of every law."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # two threads on two busy cores crawl

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from scipy import stats

from deadheat.coding import FAMILIES
from deadheat.model import Cluster, Worker, laws
from deadheat.model.laws import (
    Deterministic,
    Empirical,
    Gamma,
    Law,
    Lognormal,
    Mixture,
    Pareto,
    ShiftedExponential,
    Weibull,
    as_law,
)
from deadheat.planning import POLICIES
from deadheat.scheduling import SCHEDULES

settings.register_profile("deadheat", derandomize=True, deadline=None, max_examples=60, database=None)
settings.load_profile("deadheat")

MEAN = 2.0
SPECIMENS: dict[str, Law] = {
    "gamma": Gamma.from_moments(MEAN, 1.0),
    "exponential": Gamma.from_moments(MEAN, MEAN),
    "shifted-exponential": ShiftedExponential.from_moments(MEAN, 0.8),
    "lognormal": Lognormal.from_moments(MEAN, 1.0),
    "weibull": Weibull.from_moments(MEAN, 1.5),
    "pareto": Pareto.from_moments(MEAN, 1.0),
    "deterministic": Deterministic(MEAN),
    "mixture": Mixture.from_moments(MEAN, 3.2),
    "empirical": Empirical(np.random.default_rng(5).gamma(4.0, 0.5, 200)),
    "scipy-uniform": as_law(stats.uniform(1.0, 2.0)),
    "scipy-invgauss": as_law(stats.invgauss(0.5, scale=4.0)),
}


@pytest.fixture(params=list(SPECIMENS.values()), ids=list(SPECIMENS))
def law(request: pytest.FixtureRequest) -> Law:
    """One law of every family; a test that asks for it runs once for each."""
    specimen = request.param
    assert isinstance(specimen, Law)
    return specimen


@pytest.fixture
def trio(law: Law) -> Cluster:
    """Three unequal workers of that law: near, slow and nearer, fast and far."""
    return Cluster(
        [Worker.of(law, 0.3), Worker.of(law.scaled(1.7), 0.1), Worker.of(law.scaled(0.6), 0.9)],
    )


@pytest.fixture(autouse=True)
def registries() -> Iterator[None]:
    """What a test registers is known to that test only."""
    every: list[Any] = [laws.FAMILIES, POLICIES, SCHEDULES, FAMILIES]
    before = [dict(registry._things) for registry in every]
    yield
    for registry, things in zip(every, before, strict=True):
        registry._things.clear()
        registry._things.update(things)


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[None]:
    """One Ray on this machine for all tests that need it."""
    import ray

    here = [str(Path(__file__).parent / room) for room in ("runtime", "jobs")]  # what tests define, for actors too
    environment = {"env_vars": {"PYTHONPATH": ":".join(here)}}
    ray.init(
        address="local",
        num_cpus=8,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=40,
        runtime_env=environment,
    )
    yield
    ray.shutdown()


@pytest.fixture
def deadheat(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command in this process: its exit code, standard output and standard error."""

    from deadheat.cli import main

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        seen = capsys.readouterr()
        return int(left.value.code or 0), seen.out, seen.err

    return run
