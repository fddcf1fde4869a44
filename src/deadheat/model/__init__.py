"""The nouns: workers, clusters, codes' parameters, streams, splits, laws and scenarios."""

from deadheat.model.arrays import AnyArray, Array, BoolArray, IntArray
from deadheat.model.assignment import assignment_moments
from deadheat.model.cluster import Cluster
from deadheat.model.code_spec import CodeSpec
from deadheat.model.engine_spec import EngineSpec
from deadheat.model.overhead import Overhead
from deadheat.model.scenario import Scenario
from deadheat.model.split import Split
from deadheat.model.stream import Stream
from deadheat.model.switching import Switching
from deadheat.model.trace import Timeline, Trace
from deadheat.model.worker import Worker
from deadheat.model.workload import Search, Workload

__all__ = [
    "AnyArray",
    "Array",
    "BoolArray",
    "Cluster",
    "CodeSpec",
    "EngineSpec",
    "IntArray",
    "Overhead",
    "Scenario",
    "Search",
    "Split",
    "Stream",
    "Switching",
    "Timeline",
    "Trace",
    "Worker",
    "Workload",
    "assignment_moments",
]
