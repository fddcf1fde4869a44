"""The two ends of a pipe between master and worker: frames of bytes. The master's end never blocks.

Each frame begins with a mark. Bytes that are no frame (a task may write into any descriptor of its process) break the
pipe: they are never taken for a message.
"""

import os
import select
import socket
import struct
from contextlib import suppress

MARK = 0xDEAD_4EA7
HEADER = struct.Struct("!IQ")  # the mark, and the number of bytes that follow
LONGEST = 1 << 40  # bytes of a frame
AT_ONCE = 1 << 16  # bytes per read
LOOK = 1000  # milliseconds after which a worker looks for its master, where the system does not tell it


class Frames:
    """Puts frames together from what a pipe brings. broken: what came is no frame."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self.broken = False

    def add(self, received: bytes) -> list[bytes]:
        """The frames that are whole now; what is cut off waits for its rest."""
        self._bytes += received
        frames, start = [], 0
        while start + HEADER.size <= len(self._bytes):
            mark, length = HEADER.unpack_from(self._bytes, start)
            if mark != MARK or length > LONGEST:
                self.broken = True
                break
            begin, end = start + HEADER.size, start + HEADER.size + length
            if end > len(self._bytes):
                break
            frames.append(bytes(memoryview(self._bytes)[begin:end]))
            start = end
        del self._bytes[:start]
        return frames


def framed(content: bytes) -> bytes:
    """The content as a frame."""
    return HEADER.pack(MARK, len(content)) + content


class MasterPipe:
    """The master's end, which belongs to one worker."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._out = bytearray()
        self._frames = Frames()
        end.setblocking(False)

    def fileno(self) -> int:
        return self._socket.fileno()

    @property
    def waiting(self) -> bool:
        """Whether something could not be sent yet."""
        return bool(self._out)

    @property
    def broken(self) -> bool:
        """Whether the worker sent bytes that are no frame."""
        return self._frames.broken

    def send(self, content: bytes) -> None:
        """Send as much as the pipe takes; the rest waits for `flush`."""
        self._out += framed(content)
        self.flush()

    def flush(self) -> None:
        """Send what waits. To a worker that is gone nothing is sent: that it is gone will be noticed."""
        try:
            while self._out:
                del self._out[: os.write(self.fileno(), self._out)]
        except BlockingIOError:
            pass
        except OSError:
            self._out.clear()

    def read(self) -> tuple[list[bytes], bool]:
        """The frames that are here, and whether more can come."""
        there, frames = True, []
        try:
            while there:
                received = os.read(self.fileno(), AT_ONCE)
                frames += self._frames.add(received)
                there = bool(received) and not self.broken
                if len(received) < AT_ONCE:
                    break
        except BlockingIOError:
            pass
        except OSError:
            there = False
        return frames, there

    def close(self) -> None:
        self._socket.close()


class WorkerPipe:
    """The worker's end. master: the process at the other end, whose death is noticed though others hold that end."""

    def __init__(self, descriptor: int, master: int) -> None:
        self._descriptor, self._master = descriptor, master
        self._identity = self._file()
        self._frames = Frames()
        self._events = select.poll()
        self._events.register(descriptor, select.POLLIN)
        self._watched = False  # whether the system tells us of the master's death
        with suppress(AttributeError, OSError):  # no pidfd here, or the master is dead: then we have another parent
            self._events.register(os.pidfd_open(master), select.POLLIN)
            self._watched = True

    def receive(self) -> list[bytes]:
        """The next frames, as soon as there are any. Raises EOFError when the master is gone or has closed the pipe."""
        frames: list[bytes] = []
        while not frames:
            for descriptor, _ in self._events.poll(None if self._watched else LOOK):
                if descriptor != self._descriptor:
                    raise EOFError
                received = b"" if self._file() != self._identity else os.read(descriptor, AT_ONCE)
                frames += self._frames.add(received)
                if not received or self._frames.broken:
                    raise EOFError
            if os.getppid() != self._master:
                raise EOFError
        return frames

    def send(self, content: bytes) -> None:
        """Raises OSError where the pipe is closed, also if its descriptor is another file by now."""
        if self._file() != self._identity:
            raise BrokenPipeError
        rest = memoryview(framed(content))
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]

    def master_gone(self) -> bool:
        """Whether the master's process has ended, or ends within a second."""
        with suppress(AttributeError, OSError):
            master = os.pidfd_open(self._master)  # fails where it is gone
            try:
                ending = select.poll()
                ending.register(master, select.POLLIN)
                ending.poll(1000)  # its descriptors are closed a moment before it ends
            finally:
                os.close(master)
        return os.getppid() != self._master

    def _file(self) -> tuple[int, int] | None:
        """Which file the descriptor is: a task may close it, and open another that gets its number."""
        try:
            status = os.fstat(self._descriptor)
        except OSError:
            return None
        return status.st_dev, status.st_ino
