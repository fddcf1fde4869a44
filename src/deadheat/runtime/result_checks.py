"""Checks of results: a worker that returns wrong numbers is found, named, and its results are replaced.

Four ways, each as far as a job and its code allow it. A product verifies its own results, without redundancy. Copies of
a task that two workers computed must agree. Results beyond the K that a linear code needs must fit together (parity).
And a result that moves unlike the others from one iteration to the next is checked rather than believed.

Numbers count as equal up to what rounding may do in their precision. Near convergence a sum of large terms is small,
and its terms' rounding is not: the largest number that the job has seen counts too. Workers that lie together are not
found.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np

from deadheat.coding import Code
from deadheat.model import AnyArray, Array
from deadheat.scheduling import Program

TOLERANCES = {2: 1e-2, 4: 1e-4, 8: 2e-12}  # by the bytes of a real number: far above rounding, far below harm
CANCELLED = 0.01  # part of the largest number so far that counts as the size of terms that may have cancelled
SURPRISE = 20.0  # times the usual change of a result from which on it is doubted (tests/soak/wrong_results.py)
OWN_SURPRISE = 3.0  # times the largest change of its own that turned out to be right
SMALL = 1024  # numbers of a result up to which it is compared with the iteration before
FEWEST = 3  # results whose changes tell what is usual
LOCATED = 1e-9  # of the largest number: what is left of a misfit when one result explains it
CONFIRMED = 7  # equal results of at least two workers that convict a third: by chance coarse random numbers agree too
STEADY = 3  # times that a worker must have computed a task, for what it insists on
MOST_TRIES = 24  # results of one task after which it is hopeless to find out
CREDIT = 3.0  # doubts that need not be saved up for
Entry = tuple[int, AnyArray]  # a worker, and the numbers that it returned


@dataclass(frozen=True)
class Verdict:
    """What a look at an iteration's results has shown.

    wrong: workers with a wrong result. doubted: tasks that somebody else shall compute too. more: wait for one more
    result, which tells more. undecided: why nobody can tell what is right. verified: tasks that two workers agree on,
    or that were proved right. settled: tasks that need not be computed again.
    passed, failed: how many results of each worker were checked and found right or wrong.
    """

    wrong: frozenset[int] = frozenset()
    doubted: frozenset[int] = frozenset()
    more: bool = False
    undecided: str = ""
    verified: frozenset[int] = frozenset()
    settled: frozenset[int] = frozenset()
    passed: Counter[int] = field(default_factory=Counter)
    failed: Counter[int] = field(default_factory=Counter)


@dataclass
class CheckTally:
    """What checks have shown in a run, by worker, and what they cost.

    work, twice: seconds of all tasks, and of those that were not needed: copies, and results beyond the K of a parity.
    at_master: seconds that looking took. unchecked: in how many delivered jobs there are results of each worker that
    nobody checked.
    """

    passed: Counter[int] = field(default_factory=Counter)
    failed: Counter[int] = field(default_factory=Counter)
    unchecked: Counter[int] = field(default_factory=Counter)
    work: float = 0.0
    twice: float = 0.0
    at_master: float = 0.0
    _results: int = 0

    def count(self, seconds: float, copy: bool) -> None:
        """Count the work of a result."""
        self.work += seconds
        self.twice += seconds if copy else 0.0
        self._results += 1

    def count_spare(self, results: int) -> None:
        """Count results that decoding did not need, at the mean time of a result."""
        self.twice += results * self.work / max(self._results, 1)

    def cost(self, iterations: int) -> tuple[float, float]:
        """The part of the work that was done twice, and the seconds an iteration that looking took."""
        return self.twice / self.work if self.work else 0.0, self.at_master / max(iterations, 1)

    def add(self, verdict: Verdict, seconds: float) -> None:
        """Count what a look at an iteration has shown; a look that asks for more is counted when it is answered."""
        self.at_master += seconds
        if not (verdict.doubted or verdict.more or verdict.undecided):
            self.passed.update(verdict.passed)
            self.failed.update(verdict.failed)


class ResultChecks:
    """The checks of one job. off: why they were given up, where the job's results differ from run to run."""

    def __init__(self, program: Program, rate: float) -> None:
        self.off = "" if program.repeatable else "its results differ from run to run"
        self.rate = rate
        self._program, self._credit = program, CREDIT
        self._shares_parts = type(program.code).part is not Code.part
        self._scale = 0.0  # the largest number that was compared
        self._before: tuple[dict[int, int], AnyArray] = {}, np.empty((0, 0))  # small results: row by part, and rows
        self._usual: dict[int, float] = {}  # of a part, the largest change that was right, in usual changes

    @property
    def by_parity(self) -> bool:
        """Whether one result more than the code needs tells if all of them fit together."""
        code = self._program.code
        parity = None if self._program.verifies or self.off else code.parity(range(code.total))
        return parity is not None and len(parity) > 0

    def judge(self, results: Mapping[int, Sequence[tuple[int, Any]]], state: Any) -> Verdict:
        """Look at the results of an iteration, of each task by worker. state: what the workers saw of the state."""
        if self.off:
            return Verdict()
        with np.errstate(over="ignore", invalid="ignore"):  # a wrong number may be of any size
            return self._judged(results, state)

    def _judged(self, results: Mapping[int, Sequence[tuple[int, Any]]], state: Any) -> Verdict:
        if self._program.verifies:
            return self._verified(results, state)
        verdict = Verdict()
        if self._has_copies(results):
            verdict = self._compared(self._entries(results))
            if verdict.wrong or verdict.doubted or verdict.undecided:
                return verdict
        parity = self._program.code.parity(results) if len(results) > self._program.code.critical else None
        if parity is not None and len(parity):
            entries = self._entries(results)
            verdict = self._fitting(entries, parity, verdict) if len(entries) == len(results) else verdict
        if verdict.doubted or verdict.more or verdict.undecided:
            return verdict
        return self._unsurprising(results, verdict)

    def _has_copies(self, results: Mapping[int, Sequence[tuple[int, Any]]]) -> bool:
        """Whether any work was done twice."""
        if any(len(values) > 1 for values in results.values()):
            return True
        return self._shares_parts and len({self._program.code.part(task) for task in results}) < len(results)

    def _entries(self, results: Mapping[int, Sequence[tuple[int, Any]]]) -> dict[int, list[Entry]]:
        """The numbers of all results; what is not finite is left out, since it is not used either."""
        entries = {
            task: [
                (worker, self._program.numbers_of(value)) for worker, value in values if usable(self._program, value)
            ]
            for task, values in results.items()
        }
        return {task: each for task, each in entries.items() if each}

    def _verified(self, results: Mapping[int, Sequence[tuple[int, Any]]], state: Any) -> Verdict:
        """What the program itself can tell of each result."""
        right, wrong, tasks = Counter[int](), Counter[int](), set()
        for task, values in results.items():
            for worker, value in values:
                if not usable(self._program, value):
                    continue  # it is not used; and it may be right: products overflow
                good = self._program.verify(task, value, state)
                (right if good else wrong)[worker] += 1
                if good:
                    tasks.add(task)
        return Verdict(frozenset(wrong), verified=frozenset(tasks), passed=right, failed=wrong)

    def _compared(self, entries: Mapping[int, Sequence[Entry]]) -> Verdict:
        """What copies of the same work tell about each other."""
        part = self._program.code.part
        copies: dict[int, list[Entry]] = {}
        for task, each in entries.items():
            copies.setdefault(part(task), []).extend(each)
        passed, failed, verified, settled = Counter[int](), Counter[int](), set[int](), set[int]()
        doubted = set[int]()
        for number, values in copies.items():
            if len(values) < 2:
                continue
            tasks = [task for task in entries if part(task) == number]
            groups = self._groups(values)
            ruling = _ruling([[worker for worker, _ in group] for group in groups])
            if ruling is Ruling.ASK:
                doubted.add(tasks[0])
            elif ruling is Ruling.RANDOM:
                self.off = f"task {tasks[0]} gives other results from time to time, on several workers"
                return Verdict()
            elif ruling is Ruling.DEADLOCK:
                workers = sorted({worker for worker, _ in values})
                why = f"workers {workers} give different results for task {tasks[0]}, each again and again"
                return Verdict(undecided=why)
            else:
                right = {worker for worker, _ in groups[ruling]}
                wrong = [worker for group in groups if group is not groups[ruling] for worker, _ in group]
                settled.update(tasks)
                failed.update(wrong)
                if len(right) > 1 or wrong:
                    passed.update(worker for worker, _ in groups[ruling])
                    verified.update(tasks)
        return Verdict(
            frozenset(failed), frozenset(doubted), verified=frozenset(verified), settled=frozenset(settled),
            passed=passed, failed=failed,
        )  # fmt: skip

    def _fitting(self, entries: Mapping[int, Sequence[Entry]], parity: AnyArray, verdict: Verdict) -> Verdict:
        """Whether the results of a linear code fit together; else which one does not, as far as that can be told.

        It verifies no task: a chunk that only one worker computed is wrong in all of its tasks alike, and they fit.
        """
        code, tasks = self._program.code, sorted(entries)
        values = [entries[task][0][1] for task in tasks]
        mixed = np.cos(np.arange(1.0, len(parity) + 1))  # any weights that are not zero: one pass tells
        weights = mixed @ parity / np.linalg.norm(mixed)
        gap = np.abs(_combined(weights, values))
        limit = self._limit(values) * np.sqrt(len(values))
        if not gap.max(initial=0.0) > limit:
            workers = Counter(worker for task in tasks for worker, _ in entries[task])
            return replace(verdict, passed=verdict.passed | workers)
        if len(parity) < 2 and len(tasks) < code.total:
            return Verdict(more=True)
        place = int(np.argmax(gap))  # where it shows most
        column = np.array([value.flat[place] for value in values])
        size = float(np.abs(column).max())
        syndrome = parity @ (column / size)
        directions = parity / np.maximum(np.linalg.norm(parity, axis=0), 1e-300)
        parts = directions.conj().T @ syndrome
        missed = np.linalg.norm(syndrome[:, None] - directions * parts, axis=0)
        suspects = {task for task, miss in zip(tasks, missed, strict=True) if miss <= max(10 * limit / size, LOCATED)}
        open_ = [task for task in tasks if task not in verdict.settled]
        doubted = frozenset(suspects & set(open_)) or frozenset(open_)
        if not doubted:
            return Verdict(undecided="the results do not fit together, though each was computed twice")
        return Verdict(doubted=doubted)

    def _unsurprising(self, results: Mapping[int, Sequence[tuple[int, Any]]], verdict: Verdict) -> Verdict:
        """Whether small results have moved as the others did since the iteration before; else they are doubted."""
        tasks, part = list(results), self._program.code.part
        numbers = [self._program.numbers_of(values[0][1]) for values in results.values()]
        if not self.rate or numbers[0].size > SMALL or len({value.shape for value in numbers}) > 1:
            return verdict
        now = np.array(numbers).reshape(len(tasks), -1)  # a copy: a worker may reuse its memory
        places = {part(task): row for row, task in enumerate(tasks)}
        (before_places, before), self._before = self._before, (places, now)
        self._credit = min(self._credit + self.rate * len(tasks), CREDIT)
        parts = [number for number in places if number in before_places]
        if len(parts) < FEWEST or before.shape[1:] != now.shape[1:]:
            return verdict
        rows = [places[number] for number in parts]
        moved = np.abs(now[rows] - before[[before_places[number] for number in parts]]).max(axis=1, initial=0.0)
        usual = max(float(np.median(moved)), self._limit(now))
        odd = []
        for place in np.flatnonzero(moved > SURPRISE * usual).tolist():
            task, number, times = tasks[rows[place]], parts[place], float(moved[place]) / max(usual, 1e-300)
            if task in verdict.settled:
                self._usual[number] = max(self._usual.get(number, 0.0), times)
            elif times > OWN_SURPRISE * self._usual.get(number, 0.0):
                odd.append((times, task))
        odd = sorted(odd, reverse=True)[: int(self._credit)]
        if not odd:
            return verdict
        self._credit -= len(odd)
        self._before = before_places, before  # look again when the answers are here
        return Verdict(doubted=frozenset(task for _, task in odd))

    def _groups(self, values: Sequence[Entry]) -> list[list[Entry]]:
        """The results in groups of those that agree."""
        limit = self._limit([numbers for _, numbers in values])
        groups: list[list[Entry]] = []
        for worker, numbers in values:
            for group in groups:
                other = group[0][1]
                if other.shape == numbers.shape and not np.abs(other - numbers).max(initial=0.0) > limit:
                    group.append((worker, numbers))
                    break
            else:
                groups.append([(worker, numbers)])
        return groups

    def _limit(self, values: Sequence[AnyArray] | AnyArray) -> float:
        """How far numbers may differ that should be equal. The middle one tells their size: one may be wrong."""
        table = isinstance(values, np.ndarray)
        sizes = np.abs(values).max(axis=1, initial=0.0) if table else [np.abs(v).max(initial=0.0) for v in values]
        middle = float(np.sort(sizes)[(len(sizes) - 1) // 2])
        middle = middle if np.isfinite(middle) else 0.0
        self._scale = max(self._scale, middle)
        kinds = {values.dtype} if isinstance(values, np.ndarray) else {value.dtype for value in values}
        return max(map(_tolerance, kinds)) * max(middle, CANCELLED * self._scale)


def _tolerance(dtype: np.dtype[Any]) -> float:
    """What rounding may do to numbers of a type, as a part of them."""
    bytes_of_one = np.finfo(dtype).dtype.itemsize if dtype.kind in "fc" else 8
    return TOLERANCES.get(bytes_of_one, TOLERANCES[8])


def usable(program: Program, value: Any) -> bool:
    """Whether a result is finite numbers."""
    try:
        numbers = program.numbers_of(value)
    except ValueError:  # a ragged list
        return False
    return numbers.dtype.kind in "iubfc" and bool(np.isfinite(numbers).all())


class Ruling(Enum):
    """What follows where results of the same work differ, and none of them is known to be right."""

    ASK = "let another worker compute it, or the same ones again"
    DEADLOCK = "workers insist on different results, and there is nobody else"
    RANDOM = "the work gives other results from time to time"


def _ruling(groups: Sequence[Sequence[int]]) -> Ruling | int:
    """Which group of equal results is right, by its number. groups: the workers that returned each, one by one.

    A group is right that two workers are in, again and again, who were never in another. A worker in two groups cannot
    be trusted; if there are several of these it is not the workers that vary.
    """
    if len(groups) == 1:
        return 0
    tries = Counter(worker for group in groups for worker in group)
    unsteady = [worker for worker in tries if sum(worker in group for group in groups) > 1]
    agreed = [number for number, group in enumerate(groups) if len(set(group)) > 1]
    if (len(unsteady) > 1 and len(tries) > 1) or tries.total() > MOST_TRIES:
        return Ruling.RANDOM
    if len(agreed) == 1:
        return agreed[0] if len(groups[agreed[0]]) >= CONFIRMED else Ruling.ASK
    if min(tries.values()) < STEADY or (agreed and unsteady):
        return Ruling.ASK
    if not unsteady:
        return Ruling.DEADLOCK
    repeated = [number for number, group in enumerate(groups) if len(group) >= STEADY]
    return repeated[0] if len(repeated) == 1 else Ruling.RANDOM


def _combined(weights: Array, values: Sequence[AnyArray]) -> AnyArray:
    """The weighted sum, in double precision."""
    total: AnyArray = np.zeros(values[0].size, np.result_type(float, weights, *{value.dtype for value in values}))
    for weight, value in zip(weights, values, strict=True):
        total += weight * np.ravel(value)
    return total
