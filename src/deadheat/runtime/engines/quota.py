"""CPU quotas: real slow workers on one machine, by control groups of Linux. For root; the slowness is emulated."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path

from deadheat.errors import BadInput, DeadheatError, finite

ROOT = Path("/sys/fs/cgroup")
PERIOD, LEAST = 10_000, 1_000  # microseconds; the kernel takes no quota below a millisecond
MOST = 1024  # cores
PREFIX = "deadheat-"
_numbers = count()


class NoQuotas(DeadheatError):
    """This system, or this user, cannot limit processes."""

    def __init__(self, why: str) -> None:
        super().__init__(f"CPU quotas need Linux control groups and root ({why}); leave quotas out, or use emulate")


class Quota:
    """A control group whose processes get `share` of one core together. Its name says which process owns it."""

    def __init__(self, share: float) -> None:
        period = max(PERIOD, round(LEAST / share))
        quota = round(share * period)
        parent = _parent()
        try:
            self.group = _made(parent)
        except OSError as error:
            raise NoQuotas(error.strerror or str(error)) from None
        try:
            if parent != ROOT:
                (self.group / "cpu.cfs_period_us").write_text(str(period))
                (self.group / "cpu.cfs_quota_us").write_text(str(quota))
            else:
                (self.group / "cpu.max").write_text(f"{quota} {period}")
        except OSError as error:
            self.remove()
            raise NoQuotas(error.strerror or str(error)) from None

    def take(self, pid: int) -> None:
        """Put a process, with its threads, into the group."""
        try:
            (self.group / "cgroup.procs").write_text(str(pid))
        except ProcessLookupError:
            pass  # it died at once, which is noticed elsewhere
        except OSError as error:
            raise NoQuotas(error.strerror or str(error)) from None

    def remove(self) -> None:
        """Give the group back, once its processes have ended."""
        with suppress(OSError):
            self.group.rmdir()


def _parent() -> Path:
    """The group in which ours are made: control groups of version 1 have a tree for each resource."""
    return ROOT / "cpu" if (ROOT / "cpu").is_dir() else ROOT


def _made(parent: Path) -> Path:
    """A new group; names that a dead process of the same number has left are passed over."""
    for number in _numbers:
        group = parent / f"{PREFIX}{os.getpid()}-{number}"
        with suppress(FileExistsError):
            group.mkdir()
            return group
    raise AssertionError("numbers do not end")


def leave_group(group: str) -> None:
    """Move this process out of its group, and remove the group: for a worker whose master is gone."""
    with suppress(OSError):
        (Path(group).parent / "cgroup.procs").write_text(str(os.getpid()))
        Path(group).rmdir()


def sweep_groups() -> None:
    """Remove groups whose owner is dead. The system keeps those that still have processes in them."""
    for group in _parent().glob(f"{PREFIX}*-*"):
        with suppress(ValueError, OSError):
            owner = int(group.name.removeprefix(PREFIX).partition("-")[0])
            if not _exists(owner):
                group.rmdir()


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def shares(quotas: Sequence[float | None] | None, workers: int) -> list[float | None]:
    """One share of a core for each worker, checked; None where there is no limit."""
    if quotas is None:
        return [None] * workers
    if len(quotas) != workers:
        raise BadInput("quotas", len(quotas), f"for {workers} workers", "give a share of a core for each, or none")
    remedy = f"give shares of a core, such as 0.25, up to {MOST}"
    for quota in quotas:
        if quota is not None and finite("quotas", quota, remedy, least=0.01) > MOST:
            raise BadInput("quotas", quota, "more than a machine has", remedy)
    return list(quotas)


def quota_groups(wanted: Mapping[int, float]) -> dict[int, Quota]:
    """A group for each worker that has a limit; all, or none where one cannot be made."""
    groups: dict[int, Quota] = {}
    try:
        for worker, share in wanted.items():
            groups[worker] = Quota(share)
    except BaseException:
        for group in groups.values():
            group.remove()
        raise
    return groups
