"""A master on sampled time, without results: thousands of iterations in a few seconds."""

from __future__ import annotations

from collections.abc import Sequence

import deadheat as dh
from deadheat.coding import Code
from deadheat.runtime import Driver
from deadheat.runtime.driver import Listener
from deadheat.scheduling import Estimates, Master, Program
from deadheat.simulation import VirtualEngine


def program(code: Code, work: float, iterations: int) -> Program:
    """A job whose tasks are of so much work each."""
    return Program(code, work=work / code.cost.work, iterations=iterations)


def driver(
    cluster: dh.Cluster, job: Program, seed: int, estimates: Estimates, listeners: Sequence[Listener] = ()
) -> Driver:
    """A driver whose workers have joined; they are split by what was declared of them."""
    engine = VirtualEngine(cluster, dh.split(cluster, job.spec), seed, compute=False)
    driver = Driver(Master(estimates, adapt=False), engine, list(listeners))
    assert driver.gather(len(cluster)) == len(cluster)
    return driver


def run_through(driver: Driver, job: Program) -> None:
    """The job, to its end."""
    driver.submit(job, None)
    delivered = 0
    while len(driver):
        delivered += len(driver.turn(None))
    assert delivered == 1
