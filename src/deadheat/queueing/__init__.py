"""What to expect: the law of an iteration, delays in the queue, bounds, draws and advice."""

from deadheat.queueing import counting
from deadheat.queueing.advice import reasons, would_be_used
from deadheat.queueing.bounds import Bound, fluid_bound, genie_bound, lower_bound
from deadheat.queueing.draws import Draw, draw
from deadheat.queueing.forecast import Forecast, forecast
from deadheat.queueing.iteration_law import IterationLaw, iteration_law
from deadheat.queueing.waiting import kingman, mean_delay, pollaczek_khinchine, service_moments

__all__ = [
    "Bound", "Draw", "Forecast", "IterationLaw", "counting", "draw", "fluid_bound", "forecast", "genie_bound",
    "iteration_law", "kingman", "lower_bound", "mean_delay", "pollaczek_khinchine", "reasons", "service_moments",
    "would_be_used",
]  # fmt: skip
