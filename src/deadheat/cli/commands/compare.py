"""`deadheat compare FILE`: policies x schedules x redundancy, on the same arrivals and luck."""

from dataclasses import replace
from itertools import product
from typing import Annotated

import typer

from deadheat import __version__, reporting
from deadheat.cli import options
from deadheat.cli.options import PURGING, listed, must_be_one_of, numbers, percentage, print_json
from deadheat.cli.scenario_file import read_scenario
from deadheat.planning import POLICIES
from deadheat.scheduling import SCHEDULES
from deadheat.simulation import Scheme
from deadheat.simulation import compare as simulate_all


def compare(
    file: options.ScenarioFile,
    policies: options.PolicyNames = "optimal,uniform,fastest",
    schedules: options.ScheduleNames = "static",
    redundancy: Annotated[str | None, typer.Option(help="Omega, between commas; or as in the scenario.")] = None,
    jobs: options.JobCount = None,
    replications: options.RunCount = None,
    precision: options.Precision = "2%",
    seed: options.Seed = None,
    purge: options.PurgeName = "at-once",
    out: options.TableFile = None,
    figure: options.FigureFile = None,
    json: options.AsJson = False,
) -> None:
    """Compare ways to split and schedule a scenario's jobs."""
    scenario = read_scenario(file)
    reporting.check_target("--out", out)
    reporting.check_target("--figure", figure, reporting.FIGURES)
    must_be_one_of(PURGING, "--purge", purge, "way to purge")
    omegas = [scenario.spec.redundancy] if redundancy is None else numbers("--redundancy", redundancy)
    named_policies = {name: POLICIES.find(name, "--policies") for name in listed("--policies", policies)}
    named_schedules = {name: SCHEDULES.find(name, "--schedules") for name in listed("--schedules", schedules or "")}
    schemes = []
    for omega, policy, schedule in product(omegas, named_policies, named_schedules):
        split = named_policies[policy](scenario.cluster, replace(scenario.spec, redundancy=omega), scenario.gamma)
        label = f"{policy}, {schedule}" + (f", Omega {omega:g}" if len(omegas) > 1 else "")
        schemes.append(Scheme(label, split, named_schedules[schedule], PURGING[purge]))
    wanted = percentage("--precision", precision)
    with reporting.replication_bar(wanted, replications) as report:
        compared = simulate_all(
            scenario.cluster, scenario.stream, schemes, scenario.jobs if jobs is None else jobs, seed=seed,
            replications=replications, precision=wanted, overhead=scenario.overhead, condition=scenario.condition,
            progress=lambda scheme, number, reached: report(scheme.name, number, reached),
        )  # fmt: skip
    if out is not None:
        about = {"version": __version__, "seed": compared[0].sample.seed}
        reporting.write_table(reporting.comparison_columns(compared), out, about)
    if figure is not None:
        reporting.write_figure(reporting.draw_comparison(compared), figure)
    if json:
        print_json(reporting.comparison_json(compared))
    else:
        reporting.print_comparison(compared, reporting.console())
