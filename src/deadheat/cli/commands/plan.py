"""`deadheat plan FILE`: who should do how much, what to expect, who is useless."""

from typing import Annotated

import typer

from deadheat.cli.options import AsJson, PolicyName, ScenarioFile, numbers, print_json
from deadheat.cli.scenario_file import read_scenario
from deadheat.model import quantity
from deadheat.reporting import console, plan_json, print_plan
from deadheat.tuning import plan as compute_plan


def plan(
    file: ScenarioFile,
    policy: PolicyName = None,
    gamma: Annotated[float | None, typer.Option(help="Weight of the second moment, in 1/second.")] = None,
    split: Annotated[str | None, typer.Option(help="A ratio of your own, such as 3,2,1.")] = None,
    target: Annotated[float | None, typer.Option(help="A mean delay in seconds to meet; spares are recruited.")] = None,
    no_purge: Annotated[bool, typer.Option("--no-purge", help="Wait for all results, as in the paper.")] = False,
    json: AsJson = False,
) -> None:
    """Plan a scenario: loads, forecast, bounds and advice."""
    scenario = read_scenario(file)
    if target is not None:
        quantity("--target", target, "give a delay in seconds, above 0", above=0.0)
    if gamma is not None:
        quantity("--gamma", gamma, "give a weight in 1/second, such as 1.0", least=0.0)
    ratio = None if split is None else tuple(numbers("--split", split))
    computed = compute_plan(scenario, policy=policy, gamma=gamma, ratio=ratio, purge=not no_purge, target=target)
    if json:
        print_json(plan_json(computed))
    else:
        print_plan(computed, console())
