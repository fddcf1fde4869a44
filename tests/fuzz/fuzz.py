"""`make fuzz`: mutated scenario files and option sets through plan, simulate, compare, tune and run.

No traceback, no hang over 20 s, no exit code but 0, 1 and 2, bad input in one line, nothing left behind. A failure is
printed with its seed, its number and its file: `--seed S --only N` repeats it.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # two cases at a time on two cores

import argparse
import shlex
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from mutations import Case, case
from trial import Trial

AT_ONCE = 2


def main() -> int:
    """Try the cases, and print what went wrong; 1 where anything did."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the number of a case to repeat")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "deadheat-fuzz")
    wanted = parser.parse_args()
    numbers = range(wanted.count) if wanted.only is None else [wanted.only]
    folder = wanted.folder / f"seed-{wanted.seed}"
    print(f"fuzz: {len(numbers)} cases, seed {wanted.seed}; files of failures in {folder}", flush=True)
    import deadheat.cli  # noqa: F401  (before the forks, so that each costs milliseconds)
    from deadheat.model import special

    special.gammainc(1.0, 1.0)
    waiting, under_way, faults = list(reversed(numbers)), list[Trial](), 0
    ways, slowest = Counter[str](), (0.0, -1)
    while waiting or under_way:
        while waiting and len(under_way) < AT_ONCE:
            number = waiting.pop()
            under_way.append(Trial(case(wanted.seed, number), folder / str(number)))
            under_way[-1].start()
        for trial in list(under_way):
            fault = trial.fault()
            if fault is None:
                continue
            under_way.remove(trial)
            slowest = max(slowest, (trial.seconds, trial.case.number))
            ways[trial.case.command] += 1
            if fault:
                faults += 1
                _print_fault(trial.case, trial.folder, fault, wanted.seed)
            elif wanted.only is None:
                _forget(trial.folder)
        time.sleep(0.005)
    tried = ", ".join(f"{count} {command}" for command, count in sorted(ways.items()))
    print(f"fuzz: {tried}; {faults} failed; the slowest, number {slowest[1]}, took {slowest[0]:.1f} s")
    return 1 if faults else 0


def _print_fault(tried: Case, folder: Path, fault: str, seed: int) -> None:
    command = shlex.join(["deadheat", tried.command, str(folder / "scenario.toml"), *tried.options])
    print(f"FAILED seed {seed} number {tried.number}: {fault!r}\n  {command!r}", flush=True)


def _forget(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()


if __name__ == "__main__":
    sys.exit(main())
