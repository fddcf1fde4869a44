"""Wrong types on public names: BadInput, or a TypeError that names the argument; never an error from deep inside."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import deadheat as dh
from deadheat.model import checked

WRONG: tuple[Any, ...] = (None, "x", -1, float("nan"), [], object())
CLUSTER = dh.Cluster([dh.Worker(1.0, 1.0), dh.Worker(2.0, 2.0, comm=0.1)])
SPEC = dh.CodeSpec(4, 1.5)
GOOD: dict[str, Any] = {  # by the name of an argument: what it may be, where another one is wrong
    "cluster": CLUSTER, "spec": SPEC, "split": dh.split(CLUSTER, SPEC), "stream": dh.Stream.poisson(0.001, 2),
    "workload": dh.Workload("gradient", 10.0), "search": dh.Search(("uncoded",), (4,)), "jobs": 3, "seed": 1,
    "tasks": CLUSTER.tasks(SPEC), "loads": [3, 3], "critical": 4, "worker": CLUSTER[0], "specs": [SPEC],
    "service_mean": 2.0, "service_std": 1.0, "rate": 0.1, "iterations": 2, "mean": 1.0, "std": 1.0, "workers": CLUSTER,
    "pool": [dh.Worker(1.0, 1.0)], "prices": [1.0], "ratio": [2, 1], "values": [1.0, 2.0], "gamma": 1.0,
    "family": "gamma", "law": "gamma", "samples": [1.0, 2.0], "factor": 2.0, "enter": 0.1, "leave": 0.2,
    "schemes": [dh.Scheme("even", dh.uniform(CLUSTER, SPEC))],
}  # fmt: skip
ELSEWHERE = {  # their own tests try them: codes, jobs, runs, engines and schedules
    "Job", "Pool", "run", "measure", "Converged", "Trace", "Scenario", "Scheme", "Search", "Split",
}  # fmt: skip


def names() -> dict[str, Callable[..., Any]]:
    """The public functions and classes of planning, theory, laws and simulation, by their names."""
    found: dict[str, Callable[..., Any]] = {}
    for space in (dh, dh.theory, dh.policies, dh.laws):
        for name in getattr(space, "__all__", dir(space)):
            thing = getattr(space, name)
            if name.startswith("_") or isinstance(thing, ModuleType) or not callable(thing) or name in ELSEWHERE:
                continue
            ours = getattr(thing, "__module__", "").startswith("deadheat")
            if ours and not inspect.isabstract(thing) and not _is_error(thing):
                found[name] = thing
    return found


def _is_error(thing: object) -> bool:
    return isinstance(thing, type) and issubclass(thing, Exception)


def fault(function: Callable[..., Any], arguments: dict[str, Any]) -> str:
    """Call it: what is wrong with the way it refuses, an empty text where that is well said or it answers."""
    try:
        function(**arguments)
    except dh.DeadheatError as error:
        return str(error) if "\n" in str(error) else ""
    except Exception as error:
        named = isinstance(error, TypeError) and any(argument in str(error) for argument in arguments)
        return "" if named else f"{arguments}: {error!r}"
    return ""


@pytest.mark.parametrize("name", names())
def test_wrong_arguments_are_named(name: str) -> None:
    function = names()[name]
    kinds = inspect.Parameter
    parameters = [p for p in inspect.signature(function).parameters.values() if p.kind is kinds.POSITIONAL_OR_KEYWORD]
    needed = [p.name for p in parameters if p.default is kinds.empty]
    for wrong in WRONG:
        assert fault(function, dict.fromkeys(needed, wrong)) == ""
        for place in needed:
            known = {argument: GOOD[argument] for argument in needed if argument != place and argument in GOOD}
            if len(known) == len(needed) - 1:
                assert fault(function, {**known, place: wrong}) == ""


def test_most_names_are_tried_one_argument_at_a_time() -> None:
    """A new name whose arguments have no good value here would be tried less well."""
    assert {"forecast", "simulate", "tune", "choose", "recruit", "draw", "Worker", "fit"} <= set(names())


@checked
def shape(cluster: dh.Cluster, weight: float, label: str | None = None, *, each: list[int] | None = None) -> str:
    return f"{len(cluster)} {weight} {label} {each}"


def test_arguments_are_checked_by_their_annotations() -> None:
    assert shape(CLUSTER, 1) == "2 1 None None"
    assert shape(CLUSTER, weight=2.5, label="x", each=[1]) == "2 2.5 x [1]"
    with pytest.raises(dh.BadInput, match="cluster = 3: not a Cluster; give a Cluster"):
        shape(3, 1.0)  # type: ignore[arg-type]
    with pytest.raises(dh.BadInput, match="weight = 'x': not a number"):
        shape(CLUSTER, "x")  # type: ignore[arg-type]
    with pytest.raises(dh.BadInput, match="weight = True: not a number"):
        shape(CLUSTER, weight=True)
    with pytest.raises(dh.BadInput, match="label = 3: not a text"):
        shape(CLUSTER, 1.0, 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="weight"):
        shape(CLUSTER)  # type: ignore[call-arg]
