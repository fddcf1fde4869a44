"""Beyond the paper: real delays of 256 cloud workers, replayed, against a model fitted to them."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.model import Array, Claim, Cluster, CodeSpec, Finding, Picture, Split, Stream, Worker, laws
from deadheat.queueing import IterationLaw
from deadheat.simulation import Replay, simulate

FILE = "lambda256_cnn.npz"
BODY, TAIL = (0.25, 0.5, 0.75, 0.9), (0.95, 1.0)  # K as a part of the workers; codes with redundancy wait for the body


def reproduce(seed: int) -> Finding:
    """The mean iteration with any K of 256 results: replay of the records against the fitted model's forecast."""
    path = find()
    if path is None:
        note = f"{FILE} is not here: put it into ../shared/traces or name its folder in DEADHEAT_TRACES. Skipped."
        return Finding("Real traces (skipped)", (), (), (note,))
    with np.load(path) as record:
        seconds = np.asarray(record["seconds"], float)[2]  # the third of five load levels
    tasks = fitted(seconds).tasks(CodeSpec(1))  # one per worker, of one unit of work
    workers = len(tasks)

    def model(part: float) -> float:
        return IterationLaw(tasks, np.ones(workers, int), round(part * workers)).mean

    replayed = {part: float(replay(seconds, round(part * workers)).mean()) for part in (*BODY, *TAIL)}
    forecast = {part: model(part) for part in replayed}
    off = {part: forecast[part] / replayed[part] - 1 for part in replayed}
    claims = [
        Claim(
            f"mean iteration waiting for {part:.0%} of 256 workers (s)", printed="(not in the paper)",
            ours=f"replay {replayed[part]:.3f}, fitted model {forecast[part]:.3f} ({off[part]:+.1%})",
            holds=abs(off[part]) <= 0.05,
            why="30 recorded rounds; a lognormal per worker, fitted to the logarithms of its times",
        )
        for part in BODY
    ]  # fmt: skip
    worst, typical = float(seconds.max()), float(np.median(seconds))
    tails = (
        f"{part:.0%} takes {replayed[part]:.2f} s, and the model says {forecast[part]:.2f} s ({off[part]:+.0%})"
        for part in TAIL
    )
    notes = (
        f"The tail is missed. Waiting for {'; for '.join(tails)}. The slowest record is {worst:.1f} s,"
        f" {worst / typical:.0f} times the median: a law fitted to a worker's 30 times does not foresee it, and slow"
        " rounds are slow for several workers at once. Replay has both.",
    )

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        shares = np.linspace(0.3, 1.0, 15)
        rows = np.sort(seconds, axis=1)
        axes.plot(shares, [rows[:, round(s * workers) - 1].mean() for s in shares], "o", label="replay of 30 rounds")
        axes.plot(shares, [model(share) for share in shares], label="fitted model, exact law")
        axes.set(xlabel="results waited for, of 256", ylabel="mean iteration (s)", yscale="log")
        axes.legend()

    caption = "Mean iteration against the number of results waited for: the model follows the body and misses the tail."
    return Finding("Real traces: 256 cloud workers", tuple(claims), (Picture("traces", caption, draw),), notes)


def fitted(seconds: Array) -> Cluster:
    """One lognormal worker per column; its spread from the middle of its times, so that no outlier rules it."""
    logs = np.log(seconds)
    spread = np.maximum(np.diff(np.quantile(logs, [0.1, 0.9], axis=0), axis=0)[0] / 2.563, 1e-3)
    columns = zip(np.median(logs, axis=0).tolist(), spread.tolist(), strict=True)
    return Cluster(Worker.of(laws.Lognormal(log_mean, log_std)) for log_mean, log_std in columns)


def replay(seconds: Array, needed: int) -> Array:
    """The iteration times of the recorded rounds when `needed` results suffice."""
    recorded = Replay(seconds)
    rounds, workers = seconds.shape
    split = Split.of(np.ones(workers, int), CodeSpec.of(needed, workers))
    stream = Stream(1e9, 0.0, 1)  # a job a round, no queue
    return simulate(recorded.cluster(), split, stream, rounds, condition=recorded, seed=0).service


def find() -> Path | None:
    """The recorded delays beside the project, or in the folder named by DEADHEAT_TRACES."""
    folders = [Path(os.environ["DEADHEAT_TRACES"])] if "DEADHEAT_TRACES" in os.environ else []
    folders += [base / "shared" / "traces" for base in (Path.cwd().parent, *Path(__file__).parents[3:6])]
    return next((folder / FILE for folder in folders if (folder / FILE).is_file()), None)
