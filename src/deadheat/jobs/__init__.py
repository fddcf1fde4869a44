"""What people compute: jobs ready to be run."""

from deadheat.jobs.from_scenario import ScenarioRun, from_scenario
from deadheat.jobs.job_tables import result_of
from deadheat.jobs.matrix_jobs import MatrixJob, ProductJob, TransformJob
from deadheat.jobs.python_file import jobs_of
from deadheat.jobs.regression import Fit, least_squares, logistic, regression, softmax, synthetic_least_squares
from deadheat.jobs.rollouts import Rollouts, redundancy_for
from deadheat.jobs.solvers import conjugate_gradients, jacobi, pagerank, power_iteration, ridge
from deadheat.jobs.sources import arrays, source_of
from deadheat.runtime import in_series
