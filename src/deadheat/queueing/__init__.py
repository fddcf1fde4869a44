"""What to expect: the law of an iteration, delays in the queue, bounds, draws and advice."""

from deadheat.queueing import counting
from deadheat.queueing.advice import reasons, would_be_used
from deadheat.queueing.average_delay import Draw, draw
from deadheat.queueing.bounds import Bound, fluid_bound, genie_bound, lower_bound
from deadheat.queueing.forecast import Forecast, forecast
from deadheat.queueing.iteration_law import IterationLaw, iteration_law, seconds_of_law
from deadheat.queueing.waiting import kingman, mean_delay, pollaczek_khinchine, service_moments
