"""Who worked on what when: the tasks of simulated iterations as a timeline."""

import numpy as np

from deadheat.model import Array, Split, Tasks, Timeline


def timeline_of(
    tasks: Tasks, split: Split, ends: Array, lengths: Array, begun: Array, iterations: int, first_job: int
) -> Timeline:
    """The tasks of iterations under a static split, in order.

    ends: when each of the n results arrives, (iterations in all, n), worker by worker, since the iteration's start.
    lengths, begun: how long each iteration lasts and when it begins. A task whose result would be later than that is
    purged: it ends there, and the tasks behind it are never begun.
    """
    owner = np.repeat(np.arange(len(tasks)), split.loads)
    first = np.append(True, owner[1:] != owner[:-1])
    begins = np.empty_like(ends)
    begins[:, 1:] = ends[:, :-1]
    begins[:, first] = tasks.comm[owner[first]]
    real = begins < lengths[:, None]
    sizes = np.count_nonzero(real, axis=1)
    job, iteration = np.divmod(np.arange(len(ends), dtype=np.int32), np.int32(iterations))
    job += np.int32(first_job)
    workers = np.broadcast_to(owner.astype(np.int32), ends.shape)[real]
    done = ends <= lengths[:, None]
    begins += begun[:, None]
    until = np.minimum(ends, lengths[:, None])
    until += begun[:, None]
    return Timeline(
        job=np.repeat(job, sizes), iteration=np.repeat(iteration, sizes), worker=workers, begin=begins[real],
        end=until[real], done=done[real],
    )  # fmt: skip
