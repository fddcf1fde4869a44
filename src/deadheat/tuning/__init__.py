"""What to choose: the split, the code and the workers with the best forecast."""

from deadheat.tuning.exchanges import fastest
from deadheat.tuning.plans import Plan, plan
from deadheat.tuning.policies import POLICIES, Policy, policy
from deadheat.tuning.recruitment import Recruitment, Unreachable, recruit

__all__ = ["POLICIES", "Plan", "Policy", "Recruitment", "Unreachable", "fastest", "plan", "policy", "recruit"]
