"""`deadheat demo`, what `make run` runs: real training on five unequal local workers, three ways, and a death."""

from __future__ import annotations

from typing import Annotated

import typer

from deadheat import __version__
from deadheat.jobs import demonstration
from deadheat.paper import worked_example
from deadheat.reporting.console import console
from deadheat.reporting.demos import Shown, Stage, demo_json, print_workers, step, ways_table
from deadheat.reporting.numbers import seconds, to_json
from deadheat.reporting.runs import worker_table

KILLED = 1  # the fastest


def demo(json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False) -> None:
    """Train on five unequal workers under an even split, under Theorem 2 and as the tuner chooses; kill one."""
    screen, cluster = console(stderr=json), worked_example.cluster()
    say = screen.print
    say("[bold]A dead heat[/]: an iteration is shortest when all workers finish together.\n")
    say(
        f"Five unequal workers (the paper's worked example, [bold]emulated[/]: real processes whose task times are"
        f" stretched)\nserve {demonstration.JOBS} training jobs of {demonstration.ITERATIONS} iterations, one every"
        f" {demonstration.EVERY:g} s. Choosing a code ..."
    )
    ways = demonstration.ways(cluster)
    stages = [
        Stage(
            way.name,
            f"{way.code.family}, {way.code.critical} of {way.code.total} results",
            way.split(cluster).loads.tolist(),
            way.finish(cluster),
        )
        for way in ways
    ]
    say(f"Both splits share the tasks of one gradient code: {stages[0].code} suffice.\n")
    print_workers(cluster, stages, ways[0].spec.work, screen)
    say("")
    shown = []
    for way, stage in zip(ways, stages, strict=True):
        under_way = demonstration.stream(way, cluster)
        with step(under_way, f"{stage.name} ({stage.code})", screen):
            under_way.wait()
        unlike = demonstration.difference(under_way, demonstration.jobs(way.code, demonstration.JOBS))
        shown.append(Shown(stage, under_way.outcome, unlike))
    under_way, death = demonstration.with_a_death(ways[1], cluster, KILLED)
    name = cluster.names[KILLED]
    with step(under_way, f"{stages[1].name} again; {name} is killed half way", screen):
        under_way.wait()
    unlike = demonstration.difference(under_way, demonstration.jobs(ways[1].code, 1))
    done = under_way.deliveries[0]
    killed = {
        "worker": name, "at_iteration": death.at, "iterations": done.iterations, "error": done.error,
        "difference_from_serial": unlike,
    }  # fmt: skip
    if json:
        print(to_json(demo_json(shown, killed, __version__)))
        return
    say("")
    say(ways_table(shown))
    say("")
    even, ours, best = (one.outcome.compared[2].measured.mean for one in shown)
    say(
        f"A job is delivered [bold]{even / ours:.1f} times sooner[/] under Theorem 2 than under the even split"
        f" ({seconds(ours)} against {seconds(even)}),\nand {even / best:.1f} times sooner as the tuner chooses."
    )
    held, stated = sum(one.outcome.held for one in shown), sum(one.outcome.intervals for one in shown)
    say(f"Intervals for the end of a job, stated on the way: {held} of {stated} held (95 % should).\n")
    say(
        f"{name} was killed at iteration {death.at} of {done.iterations} and replaced; its tasks went to others, no"
        f" iteration was lost,\nand the weights differ from a serial run by {unlike:.1e}:"
    )
    say(worker_table(under_way.reports))
    say(
        "\nNext: deadheat plan examples/worked-example.toml (forecasts), deadheat probe (measure your own workers),"
        "\ndeadheat run examples/worked-example.toml --emulate --speedup 10 --jobs 3; docs/tutorial.md has the rest."
    )
