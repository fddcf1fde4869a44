"""`deadheat tune FILE`: which code, parameters, split and schedule give the least delay, at their true cost."""

from dataclasses import replace
from typing import Annotated, Any

import typer

from deadheat import __version__, reporting
from deadheat.cli import options
from deadheat.cli.options import listed, print_json
from deadheat.cli.scenario_file import read_scenario
from deadheat.errors import BadInput, whole
from deadheat.tuning import tune as rank


def tune(
    file: options.ScenarioFile,
    families: Annotated[str | None, typer.Option(help="Codes to try, between commas; see `deadheat codes`.")] = None,
    schedules: options.ScheduleNames = None,
    top: Annotated[int, typer.Option(help="Rows to print, besides the best of every family.")] = 12,
    seed: Annotated[int, typer.Option(help="Of the simulations, where theory has no law.")] = 0,
    out: options.TableFile = None,
    figure: options.FigureFile = None,
    json: options.AsJson = False,
) -> None:
    """Rank codes, their parameters and splits by predicted delay."""
    scenario = read_scenario(file)
    if scenario.workload is None:
        raise BadInput("workload", None, "missing", 'add [workload] with kind = "gradient" and work = 1e6, say')
    whole("--top", top, "give the number of rows")
    whole("--seed", seed, "give a number from 0 on", least=0)
    reporting.check_target("--out", out)
    reporting.check_target("--figure", figure, reporting.FIGURES)
    typed = {"families": families, "schedules": schedules}
    named: dict[str, Any] = {key: tuple(listed(f"--{key}", text)) for key, text in typed.items() if text is not None}
    with reporting.candidate_bar("candidates") as progress:
        ranking = rank(
            scenario.workload, scenario.cluster, scenario.stream, replace(scenario.search, **named),
            gamma=scenario.gamma, condition=scenario.condition, seed=seed, progress=progress,
        )  # fmt: skip
        for choice in ranking.leaders:
            _ = choice.certificate  # it takes seconds, so that the bar should stand there
    if out is not None:
        reporting.write_table(reporting.ranking_columns(ranking), out, {"version": __version__, "seed": seed})
    if figure is not None:
        reporting.write_figure(reporting.draw_frontier(ranking), figure)
    if json:
        print_json(reporting.ranking_json(ranking, scenario.cluster.names, seed))
    else:
        reporting.print_ranking(ranking, reporting.console(), top)
