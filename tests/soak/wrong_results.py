"""A worker that flips a bit in 1 of 50 of its results, under several codes: is it found, and is the answer right?

    python tests/soak/wrong_results.py [--seeds 50]

Real computations on sampled time, 4 workers; one task in 20 is checked. The last column counts alarms against honest
workers in runs without flips, under default checks.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import deadheat as dh
from deadheat.coding import Code
from deadheat.runtime import in_series

sys.path.insert(0, str(Path(__file__).parents[1] / "runtime"))
from flipped_bits import LIAR, flipping_run, noisy_descent

ITERATIONS = 250


class Setting(NamedTuple):
    """A job and its code; limit: how far the answer may be from that of a serial run."""

    name: str
    job: Callable[[], Any]
    code: Code | None
    limit: float = 1e-9


def power() -> Any:
    """A dense matrix times a vector, again and again: as many iterations as the others."""
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(240, 240)) / 16
    return dh.jobs.MatrixJob(matrix, np.ones(240), lambda v, product, i: product / np.linalg.norm(product), ITERATIONS)


def solver() -> Any:
    """Conjugate gradients on a matrix that takes them some forty steps."""
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(300, 300))
    matrix = factor @ factor.T / 300 + np.diag(np.linspace(0.05, 1.0, 300))
    return dh.jobs.conjugate_gradients(matrix, rng.normal(size=300), tolerance=1e-12)


SETTINGS = (
    Setting("uncoded", lambda: noisy_descent(ITERATIONS), None),
    Setting("replication (12, 2)", lambda: noisy_descent(ITERATIONS), dh.codes.replication(12, 2)),
    Setting("repetition (12, 2)", lambda: noisy_descent(ITERATIONS), dh.codes.fractional_repetition(12, 2)),
    Setting("cyclic (12, 2)", lambda: noisy_descent(ITERATIONS), dh.codes.cyclic(12, 2)),
    Setting("mds (10, 12)", power, dh.codes.mds(10, 12)),
    Setting("conjugate gradients, uncoded", solver, None, 1e-8),
)


def answer(state: Any) -> Any:
    """The vector of a state."""
    return getattr(state, "x", state)


def main() -> int:
    """Print one row per setting; 1 if an answer was wrong or an honest worker was accused."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=50)
    seeds = range(parser.parse_args().seeds)
    logging.getLogger("deadheat").setLevel(logging.ERROR)
    failed = False
    for name, make, code, limit in SETTINGS:
        serial = answer(in_series(make()))
        right = named = flips = checks = alarms = 0
        for seed in seeds:
            done, count = flipping_run(make(), code, seed, checks=1 / 20)
            flips += count
            right += bool(np.abs(answer(done.state) - serial).max() <= limit * np.abs(serial).max())
            named += done.driver.master.banned == {LIAR}
            alarms += bool(done.driver.master.banned - {LIAR})
            honest, _ = flipping_run(make(), code, seed, every=np.inf)
            checks += sum(report.checks for report in honest.reports)
            alarms += len(honest.driver.master.banned)
        failed |= right < len(seeds) or named < len(seeds) or alarms > 0
        print(
            f"{name}: answer right in {right} of {len(seeds)} runs, worker named in {named}, "
            f"{flips / len(seeds):.1f} flips a run; {alarms} false alarms in {checks} checks",
            flush=True,
        )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
