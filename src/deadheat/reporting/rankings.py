"""A tuner's ranking as a table, as columns and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from deadheat.reporting.numbers import seconds
from deadheat.tuning import Choice, Ranking


def ranking_json(ranking: Ranking, workers: Sequence[str], version: str, seed: int) -> dict[str, Any]:
    """The ranking as the contract names it, with more beside; `gain` for the best of every family."""
    leaders = set(ranking.leaders)
    return {
        "version": version,
        "seed": seed,
        "workers": list(workers),
        "why": ranking.why,
        "judged": len(ranking),
        "pruned": ranking.pruned,
        "refused": ranking.refused,
        "ranking": [
            _row(choice) | ({"gain": _gain(choice), "error": _error(choice)} if choice in leaders else {})
            for choice in ranking
        ],
        "frontier": [_row(choice) for choice in ranking.frontier],
    }


def ranking_table(ranking: Ranking) -> dict[str, NDArray[Any]]:
    """The ranking as columns, one row per choice."""
    rows = [_row(choice) for choice in ranking]
    texts = ("loads", "settings", "delay_interval")
    return {key: np.array([str(row[key]) if key in texts else row[key] for row in rows]) for key in rows[0]}


def print_ranking(ranking: Ranking, console: Console, top: int) -> None:
    """Print the reason, the first choices with the best of every other family, and the frontier."""
    console.print(escape(ranking.why))
    console.print()
    shown = [*ranking[:top], *(choice for choice in ranking.leaders if choice not in ranking[:top])]
    console.print(_choices(ranking, shown))
    more = len(ranking) - len(shown)
    left = [f"{more} more were judged"] if more else []
    left += [f"{ranking.pruned} ruled out by a bound"] if ranking.pruned else []
    left += [f"{ranking.refused} refused for losing digits"] if ranking.refused else []
    if left:
        console.print(f"{', '.join(left)}; --json lists all that were judged.")
    steps = " -> ".join(f"{seconds(c.delay)} at {c.work_factor:.3g} x" for c in ranking.frontier)
    console.print(f"delay against work, what no other choice beats in both: {steps}")


def _choices(ranking: Ranking, shown: Sequence[Choice]) -> Table:
    table = Table(show_edge=False, pad_edge=False)
    for heading in ("", "code", "K", "n", "split", "delay", "", "iteration", "work", "holds", "gain"):
        table.add_column(heading, justify="left" if heading in ("code", "split") else "right")
    place = {choice: number for number, choice in enumerate(ranking, 1)}
    leaders = set(ranking.leaders)
    for c in shown:
        settings = ", ".join(k if v is True else f"{k} {v}" for k, v in c.shape.settings.items() if v)
        spread = "" if c.interval is None else f"+- {(c.interval[1] - c.interval[0]) / 2:.2g}"
        how = c.policy if c.schedule == "static" else f"{c.policy}, {c.schedule}"
        gain = f"{_gain(c):.2g}" if c in leaders else ""
        gain += f", error {_error(c):.2g}" if c in leaders and not c.shape.exact else ""
        table.add_row(
            str(place[c]), escape(f"{c.family} ({settings})" if settings else c.family), str(c.spec.critical),
            str(c.spec.total), how, seconds(c.delay), spread, seconds(c.iteration_mean), f"{c.work_factor:.3g} x",
            f"{c.storage:.0%}", gain,
        )  # fmt: skip
    return table


def _row(choice: Choice) -> dict[str, Any]:
    return {
        "family": choice.family,
        "exact_result": choice.shape.exact,
        "critical": choice.spec.critical,
        "total": choice.spec.total,
        "redundancy": choice.spec.redundancy,
        "settings": dict(choice.shape.settings),
        "policy": choice.policy,
        "schedule": choice.schedule,
        "delay": choice.delay,
        "delay_interval": None if choice.interval is None else list(choice.interval),
        "judged": "exact" if choice.interval is None else "simulated",
        "iteration_mean": choice.iteration_mean,
        "service_mean": choice.service_mean,
        "utilisation": choice.utilisation,
        "work_factor": choice.work_factor,
        "work": choice.spec.work,
        "shared_chunks": choice.spec.shared_chunks,
        "seconds_per_task": choice.spec.seconds_per_task,
        "overhead": choice.overhead.total,
        "storage": choice.storage,
        "loads": choice.split.loads,
    }


def _gain(choice: Choice) -> float:
    """By how much rounding errors grow at worst; infinite where the code is refused."""
    return float("inf") if choice.certificate is None else choice.certificate.gain


def _error(choice: Choice) -> float:
    """How far an approximate code misses the result, at worst of what was tried; 0 for exact ones."""
    return 0.0 if choice.shape.exact or choice.certificate is None else choice.certificate.residual
