"""Table II: the average delay at four K, in a queue that grows for ever."""

from __future__ import annotations

from typing import Any

import numpy as np

from deadheat.model.finding import Claim, Finding, Picture
from deadheat.paper.hundred_workers import BEST, JOBS, NOTE, TABLE, point, stream, workers
from deadheat.simulation import replicate, simulate

DRAWS = 60


def reproduce(seed: int) -> Finding:
    """Sixty draws of 1000 jobs for each K, on the same arrivals."""
    cluster, jobs = workers(), stream()
    points = {k: point(k) for k in TABLE}
    samples = {
        k: replicate(lambda one, s=p.split: simulate(cluster, s, jobs, JOBS, seed=one), seed, DRAWS)  # type: ignore[misc]
        for k, p in points.items()
    }
    claims = []
    for k, printed in TABLE.items():
        delay, expected = samples[k].delay, points[k].forecast.draw(JOBS)
        claims.append(
            Claim(
                f"average delay of the first 1000 jobs at K = {k} (s)",
                f"{printed:.3g}",
                f"{delay.mean:.4g} ({delay.low:.4g} to {delay.high:.4g}); theory {expected.mean:.4g}",
                abs(delay.mean / printed - 1) < 0.05,
                f"unstable, utilisation {points[k].forecast.utilisation:.2f}: E[T_s] + (E[T_s] - E[T_a])(J - 1)/2."
                " Within 5 %",
                built=True,
            )
        )
    gain = 1 - samples[BEST].delay.mean / samples[110].delay.mean
    claims.append(
        Claim(
            "the least mismatch has more than 16 % less delay than the greatest",
            "> 16 %",
            f"{gain:.1%}",
            bool(gain > 0.1),
            "the trend: at least 10 %; how much depends on the lost workers",
            built=True,
        )
    )

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        place = np.arange(len(TABLE))
        axes.bar(place - 0.2, list(TABLE.values()), 0.4, label="printed", color="lightgrey")
        errors = [s.delay.high - s.delay.mean for s in samples.values()]
        axes.bar(place + 0.2, [s.delay.mean for s in samples.values()], 0.4, yerr=errors, label="ours, 95 % interval")
        axes.set_xticks(place, [f"K = {k}" for k in TABLE])
        axes.set_ylabel("average delay of the first 1000 jobs (s)")
        axes.legend()

    regime = (
        "The regime: the queue is unstable. A job takes about 250 s and one arrives every 100 s, so the delay has no"
        " mean; the printed numbers are averages over the first 1000 jobs of a queue that grows for ever."
    )
    caption = "Table II: printed and ours."
    return Finding("Table II: delay against K", tuple(claims), (Picture("table2", caption, draw),), (regime, NOTE))
