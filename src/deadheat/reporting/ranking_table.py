"""A tuner's ranking as a table, as columns of a file and as JSON."""

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape

from deadheat.model import AnyArray
from deadheat.reporting.columns import Column, rich_table
from deadheat.reporting.number_format import seconds
from deadheat.tuning import Choice, Ranking


def ranking_json(ranking: Ranking, workers: Sequence[str], seed: int) -> dict[str, Any]:
    """The ranking as the contract names it, with more beside; `gain` for the best of every family."""
    leaders = set(ranking.leaders)
    return {
        "seed": seed, "workers": list(workers), "why": ranking.why, "judged": len(ranking), "pruned": ranking.pruned,
        "refused": ranking.refused, "unjudged": ranking.unjudged,
        "ranking": [_row(choice) | (_trust(choice) if choice in leaders else {}) for choice in ranking],
        "frontier": [_row(choice) for choice in ranking.frontier],
    }  # fmt: skip


def ranking_columns(ranking: Ranking) -> dict[str, AnyArray]:
    """The ranking as columns of a file, one row per choice."""
    rows = [_row(choice) for choice in ranking]
    texts = ("loads", "settings", "delay_interval")
    return {key: np.array([str(row[key]) if key in texts else row[key] for row in rows]) for key in rows[0]}


def print_ranking(ranking: Ranking, console: Console, top: int) -> None:
    """Print the reason, the first choices with the best of every other family, and the frontier."""
    console.print(escape(ranking.why), "", sep="\n")
    shown = [*ranking[:top], *(choice for choice in ranking.leaders if choice not in ranking[:top])]
    console.print(rich_table(_columns(ranking), shown))
    reasons = "more were judged", "ruled out by a bound", "refused for losing digits", "left out to answer in time"
    counts = len(ranking) - len(shown), ranking.pruned, ranking.refused, ranking.unjudged
    left_out = ", ".join(f"{count} {reason}" for count, reason in zip(counts, reasons, strict=True) if count)
    if left_out:
        console.print(f"{left_out}; --json lists all that were judged.")
    steps = " -> ".join(f"{seconds(choice.delay)} at {choice.work_factor:.3g} x" for choice in ranking.frontier)
    console.print(f"delay against work, what no other choice beats in both: {steps}")


def _columns(ranking: Ranking) -> list[Column[Choice]]:
    place = {choice: number for number, choice in enumerate(ranking, 1)}
    leaders = set(ranking.leaders)

    def code(choice: Choice) -> str:
        settings = ", ".join(k if v is True else f"{k} {v}" for k, v in choice.shape.settings.items() if v)
        return f"{choice.family} ({settings})" if settings else choice.family

    def gain(choice: Choice) -> str:
        text = "{gain:.2g}" if choice.shape.exact else "{gain:.2g}, error {error:.2g}"
        return text.format(**_trust(choice)) if choice in leaders else ""

    return [
        Column("", lambda choice: str(place[choice])),
        Column("code", code, left=True),
        Column("K", lambda choice: str(choice.spec.critical)),
        Column("n", lambda choice: str(choice.spec.total)),
        Column("split", lambda c: c.policy if c.schedule == "static" else f"{c.policy}, {c.schedule}", left=True),
        Column("delay", lambda choice: seconds(choice.delay)),
        Column("", lambda c: "" if c.interval is None else f"+- {(c.interval.high - c.interval.low) / 2:.2g}"),
        Column("iteration", lambda choice: seconds(choice.iteration_mean)),
        Column("work", lambda choice: f"{choice.work_factor:.3g} x"),
        Column("holds", lambda choice: f"{choice.storage:.0%}"),
        Column("gain", gain),
    ]


def _row(choice: Choice) -> dict[str, Any]:
    interval, spec = choice.interval, choice.spec
    return {
        "family": choice.family, "exact_result": choice.shape.exact, "critical": spec.critical, "total": spec.total,
        "redundancy": spec.redundancy, "settings": dict(choice.shape.settings), "policy": choice.policy,
        "schedule": choice.schedule, "delay": choice.delay,
        "delay_interval": None if interval is None else [interval.low, interval.high],
        "judged": "exact" if interval is None else "simulated",
        "iteration_mean": choice.iteration_mean, "service_mean": choice.service_mean,
        "utilisation": choice.utilisation, "work_factor": choice.work_factor, "work": spec.work,
        "shared_chunks": spec.shared_chunks, "seconds_per_task": spec.seconds_per_task,
        "overhead": choice.overhead.total, "storage": choice.storage, "loads": choice.split.loads,
    }  # fmt: skip


def _trust(choice: Choice) -> dict[str, float]:
    """By how much rounding errors grow at worst, infinite for a refused code; how far an approximate one misses."""
    certificate = choice.certificate
    if certificate is None:
        return {"gain": inf, "error": 0.0}
    return {"gain": certificate.gain, "error": 0.0 if choice.shape.exact else certificate.residual}
