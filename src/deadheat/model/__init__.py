"""The nouns: workers, clusters, codes' parameters, streams, splits, laws, intervals and scenarios."""

from deadheat.model import laws, special
from deadheat.model.arrays import AnyArray, Array, ArrayLike, BoolArray, IntArray
from deadheat.model.assignment_moments import assignment_moments, start_scores
from deadheat.model.checked import checked
from deadheat.model.cluster import Cluster, Tasks, require_tasks
from deadheat.model.code_spec import CodeSpec
from deadheat.model.engine_spec import EngineSpec
from deadheat.model.interval import Interval, interval
from deadheat.model.laws import Law, as_law, fit
from deadheat.model.overhead import NONE, Overhead
from deadheat.model.paper_finding import Claim, Finding, Picture
from deadheat.model.quantity import UNSEEN, count, quantity
from deadheat.model.registry import Registry
from deadheat.model.scenario import EVERYTHING, Scenario
from deadheat.model.split import Split
from deadheat.model.stream import Stream
from deadheat.model.switching import Switching
from deadheat.model.time_limit import allowed, answer_in_seconds
from deadheat.model.trace import Timeline, Trace
from deadheat.model.worker import Worker
from deadheat.model.workload import Search, Workload
