"""deadheat: split, code, purge and forecast iterative jobs over unequal workers, so that all finish together.

    import deadheat as dh
    cluster = dh.Cluster([dh.Worker(1.0, 1.0, comm=0.1), dh.Worker(2.0, 2.0, comm=0.2)])
    split = dh.split(cluster, dh.CodeSpec(critical=10, redundancy=1.2))
    dh.forecast(cluster, split, dh.Stream.poisson(rate=0.001, iterations=50)).delay

What most people need stands here; the rest is in namespaces: codes, laws, policies, schedules, theory, jobs, engines,
torch and sklearn. The rooms below are listed in docs/house.md.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from deadheat import engines, theory
from deadheat.coding import codes
from deadheat.errors import BadInput, DeadheatError, NotConverged
from deadheat.model import Cluster, CodeSpec, Scenario, Search, Split, Stream, Switching, Trace, Worker, Workload, laws
from deadheat.planning import choose, fastest, mismatch, policies, split, uniform
from deadheat.queueing import forecast, lower_bound
from deadheat.runtime import Converged, Job, JobFailed, Pool, measure, run
from deadheat.scheduling import schedules
from deadheat.simulation import Scheme, compare, simulate
from deadheat.tuning import plan, tune

if TYPE_CHECKING:
    from deadheat import jobs, sklearn, torch

__version__ = "0.1.0"

LAZY = ("jobs", "sklearn", "torch")  # modules that are imported when they are asked for; the latter two need extras

__all__ = [
    "BadInput", "Cluster", "CodeSpec", "Converged", "DeadheatError", "Job", "JobFailed", "NotConverged", "Pool",
    "Scenario", "Scheme", "Search", "Split", "Stream", "Switching", "Trace", "Worker", "Workload", "choose", "codes",
    "compare", "engines", "fastest", "forecast", "jobs", "laws", "lower_bound", "measure", "mismatch", "plan",
    "policies", "run", "schedules", "simulate", "sklearn", "split", "theory", "torch", "tune", "uniform",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in LAZY:
        raise AttributeError(f"module 'deadheat' has no attribute {name!r}")
    try:
        return import_module(f"deadheat.{name}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != name:
            raise
        raise DeadheatError(f"deadheat.{name} needs the extra: pip install 'deadheat[{name}]'") from None


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__", "__doc__", "__name__"})
