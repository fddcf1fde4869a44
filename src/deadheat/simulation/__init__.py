"""What would happen: streams of jobs, simulated from exact laws or task by task."""

from deadheat.simulation.conditions import Condition, Replay, Switching
from deadheat.simulation.schedules import SCHEDULES, Pull, Schedule, Speculative, Static, TopUp
from deadheat.simulation.simulate import simulate

__all__ = [
    "SCHEDULES",
    "Condition",
    "Pull",
    "Replay",
    "Schedule",
    "Speculative",
    "Static",
    "Switching",
    "TopUp",
    "simulate",
]
