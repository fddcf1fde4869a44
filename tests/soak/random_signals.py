"""A storm of signals: workers are killed, stopped and continued at random while a stream of jobs runs.

    python tests/soak/random_signals.py --seconds 180 --seed 0

Every answer must be the serial one, or the run ends with a named error; nothing hangs, and nothing is left.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import deadheat as dh
from deadheat.runtime import Job, NoWorkers, in_series

WORKERS = 3
PATIENCE = 60.0  # seconds without a delivery that count as a hang
SIGNALS = (signal.SIGKILL, signal.SIGSTOP, signal.SIGCONT)


def small_job(number: int) -> Job:
    """Least squares on twelve chunks, a few milliseconds each."""
    rng = np.random.default_rng(number)
    x = rng.normal(size=(12, 400, 30))
    y = x @ rng.normal(size=30)

    def compute(w: np.ndarray, chunk: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        time.sleep(0.003)
        return np.asarray(chunk[0].T @ (chunk[0] @ w - chunk[1]))

    return Job(
        list(zip(x, y, strict=True)), compute, np.zeros(30), lambda w, total, i: w - total / 6000, 15, f"j{number}"
    )


class Storm:
    """Sends signals to one, two or all workers, at most one volley a second."""

    def __init__(self, engine: dh.engines.LocalEngine, seed: int, rate: float) -> None:
        self._engine, self._random, self._rate = engine, random.Random(seed), rate
        self._over = threading.Event()
        self.sent: Counter[str] = Counter()
        self._thread = threading.Thread(target=self._blow, daemon=True)

    def __enter__(self) -> Storm:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _blow(self) -> None:
        while not self._over.wait(max(self._random.expovariate(self._rate), 1.0 / self._rate / 4)):
            count = self._random.choice((1, 1, 1, 2, WORKERS))
            how = self._random.choice(SIGNALS)
            for worker in self._random.sample(range(WORKERS), count):
                pid = self._engine.pid(worker)
                if pid is not None:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, how)
                        self.sent[how.name] += 1


def left_behind(folder: str) -> list[str]:
    """Children of this process, and what is in its folder of shared memory."""
    return [*Path(f"/proc/self/task/{os.getpid()}/children").read_text().split(), *os.listdir(folder)]


def storm(seconds: float, seed: int, rate: float = 1.0) -> tuple[Counter[str], Counter[str]]:
    """What came of the jobs, and which signals were sent. Raises AssertionError for a wrong answer or a hang."""
    folder = tempfile.mkdtemp(prefix="soak-", dir="/dev/shm")
    os.environ["DEADHEAT_SHM"] = folder  # others may run at the same time
    before, until, outcomes = left_behind(folder), time.monotonic() + seconds, Counter[str]()

    def stream() -> Iterator[Job]:
        number = 0
        while time.monotonic() < until:
            yield small_job(number)
            number += 1

    engine = dh.engines.LocalEngine(WORKERS)
    cluster = dh.Cluster.from_columns([4e-3] * WORKERS, 1e-3)
    heard = time.monotonic()
    alarm = threading.Event()

    def watch() -> None:
        while not alarm.wait(1.0):
            if time.monotonic() - heard > PATIENCE:
                print(f"hung for {PATIENCE:g} s (seed {seed})", file=sys.stderr, flush=True)
                os._exit(3)

    threading.Thread(target=watch, daemon=True).start()
    try:
        with Storm(engine, seed, rate) as blown:
            try:
                for delivery in dh.run(stream(), cluster, engine=engine):
                    heard = time.monotonic()
                    if delivery.error is not None:
                        outcomes[delivery.error.split(":")[0]] += 1
                        continue
                    expected = in_series(small_job(int(delivery.name[1:])))
                    assert np.abs(delivery.state - expected).max() < 1e-9, f"{delivery.name}, seed {seed}"
                    outcomes["right"] += 1
            except NoWorkers as error:
                outcomes[f"NoWorkers: {error}"] += 1
    finally:
        engine.close()
        alarm.set()
        del os.environ["DEADHEAT_SHM"]
    left = sorted(set(left_behind(folder)) - set(before))
    assert not left, f"left behind: {left}"
    os.rmdir(folder)
    return outcomes, blown.sent


def main() -> None:
    """Blow for as long as asked for, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=180.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rate", type=float, default=1.0, help="volleys a second")
    typed = parser.parse_args()
    outcomes, sent = storm(typed.seconds, typed.seed, typed.rate)
    print(f"seed {typed.seed}, {typed.seconds:g} s: {dict(sent)} sent; jobs: {dict(outcomes)}; nothing left behind")


if __name__ == "__main__":
    main()
