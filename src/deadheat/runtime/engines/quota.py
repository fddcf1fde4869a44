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
_numbers = count()


class NoQuotas(DeadheatError):
    """This system, or this user, cannot limit processes."""

    def __init__(self, why: str) -> None:
        super().__init__(f"CPU quotas need Linux control groups and root ({why}); leave quotas out, or use emulate")


class Quota:
    """A control group whose processes get `share` of one core together."""

    def __init__(self, share: float) -> None:
        period = max(PERIOD, round(LEAST / share))
        quota = round(share * period)
        first_version = (ROOT / "cpu").is_dir()
        self._group = (ROOT / "cpu" if first_version else ROOT) / f"deadheat-{os.getpid()}-{next(_numbers)}"
        try:
            self._group.mkdir()
            if first_version:
                (self._group / "cpu.cfs_period_us").write_text(str(period))
                (self._group / "cpu.cfs_quota_us").write_text(str(quota))
            else:
                (self._group / "cpu.max").write_text(f"{quota} {period}")
        except OSError as error:
            self.remove()
            raise NoQuotas(error.strerror or str(error)) from None

    def take(self, pid: int) -> None:
        """Put a process, with its threads, into the group."""
        try:
            (self._group / "cgroup.procs").write_text(str(pid))
        except OSError as error:
            raise NoQuotas(error.strerror or str(error)) from None

    def remove(self) -> None:
        """Give the group back, once its processes have ended."""
        with suppress(OSError):
            self._group.rmdir()


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
    except NoQuotas:
        for group in groups.values():
            group.remove()
        raise
    return groups
