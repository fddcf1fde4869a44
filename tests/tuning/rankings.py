"""A plugin with fixtures: rankings of the worked example that several files look at, each computed once."""

from __future__ import annotations

import pytest
from judged_choices import CLUSTER, SEARCHES, STREAM

import deadheat as dh
from deadheat.tuning import Ranking


def _ranking(name: str) -> Ranking:
    workload, search, condition = SEARCHES[name]
    return dh.tune(workload, CLUSTER, STREAM, search, condition=condition)


@pytest.fixture(scope="session")
def gradient() -> Ranking:
    return _ranking("gradient")


@pytest.fixture(scope="session")
def linear() -> Ranking:
    return _ranking("linear")


@pytest.fixture(scope="session")
def product() -> Ranking:
    return _ranking("product")


@pytest.fixture(scope="session")
def slow() -> Ranking:
    return _ranking("slow")


@pytest.fixture(scope="session", params=list(SEARCHES))
def ranking(request: pytest.FixtureRequest) -> Ranking:
    ranking = request.getfixturevalue(request.param)
    assert isinstance(ranking, Ranking)
    return ranking
