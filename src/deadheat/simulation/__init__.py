"""What would happen: streams of jobs, simulated from exact laws, by fast paths or event by event."""

from deadheat.simulation.arrivals import gaps
from deadheat.simulation.batch import Batch
from deadheat.simulation.compare import Comparison, Scheme, compare
from deadheat.simulation.condition import Condition, Replay
from deadheat.simulation.effort import MOST_RUNS, most_runs, seconds_of_run
from deadheat.simulation.iteration_times import batches, times_of
from deadheat.simulation.lindley import starts
from deadheat.simulation.replicate import Replications, replicate, seeds
from deadheat.simulation.seeds import root
from deadheat.simulation.simulate import Purge, simulate
from deadheat.simulation.virtual_engine import VirtualEngine
