"""A worker's process: a fresh interpreter in a session of its own, watched by a pidfd, ended with all it has started.

It is no process of multiprocessing: starting it changes nothing in this process (`__main__`, the environment), and it
may be started from a daemonic process, from a worker of joblib or from a task of another run.
"""

import contextlib
import os
import signal
import subprocess
import sys
from multiprocessing import spawn
from subprocess import _args_from_interpreter_flags  # type: ignore[attr-defined]  # as multiprocessing does

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
ENTRY = (
    "import sys; sys.path[:] = {path!r}; import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    "from deadheat.runtime.engines.local_worker import main; main({descriptor}, {master})"
)
LOST_PIPE = 81  # the exit code of a worker whose pipe was closed by the task that it computed
GRACE = 2.0  # seconds in which a process that was killed ends, unless it hangs in the kernel


class WorkerProcess:
    """The process at the other end of a pipe. pidfd: becomes readable when it ends; None where there is no such thing.

    A descriptor that only the process holds would do as well, were it not for processes that a task forks: they hold
    it too, and outlive the worker.
    """

    def __init__(self, descriptor: int) -> None:
        entry = ENTRY.format(path=_search_path(), descriptor=descriptor, master=os.getpid())
        self._process = subprocess.Popen(
            [os.fsdecode(spawn.get_executable()), *_args_from_interpreter_flags(), "-c", entry],
            stdin=subprocess.DEVNULL,
            pass_fds=(descriptor,),
            env={**os.environ, **dict.fromkeys(ONE_THREAD, "1")},
            start_new_session=True,  # Control-C in a terminal is for the master
        )
        self.pid = self._process.pid
        self.pidfd: int | None = None
        with contextlib.suppress(AttributeError, OSError):
            self.pidfd = os.pidfd_open(self.pid)

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def kill(self) -> None:
        """End it, with the processes that its tasks have started; also if it is stopped."""
        if self._process.returncode is None:  # otherwise its number may belong to another process
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def reap(self) -> str:
        """Note its end, once it was killed or has ended; how it ended, in words."""
        self.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)
        if self.pidfd is not None:
            os.close(self.pidfd)
            self.pidfd = None
        code = self._process.returncode
        if code == LOST_PIPE:
            return "its pipe was closed by a task"
        if code is None or code >= 0:
            return f"it ended with exit code {code}"
        with contextlib.suppress(ValueError):
            return f"it was ended by {signal.Signals(-code).name}"
        return f"it was ended by signal {-code}"


def _search_path() -> list[str]:
    """The places where modules are found, with the working directory by its name."""
    try:
        here = os.getcwd()
    except OSError:  # it was removed
        here = ""
    return [path or here for path in sys.path if isinstance(path, str)]
