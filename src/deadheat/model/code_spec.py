"""The parameters of a code: how many results suffice, how many tasks are given out, how much work one is."""

from dataclasses import dataclass
from typing import Self

from deadheat.errors import BadInput, check_field, whole
from deadheat.model.quantity import quantity

MOST_TASKS = 10**12  # shares beyond it would lose the digits that rounding needs


@dataclass(frozen=True)
class CodeSpec:
    """K results resolve an iteration (critical); K*Omega tasks, a whole number, are given out (redundancy Omega >= 1).

    shared_chunks: tasks' worth of work that a worker does before its first result: the d - 1 chunks that neighbouring
    tasks of a gradient code share, where chunk results are kept (chunk reuse).
    work: C, the units of work of one task. seconds_per_task: what each costs besides, such as sending its result.
    """

    critical: int
    redundancy: float = 1.0
    work: float = 1.0
    shared_chunks: int = 0
    seconds_per_task: float = 0.0

    def __post_init__(self) -> None:
        check_field(self, whole, "critical", "give the number of results that suffice (K)")
        check_field(
            self, quantity, "redundancy", "give tasks per critical task (Omega), 1 for none to spare", least=1.0
        )
        check_field(self, quantity, "work", "give the units of work of a task (C), above 0", above=0.0)
        check_field(self, whole, "shared_chunks", "give the chunks that tasks share (d - 1)", least=0)
        check_field(self, quantity, "seconds_per_task", "give seconds per task, 0 for none", least=0.0)
        tasks = self.critical * self.redundancy
        if self.shared_chunks > MOST_TASKS:
            raise BadInput("shared_chunks", self.shared_chunks, f"more than {MOST_TASKS:g} tasks", "give d - 1")
        if tasks > MOST_TASKS:
            raise BadInput("critical", self.critical, f"more than {MOST_TASKS:g} tasks", "cut an iteration into fewer")
        if abs(tasks - round(tasks)) > 1e-9 * tasks:
            low, high = int(tasks), int(tasks) + 1
            problem = f"critical * redundancy = {tasks:.6g} is not a whole number of tasks"
            remedy = f"take {low / self.critical!r} ({low} tasks) or {high / self.critical!r} ({high} tasks)"
            raise BadInput("redundancy", self.redundancy, problem, remedy)

    @classmethod
    def of(
        cls, critical: int, total: int, work: float = 1.0, shared_chunks: int = 0, seconds_per_task: float = 0.0
    ) -> Self:
        needed = whole("critical", critical, "give the number of results that suffice (K)")
        redundancy = whole("total", total, "give the number of tasks") / needed
        return cls(needed, redundancy, work, shared_chunks=shared_chunks, seconds_per_task=seconds_per_task)

    @property
    def total(self) -> int:
        """n = K*Omega."""
        return round(self.critical * self.redundancy)
