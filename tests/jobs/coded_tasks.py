"""Jobs under a code in this process, by as few results as suffice, or by all."""

from __future__ import annotations

import math
from typing import Any

from deadheat.coding import Code
from deadheat.runtime import Converged, Workable
from deadheat.scheduling import Token


def in_process(job: Workable, code: Code | None = None, *, all_results: bool = False) -> Any:
    """The last state, where each iteration has the last results that suffice: parities where the code has any.

    all_results: where it has all of them.
    """
    program, state = job.program(code, math.inf), job.start
    tasks = list(range(program.code.total))
    while not all_results and program.code.decodable(tasks[1:]):
        tasks = tasks[1:]
    for iteration in range(program.iterations):
        program.begin(program.share(state), iteration)
        wanted = Token(lambda: False, iteration)
        state = program.step(state, program.decode({task: program.run(task, wanted) for task in tasks}), iteration)
        if isinstance(state, Converged):
            return state.state
    return state
