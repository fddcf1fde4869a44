"""Who gets how much: splits of an iteration's tasks, and the choice of a code by its mismatch."""

from deadheat.planning.algorithm1 import choose
from deadheat.planning.equalise import equalise
from deadheat.planning.fastest_split import fastest
from deadheat.planning.fixed_ratio import caps, in_ratio
from deadheat.planning.hcmm import hcmm, hcmm_redundancy
from deadheat.planning.mismatch import mismatch
from deadheat.planning.policies import POLICIES, Policy, policy
from deadheat.planning.proportional import proportional
from deadheat.planning.recruit import Recruitment, Unreachable, recruit
from deadheat.planning.rounding import apportion
from deadheat.planning.score import Moments, Quantile, Score
from deadheat.planning.split import split
from deadheat.planning.uniform import uniform
