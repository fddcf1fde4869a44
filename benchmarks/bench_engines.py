"""What an iteration costs beside the work: empty tasks, and large states and results, against bare loops.

The bare loops do nothing but carry the same messages over the same channel: no tickets, no decoding, no estimates.
"""

from __future__ import annotations

import importlib
import multiprocessing
import statistics
import time
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np

import deadheat as dh
from benchmarks.timing import Row
from deadheat.model import Array
from deadheat.scheduling import Estimates
from deadheat.scheduling.adaptive_split import AdaptiveSplit

WORKERS, TASKS = 5, 11  # per worker
LARGE = 1_000_000  # doubles: 8 MB
ITERATIONS = 60
ROUNDS = 3


def nothing(state: Array, chunk: int) -> Array:
    """An empty task."""
    return state


def same(state: Array, total: Array, iteration: int) -> Array:
    """An empty step."""
    return state


def ours(engine: str, tasks: int, size: int) -> float:
    """Seconds per iteration of a whole run, with the master, decoding and estimates; what the start costs left out."""
    job = dh.Job(list(range(WORKERS * tasks)), nothing, np.zeros(size), same, ITERATIONS)
    record = dh.run(job, workers=WORKERS, engine=engine, adapt=False, policy="uniform").wait().record
    return statistics.median(a + b for a, b in zip(record.iterations[5:], record.at_master[5:], strict=True))


def echo(pipe: Connection) -> None:
    """The bare worker: as many small messages as it is asked for."""
    while True:
        tasks, state = pipe.recv()
        for task in range(tasks):
            pipe.send((task, 0.0, state))


def pipes() -> float:
    """Five processes, eleven small results of each through pipes."""
    context = multiprocessing.get_context("spawn")
    both = [context.Pipe() for _ in range(WORKERS)]
    processes = [context.Process(target=echo, args=(there,), daemon=True) for _, there in both]
    for process in processes:
        process.start()
    ends = [here for here, _ in both]

    def iteration() -> None:
        state = np.zeros(3)
        for end in ends:
            end.send((TASKS, state))
        missing = WORKERS * TASKS
        while missing:
            for ready in wait(ends):
                assert isinstance(ready, Connection)
                ready.recv()
                missing -= 1

    seconds = _median(iteration)
    for process in processes:
        process.kill()
    return seconds


def copies() -> float:
    """An 8 MB state to five and 8 MB back from each: laid into shared memory, read there, laid back."""
    state = np.ones(LARGE)
    segments = [SharedMemory(create=True, size=state.nbytes) for _ in range(WORKERS + 1)]
    views = [np.ndarray(LARGE, buffer=segment.buf) for segment in segments]

    def iteration() -> None:
        views[0][:] = state
        for view in views[1:]:
            view[:] = views[0]

    seconds = _median(iteration)
    views.clear()
    for segment in segments:
        segment.close()
        segment.unlink()
    return seconds


class Streamer:
    """The bare actor: as many small results as it is asked for, one by one."""

    def ready(self) -> None:
        """A sign of life."""

    def stream(self, tasks: int, state: Array) -> Any:
        """A streaming generator."""
        for task in range(tasks):
            yield task, 0.0, state


def streams() -> float:
    """Five actors, eleven small results of each by streaming generators, taken as they come."""
    ray: Any = importlib.import_module("ray")
    actors = [ray.remote(Streamer).remote() for _ in range(WORKERS)]
    ray.get([actor.ready.remote() for actor in actors])

    def iteration() -> None:
        state = ray.put(np.zeros(3))
        under_way = {a.stream.options(num_returns="streaming").remote(TASKS, state) for a in actors}
        while under_way:
            ready, _ = ray.wait(list(under_way), num_returns=1, fetch_local=False)
            for stream in ready:
                try:
                    ray.get(next(stream))
                except StopIteration:
                    under_way.discard(stream)

    seconds = _median(iteration)
    for actor in actors:
        ray.kill(actor)
    return seconds


def replanning() -> float:
    """A new split in every iteration: estimates to a cluster, Theorem 2 for five workers and 55 tasks."""
    cluster = dh.Cluster.from_columns([1e-3, 2e-3, 3e-3, 4e-3, 5e-3], 1e-4, 1e-3)
    estimates = Estimates(cluster)
    spec, adaptive = dh.CodeSpec(50, 1.1), AdaptiveSplit(estimates, dh.split, 1.0, adapt=True)
    workers = list(range(WORKERS))
    turn = iter(range(10**6))

    def moved() -> None:
        estimates[0].work.mean = 1e-3 * (1 + next(turn) % 2)  # far enough to be worth a new split
        adaptive.loads(0, spec, workers)

    seconds = _median(moved)
    assert adaptive.splits > ITERATIONS
    return seconds


def _median(iteration: Callable[[], None]) -> float:
    iteration()
    times = []
    for _ in range(ITERATIONS):
        began = time.perf_counter()
        iteration()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def _best_of(ours: Callable[[], float], bare: Callable[[], float]) -> tuple[float, float]:
    """Both in turns, since the machine is not equally fast all the time; medians."""
    pairs = [(ours(), bare()) for _ in range(ROUNDS)]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


def rows() -> list[Row]:
    """Small messages on both engines, large ones locally, and the planning between two iterations."""
    import ray

    local, pipe = _best_of(lambda: ours("local", TASKS, 3), pipes)
    large, shared = _best_of(lambda: ours("local", 1, LARGE), copies)
    ray.init(num_cpus=2 * WORKERS, include_dashboard=False, log_to_driver=False)
    on_ray, stream = _best_of(lambda: ours("ray", TASKS, 3), streams)
    ray.shutdown()
    return [
        Row("iteration, 55 empty tasks, local", local, "bare pipe loop", pipe, 2.0),
        Row("iteration, 55 empty tasks, Ray", on_ray, "bare streaming actors", stream, 1.5),
        Row("iteration, 8 MB to and from 5, local", large, "bare copies in shared memory", shared, 3.0),
        Row("a new split between two iterations", replanning(), "1 % of 100 ms", 1e-3, 1.0),
    ]
