"""Ctrl-C and SIGTERM as exceptions, so that every `finally` runs, workers are ended and files are closed."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}


class Signalled(BaseException):
    """A signal that ends the command; nothing that catches errors of a job catches it."""

    def __init__(self, number: int) -> None:
        super().__init__(WORDS[signal.Signals(number)])
        self.exit_code = 128 + number  # as shells have it: 130 and 143


@contextmanager
def signals_raised() -> Iterator[None]:
    """Raise Signalled in the main thread; a signal that somebody ignores or handles already is left to them."""
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    if threading.current_thread() is not threading.main_thread():  # only there can handlers be set
        usual = {}
    before = {number: signal.getsignal(number) for number in usual}
    taken = [number for number, handler in usual.items() if before[number] == handler]
    for number in taken:
        signal.signal(number, _raise)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, before[number])


def _raise(number: int, frame: FrameType | None) -> None:
    raise Signalled(number)
