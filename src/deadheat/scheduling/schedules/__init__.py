"""Schedules by name, one per file: in what order tasks reach the workers. `register` adds one of your own."""

from deadheat.errors import BadInput
from deadheat.model import Registry
from deadheat.scheduling.schedules.duplicates import Duplicates
from deadheat.scheduling.schedules.pull import Pull
from deadheat.scheduling.schedules.schedule import Progress, Schedule
from deadheat.scheduling.schedules.speculative import Speculative
from deadheat.scheduling.schedules.static import Static, kth, results
from deadheat.scheduling.schedules.top_up import TopUp

__all__ = [
    "SCHEDULES", "Duplicates", "Progress", "Pull", "Schedule", "Speculative", "Static", "TopUp", "kth", "register",
    "results", "schedule_named",
]  # fmt: skip

SCHEDULES: Registry[Schedule] = Registry(
    what="schedule",
    field="schedule",
    group="deadheat.schedules",
    builtin={
        "static": Static(),
        "pull": Pull(),
        "top-up": TopUp(),
        "duplicates": Duplicates(),
        "speculative": Speculative(),
    },
)


def register(name: str, schedule: Schedule) -> None:
    """Make a schedule known by name to simulations, the tuner, live runs and the command line."""
    if not isinstance(schedule, Schedule):
        raise BadInput("schedule", schedule, "not a schedule", "give an instance of dh.schedules.Schedule")
    SCHEDULES.register(name, schedule)


def schedule_named(schedule: object, field: str = "schedule") -> Schedule:
    """The schedule of that name, or the one given. Raises BadInput that names the field."""
    if isinstance(schedule, Schedule):
        return schedule
    if isinstance(schedule, str):
        return SCHEDULES.find(schedule, field)
    raise BadInput(field, schedule, "not a schedule", "give a name, or an instance of dh.schedules.Schedule")
