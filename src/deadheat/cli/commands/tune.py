"""`deadheat tune FILE`: which code, parameters, split and schedule give the least delay, at their true cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from deadheat import __version__
from deadheat.cli.files import read_scenario
from deadheat.cli.options import listed
from deadheat.errors import BadInput, whole
from deadheat.reporting.console import console
from deadheat.reporting.figures import FORMATS, save_frontier
from deadheat.reporting.files import check_target, write_table
from deadheat.reporting.numbers import to_json
from deadheat.reporting.progress import counter
from deadheat.reporting.rankings import print_ranking, ranking_json, ranking_table
from deadheat.tuning import tune as rank


def tune(
    file: Annotated[Path, typer.Argument(help="A scenario in TOML with a [workload]; see examples/.", metavar="FILE")],
    families: Annotated[str | None, typer.Option(help="Codes to try, between commas; see `deadheat codes`.")] = None,
    schedules: Annotated[str | None, typer.Option(help="static, pull, top-up, duplicates, speculative.")] = None,
    top: Annotated[int, typer.Option(help="Rows to print, besides the best of every family.")] = 12,
    seed: Annotated[int, typer.Option(help="Of the simulations, where theory has no law.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write the ranking to .csv, .parquet or .json.")] = None,
    figure: Annotated[Path | None, typer.Option(help="Draw delay against work to .png, .svg or .pdf.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Rank codes, their parameters and splits by predicted delay."""
    scenario = read_scenario(file)
    if scenario.workload is None:
        raise BadInput("workload", None, "missing", 'add [workload] with kind = "gradient" and work = 1e6, say')
    whole("--top", top, "give the number of rows")
    whole("--seed", seed, "give a number from 0 on", least=0)
    check_target("--out", out)
    check_target("--figure", figure, FORMATS)
    search = scenario.search
    if families is not None:
        search = replace(search, families=tuple(listed("--families", families)))
    if schedules is not None:
        search = replace(search, schedules=tuple(listed("--schedules", schedules)))
    with counter("candidates") as tell:
        ranking = rank(
            scenario.workload,
            scenario.cluster,
            scenario.stream,
            search,
            gamma=scenario.gamma,
            condition=scenario.condition,
            seed=seed,
            progress=tell,
        )
    if out is not None:
        write_table(ranking_table(ranking), out, {"version": __version__, "seed": seed})
    if figure is not None:
        save_frontier(ranking, figure)
    if json:
        print(to_json(ranking_json(ranking, scenario.cluster.names, __version__, seed)))
    else:
        print_ranking(ranking, console(), top)
