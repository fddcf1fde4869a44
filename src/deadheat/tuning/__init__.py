"""What to choose: the split, the code and the workers with the best forecast."""

from deadheat.tuning.fastest import fastest
from deadheat.tuning.plan import Plan, plan
from deadheat.tuning.policies import POLICIES, Policy, policy
from deadheat.tuning.recruit import Recruitment, Unreachable, recruit

__all__ = ["POLICIES", "Plan", "Policy", "Recruitment", "Unreachable", "fastest", "plan", "policy", "recruit"]
