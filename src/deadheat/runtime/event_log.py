"""The event log: every event and command of a run in a file, and a master that is fed the same events again.

A line is one JSON object. The first describes the master; codes are written once, as pickles: replay only files that
you trust. Results themselves are not written, since the master never looks at them.
"""

import base64
import json
import logging
import os
import pickle
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, fields
from hashlib import blake2b
from pathlib import Path
from typing import Any, get_args

from deadheat.errors import BadInput, DeadheatError
from deadheat.model import CodeSpec
from deadheat.runtime.engines.codec import by_value
from deadheat.runtime.options import Options
from deadheat.scheduling import Command, Estimates, Event, Master, Ticket, describe_error, messages

logger = logging.getLogger("deadheat")
FORMAT = 1
EVENTS = get_args(Event)
KINDS = {kind.__name__: kind for kind in (*EVENTS, *get_args(Command))}


class BadLog(DeadheatError):
    """A file that is not an event log, or was cut off in a line."""

    def __init__(self, path: Path, line: int, why: str) -> None:
        super().__init__(f"{path}, line {line}: {why}")


class EventLog:
    """A listener of a driver that writes what it hears."""

    def __init__(self, path: Path, options: Options) -> None:
        self._path = path
        try:
            self._file = os.fdopen(_private(path), "w", encoding="utf-8", buffering=1)
        except OSError as error:
            raise BadInput("events", str(path), error.strerror or "cannot be written", "name another file") from None
        self._codes: dict[bytes, int] = {}  # by the digest of their pickles
        settings = {
            "cluster": options.declared, "guessed": options.guessed, "policy": options.named_policy,
            "gamma": options.gamma, "schedule": options.named_schedule, "adapt": options.adapt,
        }  # fmt: skip
        self._write({"format": FORMAT, "master": _text(settings)})

    def __call__(self, message: Event | Command, at: float) -> None:
        record: dict[str, Any] = {"kind": type(message).__name__}
        for column in fields(message):
            if column.name == "value":
                continue
            value = getattr(message, column.name)
            record[column.name] = sorted(value) if isinstance(value, frozenset) else value
        if isinstance(message, messages.Arrived):
            text = _text(message.code)
            digest = blake2b(text.encode()).digest()
            if digest not in self._codes:
                self._codes[digest] = len(self._codes)
                self._write({"code": self._codes[digest], "pickle": text})
            record["code"] = self._codes[digest]
            record["spec"] = {column.name: getattr(message.spec, column.name) for column in fields(CodeSpec)}
        self._write(record)

    def close(self) -> None:
        """Finish the file; it may be called twice."""
        with suppress(OSError):  # a full disk, of which `_write` has told
            self._file.close()

    def _write(self, record: dict[str, Any]) -> None:
        """Write a line. Where the disk is full the log ends, and the run goes on."""
        if self._file.closed:
            return
        try:
            self._file.write(json.dumps(record) + "\n")
        except OSError as error:
            self.close()
            logger.warning("the event log %s ends here: %s", self._path, error.strerror)


def _private(path: Path) -> int:
    """Open a file that only its owner can read and write, since it holds pickles; also one that was there before."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):  # and no device or pipe
            os.fchmod(descriptor, 0o600)
            os.ftruncate(descriptor, 0)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


@dataclass(frozen=True)
class Replayed:
    """What a master made of logged events. difference: the first command that was another one, in words."""

    events: int
    commands: int
    jobs: int
    difference: str | None


def replay(path: Path) -> Replayed:
    """Feed the events of a log to a new master, and hold its commands against those of the run."""
    lines = _lines(path)
    _, header = next(lines, (1, {}))
    if header.get("format") != FORMAT:
        raise BadLog(path, 1, f"not an event log of format {FORMAT}")
    try:
        settings = _object(header["master"])
        estimates = Estimates(settings.pop("cluster"), settings.pop("guessed"))
        master = Master(estimates, **settings)
    except Exception as error:  # pickle raises nearly anything
        raise BadLog(path, 1, f"its master cannot be read ({type(error).__name__}: {error})") from None
    codes: dict[int, Any] = {}
    events = commands = jobs = 0
    expected: list[Command] = []
    for number, record in lines:
        try:
            if "pickle" in record:
                codes[record["code"]] = _object(record["pickle"])
                continue
            message = _message(record, codes)
        except Exception as error:  # pickle raises nearly anything
            raise BadLog(path, number, f"not an event or a command ({type(error).__name__}: {error})") from None
        if isinstance(message, EVENTS):
            if expected:
                return Replayed(events, commands, jobs, f"line {number}: the run did not do {expected[0]}")
            try:
                events, expected = events + 1, master.handle(message)
            except Exception as error:
                raise BadLog(path, number, f"the master cannot handle it ({describe_error(error)})") from None
            continue
        if not expected or expected[0] != message:
            instead = expected[0] if expected else "nothing"
            return Replayed(events, commands, jobs, f"line {number}: the run did {message}, the master says {instead}")
        expected.pop(0)
        commands, jobs = commands + 1, jobs + isinstance(message, messages.Deliver)
    return Replayed(events, commands, jobs, None)


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith("\n"):
                    return  # the run was killed in the middle of a line
                try:
                    record = json.loads(line)
                except json.JSONDecodeError:
                    raise BadLog(path, number, "not JSON") from None
                if not isinstance(record, dict):
                    raise BadLog(path, number, "not a JSON object")
                yield number, record
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "cannot be read"
        raise BadInput("EVENTS", str(path), why, "name a file that `run --events` wrote") from None


def _message(record: dict[str, Any], codes: dict[int, Any]) -> Event | Command:
    settings = {name: value for name, value in record.items() if name != "kind"}
    if "ticket" in settings:
        settings["ticket"] = Ticket(*settings["ticket"])
    if record["kind"] == "Arrived":
        settings["code"], settings["spec"] = codes[settings["code"]], CodeSpec(**settings["spec"])
    kind = KINDS[record["kind"]]
    for name in ("tasks", "bad", "workers"):
        if name in settings:
            settings[name] = (tuple if kind in (messages.Assign, messages.Purge) else frozenset)(settings[name])
    message: Event | Command = kind(**settings)
    return message


def _text(value: Any) -> str:
    return base64.b64encode(by_value(value)).decode("ascii")


def _object(text: str) -> Any:
    return pickle.loads(base64.b64decode(text))
