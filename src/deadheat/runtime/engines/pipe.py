"""The master's end of a pipe: frames of bytes, without ever blocking. The worker may use a plain Connection."""

import os
import struct
from multiprocessing.connection import Connection

HEADER = struct.Struct("!i")  # as Connection writes it, for frames below 2 GB
AT_ONCE = 1 << 16  # bytes per read


class MasterPipe:
    """A pipe to one worker."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._out = bytearray()
        self._in = bytearray()
        os.set_blocking(connection.fileno(), False)

    def fileno(self) -> int:
        return self._connection.fileno()

    @property
    def waiting(self) -> bool:
        """Whether something could not be sent yet."""
        return bool(self._out)

    def send(self, frame: bytes) -> None:
        """Send as much as the pipe takes; the rest waits for `flush`."""
        self._out += HEADER.pack(len(frame)) + frame
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
        """The frames that are here, and whether the other side is still there."""
        there = True
        try:
            while True:
                received = os.read(self.fileno(), AT_ONCE)
                self._in += received
                if len(received) < AT_ONCE:
                    there = bool(received)
                    break
        except BlockingIOError:
            pass
        except OSError:
            there = False
        return self._frames(), there

    def close(self) -> None:
        self._connection.close()

    def _frames(self) -> list[bytes]:
        """Whole frames from the front; what is cut off stays."""
        frames, start, size = [], 0, HEADER.size
        while start + size <= len(self._in):
            end = start + size + HEADER.unpack_from(self._in, start)[0]
            if end > len(self._in):
                break
            frames.append(bytes(self._in[start + size : end]))
            start = end
        del self._in[:start]
        return frames
