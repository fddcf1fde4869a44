"""`deadheat demo`, what `make run` runs: real training on five unequal local workers in three variants, and a death."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from deadheat.cli.options import AsJson, print_json
from deadheat.coding import Code, codes
from deadheat.jobs import in_series, result_of, synthetic_least_squares
from deadheat.model import Cluster, CodeSpec, Search, Split, Stream, Workload, assignment_moments
from deadheat.paper import worked_example
from deadheat.planning import POLICIES
from deadheat.reporting import WORKERS, Column, console, rich_table, run_json, seconds, watched
from deadheat.runtime import LocalEngine, Run, run
from deadheat.scheduling import Command, Event, Resolved
from deadheat.tuning import tune

WORK = 5_544_000.0  # W, operations of a plain iteration: about 0.1 s on the paper's workers
ITERATIONS, JOBS, EVERY = 20, 3, 2.5  # of a job; jobs; seconds between their arrivals
KILLED, HALF = 1, ITERATIONS // 2  # the fastest worker, and the iteration in which it is killed
SEARCH = Search(
    families=("uncoded", "cyclic", "fractional repetition", "replication"), critical=(10, 20, 50),
    redundancy=(1.0, 1.1, 1.5, 2.0), policies=("optimal",),
)  # fmt: skip
MEASURED: list[Column[dict[str, Any]]] = [  # of the JSON of a variant's run
    Column("", lambda result: result["name"], left=True),
    Column("iteration: forecast", lambda result: seconds(result["compared"]["iteration"]["forecast"])),
    Column("+ overhead", lambda result: seconds(result["compared"]["iteration"]["with_overhead"])),
    Column("measured", lambda result: seconds(result["compared"]["iteration"]["measured"])),
    Column("delay of a job: forecast", lambda result: seconds(result["compared"]["delay"]["with_overhead"])),
    Column("measured", lambda result: seconds(result["compared"]["delay"]["measured"])),
    Column("serial run", lambda result: _size(result["difference_from_serial"])),
]


@dataclass(frozen=True, eq=False)
class Variant:
    """A code and a split of its tasks, for the same stream of jobs."""

    name: str
    code: Code
    split: Split

    def __str__(self) -> str:
        return f"{self.code.family}, {self.code.critical} of {self.code.total} results"


def demo(json: AsJson = False) -> None:
    """Train on five unequal workers under an even split, under Theorem 2 and as the tuner chooses; kill one."""
    screen, cluster = console(stderr=json), worked_example.cluster()
    say = screen.print
    say("[bold]A dead heat[/]: an iteration is shortest when all workers finish together.\n")
    say("Five unequal workers (the paper's worked example, [bold]emulated[/]: real processes whose task times are"
        f" stretched)\nserve {JOBS} training jobs of {ITERATIONS} iterations, one every {EVERY:g} s."
        " Choosing a code ...")  # fmt: skip
    even, ours, tuned = _variants(cluster)
    say(f"Both splits share the tasks of one gradient code: {even} suffice.\n")
    say(_worker_table(cluster, even, ours))
    say("")
    results = []
    for variant in (even, ours, tuned):
        trained, difference = _train(variant, cluster, f"{variant.name} ({variant})", screen)
        about = {"name": variant.name, "code": str(variant), "loads": variant.split.loads}
        results.append(run_json(trained.outcome, about) | {"difference_from_serial": difference})
    name = cluster.names[KILLED]
    survived, difference = _train(ours, cluster, f"{ours.name} again; {name} is killed half way", screen, kill=True)
    delivery = survived.deliveries[0]
    if json:
        killed = {"worker": name, "at_iteration": HALF, "iterations": delivery.iterations, "error": delivery.error}
        print_json({"ways": results, "killed": killed | {"difference_from_serial": difference}})
        return
    say("")
    say(rich_table(MEASURED, results))
    slow, fast, fastest = (result["compared"]["delay"]["measured"] for result in results)
    say(f"\nA job is delivered [bold]{slow / fast:.1f} times sooner[/] under Theorem 2 than under the even split"
        f" ({seconds(fast)} against {seconds(slow)}),\n"
        f"and {slow / fastest:.1f} times sooner as the tuner chooses.")  # fmt: skip
    held, stated = (sum(result["intervals"][key] for result in results) for key in ("held", "stated"))
    say(f"Intervals for the end of a job, stated during the runs: {held} of {stated} held (95 % should).\n")
    say(f"{name} was killed at iteration {HALF} of {delivery.iterations} and replaced; its tasks went to others, no"
        f" iteration was lost,\nand the weights differ from a serial run by {difference:.1e}:")  # fmt: skip
    say(rich_table(WORKERS, survived.reports))
    say("\nNext: deadheat plan examples/worked-example.toml (forecasts), deadheat probe (measure your own workers),")
    say("deadheat run examples/worked-example.toml --emulate --speedup 10 --jobs 3; docs/tutorial.md has the rest.")


def _variants(cluster: Cluster) -> list[Variant]:
    """An even split, Theorem 2 with the same code, and what the tuner finds best."""
    cyclic = codes.cyclic(55, 5, reuse=True)  # tasks, and results that may be missing
    best = tune(Workload("gradient", WORK), cluster, Stream(EVERY, 0.0, ITERATIONS), SEARCH).best
    named = ("even split", cyclic, "uniform"), ("Theorem 2", cyclic, "optimal")
    variants = []
    for name, code, policy in (*named, ("tuner's choice", best.shape.build(), best.policy)):
        spec = CodeSpec.of(code.critical, code.total, WORK * code.cost.work, code.cost.shared_chunks)
        variants.append(Variant(name, code, POLICIES[policy](cluster, spec, 1.0)))
    return variants


def _worker_table(cluster: Cluster, even: Variant, ours: Variant) -> Table:
    """Every worker: its speed, its even share and ours, and when it would finish each."""
    tasks = cluster.tasks(ours.split.spec)
    even_finish, our_finish = (assignment_moments(tasks, variant.split.loads)[0] for variant in (even, ours))
    columns: list[Column[int]] = [  # of a worker's number
        Column("worker", lambda p: tasks.names[p], left=True),
        Column("a task takes", lambda p: seconds(tasks.mean[p])),
        Column("comm", lambda p: seconds(tasks.comm[p])),
        Column("even split", lambda p: str(even.split.loads[p])),
        Column("finishes", lambda p: seconds(even_finish[p])),
        Column("our split", lambda p: str(ours.split.loads[p])),
        Column("finishes", lambda p: seconds(our_finish[p])),
    ]
    return rich_table(columns, range(len(tasks)))


def _train(variant: Variant, cluster: Cluster, title: str, screen: Console, kill: bool = False) -> tuple[Run, float]:
    """Run the jobs on emulated workers; the largest difference of a weight from a serial run.

    kill: train one job only, with a split that adapts, and kill a worker half way.
    """
    jobs = [
        synthetic_least_squares(variant.code.chunks, ITERATIONS, seed=n, name=f"job {n + 1}")
        for n in range(1 if kill else JOBS)
    ]

    def kill_half_way(message: Event | Command, at: float) -> None:
        if isinstance(message, Resolved) and message.ticket.iteration == HALF:
            assert isinstance(training.driver.engine, LocalEngine)
            training.driver.engine.kill(KILLED)

    screen.print(f"{title} ...")
    with run(
        jobs, cluster, variant.code, arrivals=[EVERY * n for n in range(len(jobs))], policy=variant.split.policy,
        work=WORK, emulate=True, adapt=kill, seed=2 if kill else 1, listeners=[kill_half_way] if kill else [],
    ) as training, watched(training, title):  # fmt: skip
        training.wait()
    serial = [result_of(in_series(job)) for job in jobs]
    differences = [np.abs(result_of(done.state) - serial[done.job]).max() for done in training.deliveries]
    return training, float(max(differences))


def _size(difference: float) -> str:
    return f"within 1e{math.ceil(math.log10(difference))}" if difference else "the same"
