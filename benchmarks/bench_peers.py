"""What users would pick instead, on the same emulated unequal workers, the same problem, in one run.

Softmax regression by gradient descent, 55 chunks. A chunk takes worker p an exponential time of mean m_p, and an order
c_p, whoever gives it: the peers sleep by the same laws. A serial run is one process at the speed of the fastest.
"""

from __future__ import annotations

import importlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

import deadheat as dh
from benchmarks.timing import Row
from deadheat.coding import Code
from deadheat.jobs import Fit, arrays, softmax
from deadheat.model import Array
from deadheat.scheduling import Token

MEANS = (0.9e-3, 0.7e-3, 1.6e-3, 3.6e-3, 0.8e-3)  # seconds per chunk
COMMS = (4e-3, 5e-3, 8e-3, 5e-3, 9e-3)  # seconds per iteration
CHUNKS, ITERATIONS, ROUNDS = 55, 30, 3
WEIGHTS = 8 * 27  # bytes of the state: 9 columns of 3 classes
RESULT = WEIGHTS + 16  # gradient, loss and number of rows
WANTED = Token(lambda: False)
MOVED = {  # chunks computed, and bytes moved, in an iteration: by counting
    "deadheat, Theorem 2, uncoded": (CHUNKS, 5 * WEIGHTS + CHUNKS * RESULT),
    "deadheat, Theorem 2, cyclic 50 of 55": (CHUNKS + 5 * 5, 5 * WEIGHTS + CHUNKS * RESULT),
    "serial, fastest worker": (CHUNKS, 0),
    "joblib, even": (CHUNKS, 5 * (WEIGHTS + RESULT)),
    "Ray actors, even": (CHUNKS, 5 * (WEIGHTS + RESULT)),
    "Ray actors, pulled": (CHUNKS, CHUNKS * (WEIGHTS + RESULT)),
    "PyTorch gloo, even": (CHUNKS, 5 * 2 * RESULT),
}


def problem() -> dh.Job:
    """Synthetic data of three classes."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 2200)
    x = rng.normal(size=(2200, 8)) + 2 * np.eye(3, 8)[labels]
    descent = {"step": "descent", "rate": 0.5, "iterations": ITERATIONS, "tolerance": 0.0, "chunks": CHUNKS}
    return softmax(arrays(x, labels), 3, l2=1e-3, **descent)


def share(job: dh.Job, weights: Array, chunks: Sequence[int], p: int, rng: np.random.Generator) -> Array:
    """Worker p's part of an iteration: its chunks one after the other, stretched to its law."""
    time.sleep(COMMS[p])
    began, took = time.perf_counter(), 0.0
    total = np.zeros(weights.size + 2)
    for chunk in chunks:
        total += job.compute(weights, job.chunks[chunk], WANTED)
        took += rng.exponential(MEANS[p])
    time.sleep(max(took - (time.perf_counter() - began), 0.0))
    return total


def stepped(job: dh.Job, fit: Fit, total: Array, iteration: int) -> Fit:
    """The master's step."""
    new = job.step(fit, total, iteration)
    assert isinstance(new, Fit)
    return new


def looped(iteration: Callable[[Array], Array]) -> tuple[float, float]:
    """Seconds per iteration, and the last loss, of a loop that sums over the chunks like this."""
    job = problem()
    assert job.share is not None
    fit, times = job.start, []
    for number in range(ITERATIONS):
        began = time.perf_counter()
        fit = stepped(job, fit, iteration(job.share(fit)), number)
        times.append(time.perf_counter() - began)
    return float(np.mean(times)), fit.loss


def ours(code: Code | None, policy: str) -> tuple[float, float]:
    """deadheat on local processes."""
    cluster = dh.Cluster([dh.Worker(m, m, c) for m, c in zip(MEANS, COMMS, strict=True)])
    done = dh.run(problem(), cluster, code, policy=policy, emulate=True, work=CHUNKS, adapt=False).wait()
    return done.outcome.compared[0].measured.mean, done.state.loss


def serial() -> tuple[float, float]:
    """One process."""
    job, rng = problem(), np.random.default_rng(1)
    return looped(lambda weights: share(job, weights, range(CHUNKS), int(np.argmin(MEANS)), rng))


def even() -> list[list[int]]:
    """Equal shares."""
    return [part.tolist() for part in np.array_split(np.arange(CHUNKS), len(MEANS))]


def with_joblib() -> tuple[float, float]:
    """joblib's processes, equal shares."""
    joblib = importlib.import_module("joblib")
    job, parts, numbers = problem(), even(), count()
    with joblib.Parallel(n_jobs=len(MEANS)) as pool:

        def iteration(weights: Array) -> Array:
            seeds = np.random.default_rng(next(numbers)).integers(0, 2**31, len(MEANS))
            calls = (
                joblib.delayed(share)(job, weights, part, p, np.random.default_rng(int(seed)))
                for p, (part, seed) in enumerate(zip(parts, seeds, strict=True))
            )
            return np.asarray(sum(pool(calls)))

        iteration(job.start.weights)
        return looped(iteration)


class RayShare:
    """An actor with the speed of worker p; it holds the data."""

    def __init__(self, p: int) -> None:
        self.p, self.job, self.rng = p, problem(), np.random.default_rng(p)

    def work(self, weights: Array, chunks: Sequence[int]) -> Array:
        """Its chunks."""
        return share(self.job, weights, chunks, self.p, self.rng)


def with_ray(pulled: bool) -> tuple[float, float]:
    """Ray actors with equal shares, or each chunk to whoever is free (who then waits for its comm each time)."""
    ray: Any = importlib.import_module("ray")
    actors = [ray.remote(RayShare).remote(p) for p in range(len(MEANS))]
    parts = even()

    def shared(weights: Array) -> Array:
        seen = ray.put(weights)
        return np.asarray(sum(ray.get([a.work.remote(seen, part) for a, part in zip(actors, parts, strict=True)])))

    def one_by_one(weights: Array) -> Array:
        seen, left, total = ray.put(weights), list(range(CHUNKS)), 0.0
        under_way = {a.work.remote(seen, [left.pop()]): a for a in actors}
        while under_way:
            (ready,), _ = ray.wait(list(under_way), num_returns=1)
            actor = under_way.pop(ready)
            total = total + ray.get(ready)
            if left:
                under_way[actor.work.remote(seen, [left.pop()])] = actor
        return np.asarray(total)

    iteration = one_by_one if pulled else shared
    iteration(problem().start.weights)
    seconds, loss = looped(iteration)
    for actor in actors:
        ray.kill(actor)
    return seconds, loss


def ddp_rank(rank: int, folder: str) -> None:
    """One process of PyTorch DDP's kind of training: equal batches, gradients added by gloo."""
    torch: Any = importlib.import_module("torch")
    torch.distributed.init_process_group("gloo", f"file://{folder}/meet", rank=rank, world_size=len(MEANS))
    torch.set_num_threads(1)
    job, rng, part = problem(), np.random.default_rng(rank), even()[rank]

    def iteration(weights: Array) -> Array:
        total = torch.from_numpy(share(job, weights, part, rank, rng))
        torch.distributed.all_reduce(total)
        return np.asarray(total.numpy())

    seconds, loss = looped(iteration)
    if rank == 0:
        print(seconds, loss)
    torch.distributed.destroy_process_group()


def with_ddp() -> tuple[float, float]:
    """Five processes over gloo."""
    with tempfile.TemporaryDirectory() as folder:
        call = "import sys; from benchmarks.bench_peers import ddp_rank; ddp_rank(int(sys.argv[1]), sys.argv[2])"
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", call, str(rank), folder], stdout=subprocess.PIPE, text=True,
                cwd=Path(__file__).parents[1],
            )
            for rank in range(len(MEANS))
        ]  # fmt: skip
        printed = [process.communicate(timeout=120)[0] for process in processes]
    seconds, loss = map(float, printed[0].split())
    return seconds, loss


def rows() -> list[Row]:
    """Our best plain way and our coded one against each peer; all must reach the same loss."""
    ray: Any = importlib.import_module("ray")
    ray.init(num_cpus=8, include_dashboard=False, log_to_driver=False)
    reuse = dh.codes.cyclic(CHUNKS, 5, reuse=True)
    peers: dict[str, Callable[[], tuple[float, float]]] = {
        "deadheat, Theorem 2, uncoded": lambda: ours(None, "optimal"),
        "deadheat, Theorem 2, cyclic 50 of 55": lambda: ours(reuse, "optimal"),
        "serial, fastest worker": serial,
        "joblib, even": with_joblib,
        "Ray actors, even": lambda: with_ray(False),
        "Ray actors, pulled": lambda: with_ray(True),
        "PyTorch gloo, even": with_ddp,
    }
    taken: dict[str, list[float]] = {name: [] for name in peers}
    losses: dict[str, float] = {}
    for _ in range(ROUNDS):
        for name, peer in peers.items():
            seconds, losses[name] = peer()
            taken[name].append(seconds)
    ray.shutdown()
    assert max(losses.values()) - min(losses.values()) < 1e-9, losses
    best = min(list(peers)[:2], key=lambda name: statistics.median(taken[name]))
    our_seconds = statistics.median(taken[best])
    table = []
    for name, times in taken.items():
        if name != best:
            against = f"{_described(name)} [{min(times):.4f} to {max(times):.4f}]"
            table.append(Row(_described(best), our_seconds, against, statistics.median(times), 1.0))
    return table


def _described(name: str) -> str:
    chunks, moved = MOVED[name]
    return f"{name} ({chunks} chunks, {moved / 1000:.1f} kB)"
