"""A scenario: cluster, code, stream and split as one file describes them; every key is checked."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import partial
from typing import Any, Self, TypeVar

from deadheat.errors import BadInput, finite, nearest
from deadheat.model.cluster import Cluster
from deadheat.model.code_spec import CodeSpec
from deadheat.model.engine_spec import EngineSpec
from deadheat.model.laws import Empirical, Mixture
from deadheat.model.overhead import NONE, Overhead
from deadheat.model.quantity import count, name, quantity
from deadheat.model.stream import Stream
from deadheat.model.switching import Switching
from deadheat.model.worker import Worker
from deadheat.model.workload import Search, Workload

T = TypeVar("T")
Noun = TypeVar("Noun", Overhead, Switching, Workload, Search, CodeSpec, EngineSpec)
Table = Mapping[str, Any]
EVERYTHING = Search()
HERE = EngineSpec()
REMEDIES = {
    "critical": "give the number of results that suffice (K)", "factor": "say how many times slower",
    "enter": "give a probability per iteration",
}  # fmt: skip


@dataclass(frozen=True)
class Scenario:
    """What a scenario file says; `code` may be missing where there is a workload, `job` is the table [job] as it is."""

    cluster: Cluster
    code: CodeSpec | None
    stream: Stream
    jobs: int = 1000
    policy: str = "optimal"
    gamma: float = 1.0
    ratio: tuple[float, ...] | None = None
    spares: tuple[Worker, ...] = ()
    prices: tuple[float, ...] = ()
    overhead: Overhead = NONE
    condition: Switching | None = None
    workload: Workload | None = None
    search: Search = EVERYTHING
    engine: EngineSpec = HERE
    job: Table = field(default_factory=dict)
    family: str = ""

    @property
    def spec(self) -> CodeSpec:
        if self.code is None:
            raise BadInput("code", None, "missing", "add a table [code], or use `deadheat tune` to find one")
        return self.code

    @classmethod
    def from_dict(cls, content: Table) -> Self:
        """The scenario in a parsed TOML file. Raises BadInput that names the field, the value and the remedy."""
        names = ("stream", "split", "code", "workers", "spares", *OPTIONAL)
        needed = {"stream": "add a table [stream]", "workers": "add at least one [[workers]] table with mean and std"}
        _check_keys(content, names, needed if "workload" in content else needed | {"code": "add a table [code]"})
        stream, jobs = _read(content, "stream", _stream)
        policy, gamma, ratio = _read(content, "split", _split)
        code, family = _read(content, "code", _code) if "code" in content else (None, "")
        workers, spares = _each(content, "workers", _worker), _each(content, "spares", _spare)
        cluster = Cluster(workers)
        Cluster([*workers, *(worker for worker, _ in spares)])  # their names must differ too
        return cls(
            cluster=cluster, code=code, stream=stream, jobs=jobs, policy=policy, gamma=gamma, ratio=ratio,
            family=family, spares=tuple(worker for worker, _ in spares), prices=tuple(price for _, price in spares),
            **{key: _read(content, key, build) for key, build in OPTIONAL.items() if key in content},
        )  # fmt: skip


def _stream(table: Table) -> tuple[Stream, int]:
    required = {"iterations": "give the iterations of one job, such as 50"}
    _check_keys(table, ("rate", "interarrival", "iterations", "jobs"), required)
    jobs = count("jobs", table.get("jobs", 1000), "give the number of jobs")
    example = "interarrival = {mean = 100, std = 100}"
    if ("rate" in table) == ("interarrival" in table):
        problem = "both are given" if "rate" in table else "neither is given"
        remedy = f"write rate = 0.01 for Poisson arrivals, or {example}"
        raise BadInput("rate or stream.interarrival", table.get("rate"), problem, remedy)
    if "rate" in table:
        return Stream.poisson(table["rate"], table["iterations"]), jobs
    if not isinstance(table["interarrival"], Mapping):
        raise BadInput("interarrival", table["interarrival"], "not a table", f"write {example}")
    return Stream(*_read(table, "interarrival", _interarrival), table["iterations"]), jobs


def _interarrival(table: Table) -> tuple[float, float]:
    remedy = "give seconds between arrivals"
    _check_keys(table, ("mean", "std"), {"mean": remedy, "std": remedy})
    mean = quantity("mean", table["mean"], f"{remedy}, above 0", above=0.0)
    return mean, quantity("std", table["std"], f"{remedy}, 0 for a steady beat", least=0.0)


def _split(table: Table) -> tuple[Any, float, tuple[Any, ...] | None]:
    _check_keys(table, ("policy", "gamma", "ratio"))
    gamma = quantity("gamma", table.get("gamma", 1.0), "give a weight in 1/second, such as 1.0", least=0.0)
    ratio = table.get("ratio")
    if ratio is not None and not isinstance(ratio, list):
        raise BadInput("ratio", ratio, "not a list", "write one number per worker, such as [3, 2, 1]")
    return table.get("policy", "optimal"), gamma, None if ratio is None else tuple(ratio)


def _code(table: Table) -> tuple[CodeSpec, str]:
    spec = dict(table)
    family = spec.pop("family", "")
    return _noun(CodeSpec, spec), name("family", family, 'write family = "cyclic"; see `deadheat codes`')


def _condition(table: Table) -> Switching:
    """Slow iterations: {factor = 10, enter = 0.2}, and leave = 1 - enter where it is not given."""
    enter = finite("enter", table.get("enter", 0.0), REMEDIES["enter"], least=0.0)
    return _noun(Switching, {"leave": max(1 - enter, 0.0)} | dict(table))


def _noun(noun: type[Noun], table: Table) -> Noun:
    """A noun from a table whose keys are its fields."""
    required = {key.name: REMEDIES.get(key.name, "give it") for key in fields(noun) if key.default is MISSING}
    _check_keys(table, [key.name for key in fields(noun)], required)
    return noun(**table)


OPTIONAL: dict[str, Callable[[Table], Any]] = {
    "overhead": partial(_noun, Overhead), "condition": _condition, "workload": partial(_noun, Workload),
    "search": partial(_noun, Search), "engine": partial(_noun, EngineSpec), "job": dict,
}  # fmt: skip


def _spare(table: Table) -> tuple[Worker, float]:
    price = quantity("price", table.get("price", 1.0), "give a price from 0 on", least=0.0)
    return _worker({key: value for key, value in table.items() if key != "price"}), price


def _worker(table: Table) -> Worker:
    law = table.get("law", "gamma")
    measured = isinstance(law, Mapping) and law.get("family") == "empirical"
    required = {} if measured else dict.fromkeys(("mean", "std"), "give seconds per unit of work")
    _check_keys(table, ("name", "mean", "std", "comm", "law", "capacity"), required)
    rest = {key: table[key] for key in ("comm", "name", "capacity") if key in table}
    if measured:
        for key in ("mean", "std"):
            if key in table:
                raise BadInput(key, table[key], "the samples of the law tell it", "remove it")
        samples = {"samples": "list measured times in seconds"}
        _read(table, "law", lambda keys: _check_keys(keys, ("family", "samples"), samples))
        return Worker.of(Empirical(law["samples"]), **rest)
    if isinstance(law, Mapping):
        plain = Worker(table["mean"], table["std"])  # checks the two moments first
        law = Mixture.from_moments(plain.mean, plain.std, **_read(table, "law", _mixture))
    elif not isinstance(law, str):
        raise BadInput("law", law, "neither a name nor a table", 'write law = "gamma"')
    return Worker(table["mean"], table["std"], law=law, **rest)


def _mixture(table: Table) -> dict[str, Any]:
    """The parameters in {family = "mixture", slowdown = 10, probability = 0.1}."""
    if table.get("family", "mixture") != "mixture":
        remedy = 'families without parameters are written as law = "gamma"'
        raise BadInput("family", table["family"], "takes no table", remedy)
    required = {"family": 'write family = "mixture" or family = "empirical"'}
    _check_keys(table, ("family", "slowdown", "probability"), required)
    return {key: table[key] for key in table if key != "family"}


def _read(content: Table, key: str, build: Callable[[Table], T]) -> T:
    """What `build` makes of a table of the file, an empty one where there is none; its errors name the place."""
    table = content.get(key, {})
    if not isinstance(table, Mapping):
        raise BadInput(key, table, "not a table", f"write [{key}] and its keys below it")
    try:
        return build(table)
    except BadInput as error:
        raise error.within(key) from None


def _each(content: Table, key: str, build: Callable[[Table], T]) -> list[T]:
    """The same for a list of tables."""
    tables = content.get(key, [])
    if not isinstance(tables, list) or not all(isinstance(item, Mapping) for item in tables):
        raise BadInput(key, tables, "not a list of tables", f"write [[{key}]] before each worker")
    places = {f"{key}[{i}]": table for i, table in enumerate(tables, 1)}
    return [_read(places, place, build) for place in places]


def _check_keys(table: Table, names: Collection[str], required: Mapping[str, str] | None = None) -> None:
    """Refuse unknown keys; `required` has the remedies for those that must be there."""
    for key in table:
        if key not in names:
            raise BadInput(key, table[key], "unknown key", nearest(key, names))
    for key, remedy in (required or {}).items():
        if key not in table:
            raise BadInput(key, None, "missing", remedy)
