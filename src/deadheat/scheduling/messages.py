"""What travels: events to the master, commands from it, and messages to workers. Values, nothing more.

A ticket says what a task belongs to: which job, which of its iterations, which attempt at it. A newer ticket is the
purge: a result with an older one is dropped, and a worker that sees a newer one stops.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from deadheat.coding import Code
from deadheat.model import CodeSpec


class Value:
    """A message that travels as its class and its fields: several times faster than what dataclasses do by default."""

    __slots__: tuple[str, ...] = ()

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), tuple(getattr(self, name) for name in self.__slots__)


class Ticket(NamedTuple):
    """Job, iteration and attempt. The iteration of a probe is -1, and its attempts are its rounds.

    Tickets are ordered as they are worked on: an attempt at a job begins with its first iteration again.
    """

    job: int
    iteration: int
    attempt: int = 0

    @property
    def next(self) -> "Ticket":
        """The first ticket behind this one."""
        return Ticket(self.job, self.iteration + 1, self.attempt)

    @property
    def turn(self) -> tuple[int, int, int]:
        return self.job, self.attempt, self.iteration

    def __lt__(self, other: "Ticket") -> bool:  # type: ignore[override]
        return self.turn < other.turn

    def __le__(self, other: "Ticket") -> bool:  # type: ignore[override]
        return self.turn <= other.turn

    def __gt__(self, other: "Ticket") -> bool:  # type: ignore[override]
        return self.turn > other.turn

    def __ge__(self, other: "Ticket") -> bool:  # type: ignore[override]
        return self.turn >= other.turn


# Events: what the master hears. Each carries its time, since the master has no clock.


@dataclass(frozen=True, slots=True)
class Arrived(Value):
    """A job has come; it is worked on after those before it.

    code, spec: its code, the number and the size of its tasks. first: the iteration with which it begins, for a job
    that was begun before. rounds, seconds: a job without iterations is a probe: its tasks only measure the workers, in
    at most so many rounds and seconds. patience: seconds that a task may take, where the job says so. checks: the part
    of its tasks that are checked: computed by two workers, and (parity) by one more result than the code needs.
    thrifty: checks that would hold up iterations for long are made less often.
    """

    job: int
    at: float
    code: Code
    spec: CodeSpec
    iterations: int
    first: int = 0
    rounds: int = 0
    seconds: float = 0.0
    patience: float | None = None
    checks: float = 0.0
    parity: bool = False
    thrifty: bool = True


@dataclass(frozen=True, slots=True)
class Finished(Value):
    """A result is in. seconds: how long the worker computed; value: the result itself, which the master ignores."""

    worker: int
    ticket: Ticket
    task: int
    at: float
    seconds: float
    value: Any = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Stopped(Value):
    """A worker has stopped purged work.

    seconds: how long it was at the task in hand; complete: whether it finished it.
    late: seconds between the purge's arrival and the moment the worker was free.
    first: it was the first task of its iteration, which includes the shared chunks.
    """

    worker: int
    ticket: Ticket
    at: float
    seconds: float
    complete: bool
    late: float = 0.0
    first: bool = False


@dataclass(frozen=True, slots=True)
class Failed(Value):
    """A task raised an error in the user's code."""

    worker: int
    ticket: Ticket
    task: int
    at: float
    error: str


@dataclass(frozen=True, slots=True)
class Lost(Value):
    """A worker is gone."""

    worker: int
    at: float


@dataclass(frozen=True, slots=True)
class Joined(Value):
    """A worker is there, for the first time or again."""

    worker: int
    at: float


@dataclass(frozen=True, slots=True)
class Resolved(Value):
    """An iteration was decoded and the job has stepped on; over: it needs no further iteration."""

    ticket: Ticket
    at: float
    over: bool = False


@dataclass(frozen=True, slots=True)
class Refused(Value):
    """The results at hand could not be decoded; bad: those that count as missing, and why.

    hopeless: why no further result would help, such as an error in the user's step.
    """

    ticket: Ticket
    at: float
    bad: frozenset[int] = frozenset()
    why: str = ""
    hopeless: str = ""


@dataclass(frozen=True, slots=True)
class Doubted(Value):
    """The results of these tasks may be wrong: somebody else shall compute them too, before the iteration goes on."""

    ticket: Ticket
    at: float
    tasks: frozenset[int]


@dataclass(frozen=True, slots=True)
class Convicted(Value):
    """These workers gave wrong results: nothing that they sent is used, and they get no more work.

    back: earlier iterations of the job used results of theirs that nobody checked, so that it begins anew.
    """

    ticket: Ticket
    at: float
    workers: frozenset[int]
    back: bool = False


@dataclass(frozen=True, slots=True)
class Tick(Value):
    """Time has passed."""

    at: float


Event = Arrived | Finished | Stopped | Failed | Lost | Joined | Resolved | Refused | Doubted | Convicted | Tick


# Commands: what the master wants done.


@dataclass(frozen=True, slots=True)
class Assign(Value):
    """Give a worker these tasks, in this order, behind what it has of the same ticket."""

    worker: int
    ticket: Ticket
    tasks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Resolve(Value):
    """Decode the iteration from these results and step on."""

    ticket: Ticket
    tasks: frozenset[int]


@dataclass(frozen=True, slots=True)
class Purge(Value):
    """Everything up to this ticket is void, for these workers: they get no newer tasks that would tell them."""

    ticket: Ticket
    workers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Deliver(Value):
    """The job is done."""

    job: int


@dataclass(frozen=True, slots=True)
class Abandon(Value):
    """The job cannot be finished."""

    job: int
    reason: str


@dataclass(frozen=True, slots=True)
class Dismiss(Value):
    """End a worker: it is silent far beyond its time; for_good: it gives wrong results, and is not replaced."""

    worker: int
    for_good: bool = False


Command = Assign | Resolve | Purge | Deliver | Abandon | Dismiss


# Messages: what the driver sends to a worker through an engine.


@dataclass(frozen=True, slots=True)
class Install(Value):
    """A job's program, sent once to each worker; chunks: for each of the job's chunks its number at the worker."""

    job: int
    program: Any
    chunks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Store(Value):
    """Chunks of data by number, sent for a job's tasks; later jobs may use them too."""

    job: int
    chunks: dict[int, Any]


@dataclass(frozen=True, slots=True)
class Compute(Value):
    """Tasks of an iteration with what workers see of the state."""

    ticket: Ticket
    tasks: tuple[int, ...]
    state: Any


@dataclass(frozen=True, slots=True)
class Cancel(Value):
    """Everything up to this ticket is void."""

    ticket: Ticket


@dataclass(frozen=True, slots=True)
class Forget(Value):
    """The job is over: its program, and these chunks that no other job uses, can go."""

    job: int
    chunks: tuple[int, ...] = ()


Message = Install | Store | Compute | Cancel | Forget
