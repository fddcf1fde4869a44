"""What does happen: the pure master, and the engines that give it time and workers."""

from deadheat.runtime.driver import Converged, Delivery, JobFailed, NobodyCame, NoWorkers
from deadheat.runtime.engines.local import LocalEngine
from deadheat.runtime.engines.ray import RayEngine, RayMissing
from deadheat.runtime.job import Job
from deadheat.runtime.measuring import Measured, measure
from deadheat.runtime.pools import Pool
from deadheat.runtime.runs import Run, run
from deadheat.runtime.schedules import SCHEDULES

__all__ = [
    "SCHEDULES",
    "Converged",
    "Delivery",
    "Job",
    "JobFailed",
    "LocalEngine",
    "Measured",
    "NoWorkers",
    "NobodyCame",
    "Pool",
    "RayEngine",
    "RayMissing",
    "Run",
    "measure",
    "run",
]
