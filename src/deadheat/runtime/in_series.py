"""A job in one process, task after task: what every run must agree with."""

import math
from typing import Any

from deadheat.runtime.job import Converged, Workable
from deadheat.scheduling import Token


def in_series(job: Workable) -> Any:
    """The last state of the job, computed here without workers and without a code."""
    program, state = job.program(None, math.inf), job.start
    for iteration in range(program.iterations):
        program.begin(program.share(state), iteration)
        wanted = Token(lambda: False, iteration)
        results = {task: program.run(task, wanted) for task in range(program.code.total)}
        state = program.step(state, program.decode(results), iteration)
        if isinstance(state, Converged):
            return state.state
    return state
