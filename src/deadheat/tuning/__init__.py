"""What to choose: the split, the code and the workers with the best forecast."""

from deadheat.tuning.fastest import fastest
from deadheat.tuning.policies import POLICIES, Policy, policy
from deadheat.tuning.recruit import Recruitment, Unreachable, recruit

__all__ = ["POLICIES", "Policy", "Recruitment", "Unreachable", "fastest", "policy", "recruit"]
