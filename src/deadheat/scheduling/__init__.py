"""What to do next: messages, the pure master, schedules, estimates and the probe. No clock, no process, no chance."""

from deadheat.scheduling import schedules
from deadheat.scheduling.engine import Engine
from deadheat.scheduling.estimates import Estimates, Running, Score
from deadheat.scheduling.master import Master
from deadheat.scheduling.messages import (
    Abandon,
    Arrived,
    Assign,
    Cancel,
    Command,
    Compute,
    Deliver,
    Dismiss,
    Event,
    Failed,
    Finished,
    Forget,
    Install,
    Joined,
    Lost,
    Message,
    Purge,
    Refused,
    Resolve,
    Resolved,
    Stopped,
    Store,
    Tick,
    Ticket,
)
from deadheat.scheduling.probe import PATIENCE, ROUNDS, Probe, Sample
from deadheat.scheduling.program import (
    ChunkView,
    NumericProgram,
    Program,
    Purged,
    Step,
    Token,
    Unreadable,
    UnreadableProgram,
    describe_error,
)
from deadheat.scheduling.schedules import SCHEDULES, Progress, Schedule, Static, kth, results, schedule_named

__all__ = [
    "PATIENCE", "ROUNDS", "SCHEDULES", "Abandon", "Arrived", "Assign", "Cancel", "ChunkView", "Command", "Compute", "Deliver",
    "Dismiss", "Engine", "Estimates", "Event", "Failed", "Finished", "Forget", "Install", "Joined", "Lost", "Master",
    "Message", "NumericProgram", "Probe", "Program", "Progress", "Purge", "Purged", "Refused", "Resolve", "Resolved",
    "Running", "Sample", "Schedule", "Score", "Static", "Step", "Stopped", "Store", "Tick", "Ticket", "Token",
    "Unreadable", "UnreadableProgram", "describe_error", "kth", "results", "schedule_named", "schedules",
]  # fmt: skip
