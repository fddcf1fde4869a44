"""What the master hears and says: events in, commands out. Values, nothing more; they travel as they are.

A ticket names a piece of news: which job, which of its iterations, which attempt at it. A newer ticket is the purge: a
result with an older one is dropped, and a worker that sees a newer one puts its work down.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Ticket(NamedTuple):
    """Job, iteration and attempt, in the order in which they are worked on."""

    job: int
    iteration: int
    attempt: int = 0


# Events: what the master hears. Each carries its time, since the master has no clock.


@dataclass(frozen=True, slots=True)
class Arrived:
    """A job has come; it is worked on after those before it."""

    job: int
    at: float


@dataclass(frozen=True, slots=True)
class Finished:
    """A result is in. seconds: how long the worker was at it; value: the result itself, which the master ignores."""

    worker: int
    ticket: Ticket
    task: int
    at: float
    seconds: float
    value: Any = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Stopped:
    """A worker has put down purged work. seconds: how long it was at the task in hand; complete: whether it ended it.

    late: seconds between the purge's arrival and the moment the worker was free.
    first: it was the first task of its iteration, which has the work that leads.
    """

    worker: int
    ticket: Ticket
    at: float
    seconds: float
    complete: bool
    late: float = 0.0
    first: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """A task raised an error in the user's code."""

    worker: int
    ticket: Ticket
    task: int
    at: float
    error: str


@dataclass(frozen=True, slots=True)
class Lost:
    """A worker is gone."""

    worker: int
    at: float


@dataclass(frozen=True, slots=True)
class Joined:
    """A worker is there, for the first time or again."""

    worker: int
    at: float


@dataclass(frozen=True, slots=True)
class Resolved:
    """An iteration was put together and the job has stepped on; over: it needs no further iteration."""

    ticket: Ticket
    at: float
    over: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """The results at hand could not be put together; bad: those that count as missing, and why.

    hopeless: why no further result would help, such as an error in the user's step.
    """

    ticket: Ticket
    at: float
    bad: frozenset[int] = frozenset()
    why: str = ""
    hopeless: str = ""


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed."""

    at: float


Event = Arrived | Finished | Stopped | Failed | Lost | Joined | Resolved | Refused | Tick


# Commands: what the master says.


@dataclass(frozen=True, slots=True)
class Assign:
    """Give a worker these tasks, in this order, behind what it has of the same ticket."""

    worker: int
    ticket: Ticket
    tasks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Resolve:
    """Put the iteration together from these results and step on."""

    ticket: Ticket
    tasks: frozenset[int]


@dataclass(frozen=True, slots=True)
class Purge:
    """Everything up to this ticket is void, for these workers: they get no newer order that would tell them."""

    ticket: Ticket
    workers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Deliver:
    """The job is done."""

    job: int


@dataclass(frozen=True, slots=True)
class Abandon:
    """The job cannot be finished."""

    job: int
    reason: str


@dataclass(frozen=True, slots=True)
class Dismiss:
    """A worker is silent far beyond its time: see after it."""

    worker: int


Command = Assign | Resolve | Purge | Deliver | Abandon | Dismiss


# Letters: what the driver sends to a worker through an engine.


@dataclass(frozen=True, slots=True)
class Open:
    """A job's work, sent once to each worker: what a task is. units, shared_chunks: see CodeSpec (for emulated workers)."""

    job: int
    work: Any
    units: float = 1.0
    shared_chunks: int = 0


@dataclass(frozen=True, slots=True)
class Supply:
    """Pieces of a job's data, by number: those that the worker's tasks need and it does not have yet."""

    job: int
    pieces: dict[int, Any]


@dataclass(frozen=True, slots=True)
class Order:
    """Tasks of an iteration with the state that they start from."""

    ticket: Ticket
    tasks: tuple[int, ...]
    state: Any


@dataclass(frozen=True, slots=True)
class Void:
    """Everything up to this ticket is void."""

    ticket: Ticket


@dataclass(frozen=True, slots=True)
class Shut:
    """The job is over: its work can be forgotten."""

    job: int


Letter = Open | Supply | Order | Void | Shut
