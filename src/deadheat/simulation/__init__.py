"""What would happen: streams of jobs, simulated from exact laws or task by task."""

from deadheat.model.interval import Interval, interval
from deadheat.simulation.compare import Outcome, Scheme, compare
from deadheat.simulation.replay import Condition, Replay
from deadheat.simulation.replicate import Sample, replicate
from deadheat.simulation.schedules import SCHEDULES, Decodable, Duplicates, Pull, Schedule, Speculative, Static, TopUp
from deadheat.simulation.simulate import Purge, simulate

__all__ = [
    "SCHEDULES",
    "Condition",
    "Decodable",
    "Duplicates",
    "Interval",
    "Outcome",
    "Pull",
    "Purge",
    "Replay",
    "Sample",
    "Schedule",
    "Scheme",
    "Speculative",
    "Static",
    "TopUp",
    "compare",
    "interval",
    "replicate",
    "simulate",
]
