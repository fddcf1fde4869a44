"""What a tuner tries: shapes of codes x policies of splits x schedules, with what each costs on this workload."""

from collections.abc import Iterator
from dataclasses import dataclass

from deadheat.coding import FAMILIES, Family, Shape
from deadheat.errors import BadInput
from deadheat.model import Cluster, CodeSpec, Overhead, Search, Stream, Workload
from deadheat.planning import POLICIES
from deadheat.scheduling import SCHEDULES


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
    for name in search.policies:
        POLICIES.find(name, "search.policies")
    for name in search.schedules:
        SCHEDULES.find(name, "search.schedules")
    seen = set()
    for critical in search.critical:
        for total in sorted({round(critical * omega) for omega in search.redundancy}):
            for family in families:
                for shape in family.shapes(workload.kind, critical, total):
                    key = (shape.family, shape.critical, shape.total, tuple(sorted(shape.settings.items())))
                    spare = shape.total > shape.critical or family.name == "uncoded"
                    if key not in seen and spare and (shape.exact or search.families is not None):
                        seen.add(key)
                        yield from _candidates(shape, workload, stream, search)


def with_state_transfer(cluster: Cluster, workload: Workload) -> Cluster:
    """The cluster with the transfer time of the state to each worker as a part of its comm."""
    extra = workload.state / workload.bandwidth
    return cluster.with_extra_comm(extra) if extra else cluster


def _families(kind: str, names: tuple[str, ...] | None) -> list[Family]:
    fitting = [family for family in FAMILIES.values() if kind in family.kinds]
    if names is None:
        return fitting
    families = [FAMILIES.find(name, "search.families") for name in names]
    for family in families:
        if kind not in family.kinds:
            remedy = f"take some of: {', '.join(other.name for other in fitting)}"
            raise BadInput("search.families", family.name, f"not for {kind} work", remedy)
    return families


def seconds_per_task(workload: Workload, result: float, mix: float) -> float:
    """The seconds that a result costs its worker besides the work: it is mixed, and sent.

    result: its size, as a part of the plain one's. mix: multiply-adds per number of the plain one.
    """
    return workload.per_result + workload.result * (result / workload.bandwidth + mix / workload.speed)


def _candidates(shape: Shape, workload: Workload, stream: Stream, search: Search) -> Iterator[Candidate]:
    """The shape under each policy and schedule that makes sense for it."""
    cost = shape.cost
    spec = CodeSpec.of(
        shape.critical, shape.total, work=cost.work * workload.work, shared_chunks=cost.shared_chunks,
        seconds_per_task=seconds_per_task(workload, cost.result, cost.mix),
    )  # fmt: skip
    overhead = Overhead(
        cost.encode * workload.data / workload.speed / stream.iterations,  # once for all iterations of a job
        cost.decode * workload.result / workload.speed,
        workload.update,
    )
    for schedule in dict.fromkeys(search.schedules):
        rule = SCHEDULES[schedule]
        if not rule.keeps_split and (cost.shared_chunks or not shape.any_critical):
            continue  # shared chunks and coverage need the tasks to be where they were planned
        # `fastest` minimises the time of the K-th result of a static split.
        exact = shape.any_critical and rule.keeps_split
        fits = [name for name in dict.fromkeys(search.policies) if exact or name != "fastest"] or ["optimal"]
        for name in fits if rule.uses_split else fits[:1]:
            yield Candidate(shape, spec, overhead, name, schedule)
