"""`dh.theory`: what the mathematics says of iterations and jobs before any of them runs."""

from deadheat.model import Interval, Tasks, assignment_moments, interval

from deadheat.queueing import (  # isort: skip
    Bound, Draw, Forecast, IterationLaw, draw, fluid_bound, forecast, genie_bound, iteration_law, kingman, lower_bound,
    mean_delay, pollaczek_khinchine, service_moments, would_be_used,
)  # fmt: skip
