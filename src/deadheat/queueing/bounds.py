"""What no split can beat: the paper's bound, the same in a queue, and a genie's."""

from dataclasses import dataclass

import numpy as np

from deadheat.errors import whole
from deadheat.model import Cluster, CodeSpec, Stream, Switching, Tasks, checked, laws, require_tasks
from deadheat.queueing.forecast import Forecast, of_law
from deadheat.queueing.iteration_law import IterationLaw
from deadheat.queueing.waiting import mean_delay

NEW_BETTER_THAN_USED = (laws.Gamma, laws.Weibull, laws.Deterministic, laws.ShiftedExponential)  # while std <= mean


@dataclass(frozen=True)
class Bound:
    """The paper's ideal, one server as fast as all workers together: its service time (eq. LB), and with waiting."""

    service: float
    delay: float


@checked
def lower_bound(cluster: Cluster, spec: CodeSpec, stream: Stream) -> Bound:
    """D_L = I (K/sum_p 1/E[T_p] + (1/P) sum_p c_p), without and with waiting (eq. LB).

    It averages the c_p of ALL workers, so one that is never used because its c_p is large raises it above delays that
    are reached: there `genie_bound` is the one to trust.
    """
    speed = float((1 / cluster.tasks(spec).pace).sum())
    service = stream.iterations * (spec.critical / speed + float(cluster.comm.mean()))
    return Bound(service, mean_delay(stream, service, 0.0))


def fluid_bound(tasks: Tasks, critical: int) -> float:
    """A time below which no split or schedule brings the mean of an iteration: min_p c_p + K/sum_p 1/E[T_p].

    A task in hand has at most its mean still to go where it is new better than used (no more spread than an
    exponential, no heavy tail), so by Wald's identity a worker finishes at most E[T - c_p]/E[T_p] tasks on average.
    For other laws there is no such bound, and this is 0.
    """
    require_tasks(tasks)
    needed = whole("critical", critical, "give the number of results that suffice (K)")
    light = tasks.std <= (1 + 1e-9) * tasks.mean
    if not (light.all() and all(issubclass(law, NEW_BETTER_THAN_USED) for law in tasks.law_types)):
        return 0.0
    return float(tasks.comm.min() + needed / (1 / tasks.pace).sum())


@checked
def genie_bound(cluster: Cluster, spec: CodeSpec, stream: Stream, condition: Switching | None = None) -> Forecast:
    """The forecast if every worker always had a next task: no split, redundancy or schedule of the tasks is sooner."""
    loads = np.full(len(cluster), spec.critical)
    return of_law(IterationLaw(cluster.tasks(spec), loads, spec.critical, condition=condition), stream)
