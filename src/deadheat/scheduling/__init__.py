"""What to do next: messages, the pure master, schedules, estimates and the probe. No clock, no process, no chance."""

from deadheat.scheduling import messages, schedules
from deadheat.scheduling.engine import Engine
from deadheat.scheduling.estimates import Estimates, Running, Score
from deadheat.scheduling.master import Master
from deadheat.scheduling.messages import *  # noqa: F403  (every message)
from deadheat.scheduling.probe import PATIENCE, ROUNDS, Probe, Sample
from deadheat.scheduling.program import *  # noqa: F403  (what a program is made of)
from deadheat.scheduling.schedules import SCHEDULES, Progress, Schedule, Static, kth, results, schedule_named
