"""Schedules: in what order tasks reach the workers. Each is a file with one public name."""

from deadheat.simulation.schedules.decodable import Decodable
from deadheat.simulation.schedules.duplicates import Duplicates
from deadheat.simulation.schedules.pull import Pull
from deadheat.simulation.schedules.schedule import Schedule
from deadheat.simulation.schedules.speculative import Speculative
from deadheat.simulation.schedules.static import Static
from deadheat.simulation.schedules.top_up import TopUp

SCHEDULES: dict[str, Schedule] = {
    "static": Static(),
    "pull": Pull(),
    "top-up": TopUp(),
    "duplicates": Duplicates(),
    "speculative": Speculative(),
}

__all__ = ["SCHEDULES", "Decodable", "Duplicates", "Pull", "Schedule", "Speculative", "Static", "TopUp"]
