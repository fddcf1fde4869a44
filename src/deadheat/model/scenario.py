"""A scenario: cluster, code, stream and split as one file describes them; every key is checked."""

from collections.abc import Collection, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Self, TypeVar

from deadheat.errors import BadInput, finite, nearest, whole
from deadheat.model.cluster import Cluster
from deadheat.model.code_spec import CodeSpec
from deadheat.model.engine_spec import EngineSpec
from deadheat.model.laws import Empirical, Law, Mixture
from deadheat.model.overhead import NONE, Overhead
from deadheat.model.stream import Stream
from deadheat.model.switching import Switching
from deadheat.model.worker import Worker
from deadheat.model.workload import Search, Workload

Table = Mapping[str, Any]
Noun = TypeVar("Noun", Overhead, Switching, Workload, Search, CodeSpec, EngineSpec)
EVERYTHING = Search()
HERE = EngineSpec()
TABLES = (
    "stream", "code", "split", "overhead", "condition", "workload", "search", "engine", "job", "workers", "spares",
)  # fmt: skip


@dataclass(frozen=True)
class Scenario:
    """What a scenario file says; `code` may be missing where there is a workload to find one for.

    job: the table [job] as it is: `deadheat.jobs` knows the kinds. family: of the code, for real runs.
    """

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
    job: Mapping[str, Any] = field(default_factory=dict)
    family: str = ""

    @property
    def spec(self) -> CodeSpec:
        """The code's parameters. Raises BadInput where the file has none."""
        if self.code is None:
            raise BadInput("code", None, "missing", "add a table [code], or use `deadheat tune` to find one")
        return self.code

    @classmethod
    def from_dict(cls, content: Table) -> Self:
        """The scenario in a parsed TOML file. Raises BadInput that names the field, the value and the remedy."""
        _check_keys("", content, TABLES)
        stream, jobs = _stream(_table(content, "stream"))
        split = _table(content, "split", required=False)
        _check_keys("split.", split, ("policy", "gamma", "ratio"))
        workers = [_worker(f"workers[{i}]", w) for i, w in enumerate(_tables(content, "workers"), 1)]
        spares = [_spare(f"spares[{i}]", w) for i, w in enumerate(_tables(content, "spares", required=False), 1)]
        cluster = Cluster(workers)
        Cluster([*workers, *(worker for worker, _ in spares)])  # their names must differ too
        gamma = finite("split.gamma", split.get("gamma", 1.0), "give a weight in 1/second, such as 1.0", least=0.0)
        ratio = split.get("ratio")
        if ratio is not None and not isinstance(ratio, list):
            raise BadInput("split.ratio", ratio, "not a list", "write one number per worker, such as [3, 2, 1]")
        code = dict(_table(content, "code", required="workload" not in content))
        family = code.pop("family", "")
        if not isinstance(family, str):
            raise BadInput("code.family", family, "not a text", 'write family = "cyclic"; see `deadheat codes`')
        return cls(
            cluster=cluster,
            code=_code(code) if "code" in content else None,
            stream=stream,
            jobs=jobs,
            policy=split.get("policy", "optimal"),
            gamma=gamma,
            ratio=None if ratio is None else tuple(ratio),
            spares=tuple(worker for worker, _ in spares),
            prices=tuple(price for _, price in spares),
            overhead=_from_table(Overhead, "overhead", _table(content, "overhead", required=False)),
            condition=_condition(_table(content, "condition")) if "condition" in content else None,
            workload=_from_table(Workload, "workload", _table(content, "workload")) if "workload" in content else None,
            search=_from_table(Search, "search", _table(content, "search", required=False)),
            engine=_from_table(EngineSpec, "engine", _table(content, "engine", required=False)),
            job=_table(content, "job", required=False),
            family=family,
        )


def _stream(table: Table) -> tuple[Stream, int]:
    _check_keys("stream.", table, ("rate", "interarrival", "iterations", "jobs"))
    iterations = _required(table, "stream", "iterations", "give the iterations of one job, such as 50")
    jobs = whole("stream.jobs", table.get("jobs", 1000), "give the number of jobs")
    if ("rate" in table) == ("interarrival" in table):
        problem = "both are given" if "rate" in table else "neither is given"
        remedy = "write rate = 0.01 for Poisson arrivals, or interarrival = {mean = 100, std = 100}"
        raise BadInput("stream.rate or stream.interarrival", table.get("rate"), problem, remedy)
    try:
        if "rate" in table:
            return Stream.poisson(table["rate"], iterations), jobs
        gap = table["interarrival"]
        if not isinstance(gap, Mapping):
            raise BadInput("interarrival", gap, "not a table", "write interarrival = {mean = 100, std = 100}")
        _check_keys("stream.interarrival.", gap, ("mean", "std"))
        remedy = "give seconds between arrivals"
        mean, std = (_required(gap, "stream.interarrival", key, remedy) for key in ("mean", "std"))
        return Stream(mean, std, iterations), jobs
    except BadInput as error:
        if error.field.startswith("stream."):
            raise
        place = error.field.replace("interarrival_", "interarrival.")  # as the file writes it
        raise BadInput(f"stream.{place}", error.value, error.problem, error.remedy) from None


def _condition(table: Table) -> Switching:
    """Slow iterations: {factor = 10, enter = 0.2}, and leave = 1 - enter where it is not given."""
    for key, remedy in (("factor", "say how many times slower"), ("enter", "give a probability per iteration")):
        _required(table, "condition", key, remedy)
    enter = finite("condition.enter", table["enter"], "give a probability per iteration", least=0.0)
    return _from_table(Switching, "condition", {"leave": max(1 - enter, 0.0)} | dict(table))


def _from_table(noun: type[Noun], place: str, table: Table) -> Noun:
    """A noun from a table whose keys are its fields."""
    _check_keys(f"{place}.", table, [column.name for column in fields(noun)])
    for column in fields(noun):
        if column.default is MISSING:
            _required(table, place, column.name, "give it")
    try:
        return noun(**table)
    except BadInput as error:
        raise error.within(place) from None


def _code(table: Table) -> CodeSpec:
    _required(table, "code", "critical", "give the number of results that suffice (K)")
    return _from_table(CodeSpec, "code", table)


def _worker(place: str, table: Table) -> Worker:
    _check_keys(f"{place}.", table, ("name", "mean", "std", "comm", "law", "capacity"))
    rest = {key: table[key] for key in ("comm", "name", "capacity") if key in table}
    try:
        law = table.get("law", "gamma")
        if isinstance(law, Mapping) and law.get("family") == "empirical":
            _check_keys("law.", law, ("family", "samples"))
            if set(table) & {"mean", "std"}:
                key = "mean" if "mean" in table else "std"
                raise BadInput(key, table[key], "the samples of the law tell it", "remove it")
            return Worker.of(Empirical(_required(law, "law", "samples", "list measured times in seconds")), **rest)
        remedy = "give seconds per unit of work"
        mean, std = (_required(table, place, key, remedy) for key in ("mean", "std"))
        if isinstance(law, Mapping):
            plain = Worker(mean, std)  # checks the two moments first
            return Worker(mean, std, law=_law(law, plain.mean, plain.std), **rest)
        if not isinstance(law, str):
            raise BadInput("law", law, "neither a name nor a table", 'write law = "gamma"')
        return Worker(mean, std, law=law, **rest)
    except BadInput as error:
        raise error if error.field.startswith(place) else error.within(place) from None


def _law(table: Table, mean: float, std: float) -> Law:
    """A law with parameters of its own: {family = "mixture", slowdown = 10, probability = 0.1}."""
    family = _required(table, "law", "family", 'write family = "mixture" or family = "empirical"')
    if family != "mixture":
        remedy = 'families without parameters are written as law = "gamma"'
        raise BadInput("law.family", family, "takes no table", remedy)
    _check_keys("law.", table, ("family", "slowdown", "probability"))
    return Mixture.from_moments(mean, std, table.get("slowdown", 10.0), table.get("probability", 0.1))


def _spare(place: str, table: Table) -> tuple[Worker, float]:
    price = finite(f"{place}.price", table.get("price", 1.0), "give a price from 0 on", least=0.0)
    return _worker(place, {key: value for key, value in table.items() if key != "price"}), price


def _table(content: Table, key: str, required: bool = True) -> Table:
    value = content.get(key, {})
    if not isinstance(value, Mapping):
        raise BadInput(key, value, "not a table", f"write [{key}] and its keys below it")
    if required and key not in content:
        raise BadInput(key, None, "missing", f"add a table [{key}]")
    return value


def _tables(content: Table, key: str, required: bool = True) -> list[Table]:
    value = content.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        raise BadInput(key, value, "not a list of tables", f"write [[{key}]] before each worker")
    if required and not value:
        raise BadInput(key, None, "missing", f"add at least one [[{key}]] table with mean and std")
    return value


def _required(table: Table, place: str, key: str, remedy: str) -> Any:
    if key not in table:
        raise BadInput(f"{place}.{key}", None, "missing", remedy)
    return table[key]


def _check_keys(place: str, table: Table, names: Collection[str]) -> None:
    for key in table:
        if key not in names:
            raise BadInput(f"{place}{key}", table[key], "unknown key", nearest(key, names))
