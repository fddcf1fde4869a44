"""What does happen: the driver of the master, workers on local processes and on Ray, runs and pools."""

from deadheat.runtime.checkpoint import Checkpoints
from deadheat.runtime.chunk_program import ChunkProgram, LoadedChunks
from deadheat.runtime.delivery import Delivery, JobFailed
from deadheat.runtime.driver import Driver, NobodyCame, NoWorkers
from deadheat.runtime.emulation import Emulation, emulations
from deadheat.runtime.engines.local_engine import LocalEngine
from deadheat.runtime.engines.quota import NoQuotas
from deadheat.runtime.engines.ray_engine import RayEngine, RayMissing
from deadheat.runtime.event_log import BadLog, Replayed, replay
from deadheat.runtime.job import Converged, Job, Workable, code_of_sum, grouped, in_series
from deadheat.runtime.measure import Measured, NothingMeasured, measure
from deadheat.runtime.options import ENGINES, Options
from deadheat.runtime.outcome import Compared, Outcome, WorkerReport
from deadheat.runtime.pool import Pool
from deadheat.runtime.run import Run, run
