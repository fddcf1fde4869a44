"""The K-th result where workers take one task after the other: for thousands of iterations at once."""

import numpy as np

from deadheat.model import Array
from deadheat.scheduling.schedules.schedule import Draws


def first_results(batch: Draws, most: int, held: int = 1) -> Array:
    """The K-th smallest of all workers' results, where every worker goes on for ever (at most `most` tasks in all).

    held: how many tasks a worker has in hand. As many results are drawn as are needed: a worker whose last drawn
    result is earlier than the K-th of all could have delivered more.
    """
    tasks, critical = batch.tasks, batch.critical
    counts = np.maximum(np.ceil(1.5 * critical / tasks.pace / (1 / tasks.pace).sum()), 2).astype(int) + 2
    while True:
        drawn = [batch.ends(p, min(int(counts[p]), critical)) for p in range(len(tasks))]
        last = kth(_of_the_first(drawn, critical, most, held), critical)
        short = [p for p, row in enumerate(drawn) if counts[p] < critical and (row[-1] < last).any()]
        if not short:
            return last
        counts[short] *= 2


def _of_the_first(drawn: list[Array], critical: int, most: int, held: int) -> Array:
    """Results of the `most` tasks that are taken first; later ones do not exist."""
    everything = np.concatenate(drawn).T
    if everything.shape[1] <= most or most >= critical + held * len(drawn) - 1:
        return everything  # K results need at most so many taken tasks
    # A worker takes `held` tasks at the start, in turns with the others, then one with each result.
    turn = np.concatenate([np.arange(len(rows)) for rows in drawn])
    order = np.argsort(turn, kind="stable")
    taken = np.concatenate([np.vstack([np.zeros((held, rows.shape[1])), rows])[: len(rows)] for rows in drawn]).T
    taken = np.where(np.isfinite(everything), taken, np.inf)[:, order]  # a worker that is away takes none
    everything = everything[:, order]
    exist = np.argsort(taken, axis=1, kind="stable")[:, :most]
    results = np.full_like(everything, np.inf)
    np.put_along_axis(results, exist, np.take_along_axis(everything, exist, axis=1), axis=1)
    return results


def kth(ends: Array, critical: int) -> Array:
    """The K-th smallest of each row."""
    return np.asarray(np.partition(ends, critical - 1, axis=1)[:, critical - 1])
