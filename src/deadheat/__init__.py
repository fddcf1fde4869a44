"""deadheat: split, code, purge and forecast iterative jobs over unequal workers, so that all finish together.

    import deadheat as dh
    cluster = dh.Cluster([dh.Worker(1.0, 1.0, comm=0.1), dh.Worker(2.0, 2.0, comm=0.2)])
    split = dh.split(cluster, dh.CodeSpec(critical=10, redundancy=1.2))
    dh.forecast(cluster, split, dh.Stream.poisson(rate=0.001, iterations=50)).delay

The rooms below are listed in docs/house.md; this file only gathers their public names.
"""

from deadheat.coding import Certificate, Code, IllConditioned, Undecodable, certify, codes
from deadheat.errors import BadInput, DeadheatError, NoConvergence
from deadheat.model import (
    Cluster,
    CodeSpec,
    Overhead,
    Scenario,
    Search,
    Split,
    Stream,
    Switching,
    Timeline,
    Trace,
    Worker,
    Workload,
    assignment_moments,
    laws,
)
from deadheat.planning import (
    Moments,
    Quantile,
    Recruitment,
    Unreachable,
    choose,
    fastest,
    hcmm,
    mismatch,
    proportional,
    recruit,
    split,
    uniform,
)
from deadheat.queueing import (
    Bound,
    Draw,
    Forecast,
    IterationLaw,
    forecast,
    genie_bound,
    iteration_law,
    kingman,
    lower_bound,
    pollaczek_khinchine,
    would_be_used,
)
from deadheat.runtime import Converged, Delivery, Job, JobFailed, Measured, Pool, Run, measure, run
from deadheat.simulation import Replay, Scheme, compare, replicate, simulate
from deadheat.tuning import Choice, Plan, Ranking, plan, tune

__version__ = "0.1.0"

__all__ = [
    "BadInput",
    "Bound",
    "Certificate",
    "Choice",
    "Cluster",
    "Code",
    "CodeSpec",
    "Converged",
    "DeadheatError",
    "Delivery",
    "Draw",
    "Forecast",
    "IllConditioned",
    "IterationLaw",
    "Job",
    "JobFailed",
    "Measured",
    "Moments",
    "NoConvergence",
    "Overhead",
    "Plan",
    "Pool",
    "Quantile",
    "Ranking",
    "Recruitment",
    "Replay",
    "Run",
    "Scenario",
    "Scheme",
    "Search",
    "Split",
    "Stream",
    "Switching",
    "Timeline",
    "Trace",
    "Undecodable",
    "Unreachable",
    "Worker",
    "Workload",
    "assignment_moments",
    "certify",
    "choose",
    "codes",
    "compare",
    "fastest",
    "forecast",
    "genie_bound",
    "hcmm",
    "iteration_law",
    "kingman",
    "laws",
    "lower_bound",
    "measure",
    "mismatch",
    "plan",
    "pollaczek_khinchine",
    "proportional",
    "recruit",
    "replicate",
    "run",
    "simulate",
    "split",
    "tune",
    "uniform",
    "would_be_used",
]


def __getattr__(name: str) -> object:
    """What needs an extra is imported when it is asked for: `dh.torch`, the estimators."""
    from importlib import import_module

    places = {
        "torch": "torch_training",
        "LinearRegressor": "estimators",
        "LogisticClassifier": "estimators",
    }
    if name not in places:
        raise AttributeError(f"module 'deadheat' has no attribute {name!r}")
    needed = "torch" if name == "torch" else "sklearn"
    try:
        module = import_module(f"deadheat.jobs.{places[name]}")
    except ModuleNotFoundError as error:
        if error.name and not error.name.startswith(needed):
            raise
        raise DeadheatError(f"deadheat.{name} needs the extra: pip install 'deadheat[{needed}]'") from None
    return module if name == "torch" else getattr(module, name)
