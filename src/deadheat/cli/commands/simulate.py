"""`deadheat simulate FILE`: what would happen, with intervals, beside the forecast."""

from dataclasses import asdict

from deadheat import __version__, reporting
from deadheat.cli import options
from deadheat.cli.options import PURGING, must_be_one_of, percentage, print_json
from deadheat.cli.scenario_file import read_scenario
from deadheat.errors import BadInput, whole
from deadheat.model import Trace
from deadheat.queueing import forecast
from deadheat.scheduling import SCHEDULES
from deadheat.simulation import MOST_RUNS, most_runs, replicate, seconds_of_run
from deadheat.simulation import simulate as simulate_once
from deadheat.tuning import split_of


def simulate(
    file: options.ScenarioFile,
    jobs: options.JobCount = None,
    replications: options.RunCount = None,
    precision: options.Precision = "1%",
    seed: options.Seed = None,
    policy: options.PolicyName = None,
    schedule: options.ScheduleName = "static",
    purge: options.PurgeName = "at-once",
    out: options.JobsFile = None,
    timeline: options.TasksFile = None,
    json: options.AsJson = False,
) -> None:
    """Simulate a scenario's stream of jobs."""
    scenario = read_scenario(file)
    cluster, stream, condition = scenario.cluster, scenario.stream, scenario.condition
    count = scenario.jobs if jobs is None else whole("--jobs", jobs, "give the number of jobs")
    reporting.check_target("--out", out)
    reporting.check_target("--timeline", timeline)
    must_be_one_of(PURGING, "--purge", purge, "way to purge")
    chosen = SCHEDULES.find(schedule, "--schedule")
    if timeline is not None and (purge == "between-tasks" or schedule != "static"):
        problem = "tasks are recorded under the static schedule that purges at once or never"
        raise BadInput("--timeline", str(timeline), problem, "leave it out")
    split = split_of(scenario, policy=policy)

    def run(one_seed: int, record: bool = False) -> Trace:
        return simulate_once(
            cluster, split, stream, jobs=count, purge=PURGING[purge], seed=one_seed, timeline=record, schedule=chosen,
            overhead=scenario.overhead, condition=condition,
        )  # fmt: skip

    wanted = percentage("--precision", precision)
    seconds = seconds_of_run(split, stream, count, chosen, condition is not None, purge == "between-tasks")
    most = MOST_RUNS if replications is not None else most_runs([seconds], count)
    with reporting.replication_bar(wanted, replications) as report:
        sample = replicate(
            run, seed, replications, wanted, most, progress=lambda number, reached: report("simulate", number, reached)
        )
    if out is not None or timeline is not None:
        trace = run(sample.seed, timeline is not None)
        reporting.write_trace(trace, cluster.names, jobs=out, tasks=timeline, about={"version": __version__})
    expected = None
    if schedule == "static" and purge != "between-tasks" and (condition is None or condition.independent):
        law = forecast(cluster, split, stream, purge == "at-once", scenario.overhead, condition)
        expected = law.draw(count).interval
    if json:
        policy_and_forecast = {"policy": split.policy, "forecast": None if expected is None else asdict(expected)}
        print_json(reporting.replications_json(sample) | policy_and_forecast)
    else:
        reporting.print_replications(sample, expected, reporting.console())
