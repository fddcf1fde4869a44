"""Engines: where workers are. `Engine` is the base class for one of your own, `checks` the suite that it must pass."""

from deadheat.runtime import Emulation, LocalEngine, RayEngine, emulations
from deadheat.runtime.conformance import CHECKS as checks  # noqa: N811
from deadheat.scheduling import Engine
from deadheat.simulation import VirtualEngine
