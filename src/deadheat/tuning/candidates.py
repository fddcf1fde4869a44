"""What a tuner tries: shapes of codes x policies of splits x schedules, with what each costs on this workload."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from deadheat.coding import FAMILIES, Family, Shape, family
from deadheat.errors import BadInput, nearest
from deadheat.model import Cluster, CodeSpec, Overhead, Search, Stream, Workload
from deadheat.planning.policies import POLICIES
from deadheat.simulation import SCHEDULES


@dataclass(frozen=True, eq=False)
class Candidate:
    """One way to run the workload. spec: its tasks. overhead: what an iteration costs at the master."""

    shape: Shape
    spec: CodeSpec
    overhead: Overhead
    policy: str
    schedule: str


def candidates(workload: Workload, stream: Stream, search: Search) -> Iterator[Candidate]:
    """All that the search allows, each once. Raises BadInput for names that do not exist.

    Codes that only come near the result are tried where they are named, and a code without a task to spare is none.
    """
    families = _families(workload.kind, search.families)
    _known("search.policies", "policy", search.policies, POLICIES)
    _known("search.schedules", "schedule", search.schedules, SCHEDULES)
    seen = set()
    named = search.families is not None
    for critical in search.critical:
        for total in sorted({round(critical * omega) for omega in search.redundancy}):
            for one in families:
                for shape in one.shapes(workload.kind, critical, total):
                    key = (shape.family, shape.critical, shape.total, tuple(sorted(shape.settings.items())))
                    spare = shape.total > shape.critical or one.name == "uncoded"
                    if key not in seen and spare and (shape.exact or named):
                        seen.add(key)
                        yield from _ways(shape, workload, stream, search)


def at_hand(cluster: Cluster, workload: Workload) -> Cluster:
    """The cluster with the time that the state takes to each worker as a part of its c_p."""
    extra = workload.state / workload.bandwidth
    return cluster.farther(extra) if extra else cluster


def _known(field: str, what: str, names: Iterable[object], known: Collection[str]) -> None:
    for name in names:
        if not isinstance(name, str) or name not in known:
            raise BadInput(field, name, f"no such {what}", nearest(str(name), known))


def _families(kind: str, names: tuple[str, ...] | None) -> list[Family]:
    if names is None:
        return [one for one in FAMILIES.values() if kind in one.kinds]
    found = []
    for name in names:
        try:
            one = family(name)
        except BadInput as error:
            raise BadInput("search.families", name, error.problem, error.remedy) from None
        if kind not in one.kinds:
            fits = ", ".join(other.name for other in FAMILIES.values() if kind in other.kinds)
            raise BadInput("search.families", name, f"not for {kind} work", f"take some of: {fits}")
        found.append(one)
    return found


def seconds_per_task(workload: Workload, result: float, mix: float) -> float:
    """The seconds that a result costs its worker besides the work: it is mixed, and sent.

    result: its size, as a part of the plain one's. mix: multiply-adds per number of the plain one.
    """
    return workload.per_result + workload.result * (result / workload.bandwidth + mix / workload.speed)


def _ways(shape: Shape, workload: Workload, stream: Stream, search: Search) -> Iterator[Candidate]:
    """The shape under each policy and schedule that makes sense for it."""
    cost = shape.cost
    each = seconds_per_task(workload, cost.result, cost.mix)
    spec = CodeSpec.of(shape.critical, shape.total, cost.work * workload.work, cost.shared_chunks, each)
    overhead = Overhead(
        cost.encode * workload.data / workload.speed / stream.iterations,  # once for all iterations of a job
        cost.decode * workload.result / workload.speed,
        workload.update,
    )
    for schedule in dict.fromkeys(search.schedules):
        if schedule != "static" and (cost.shared_chunks or not shape.any_critical):
            continue  # shared chunks and coverage need the tasks to be where they were planned
        if schedule == "top-up" and shape.critical == shape.total:
            continue  # there is no spare task
        # `fastest` minimises the time of the K-th result of a static split.
        exact = shape.any_critical and schedule == "static"
        fits = [name for name in dict.fromkeys(search.policies) if exact or name != "fastest"] or ["optimal"]
        for name in fits[:1] if schedule in ("pull", "speculative") else fits:  # there the split plays no part
            yield Candidate(shape, spec, overhead, name, schedule)
