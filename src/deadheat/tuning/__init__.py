"""What to choose: the split, the code and the workers with the best forecast."""

from deadheat.tuning.exchanges import fastest
from deadheat.tuning.judging import Choice
from deadheat.tuning.named_codes import shape_for
from deadheat.tuning.plans import Plan, plan
from deadheat.tuning.policies import POLICIES, Policy, policy
from deadheat.tuning.rankings import Ranking
from deadheat.tuning.recruitment import Recruitment, Unreachable, recruit
from deadheat.tuning.tuner import tune

__all__ = [
    "POLICIES",
    "Choice",
    "Plan",
    "Policy",
    "Ranking",
    "Recruitment",
    "Unreachable",
    "fastest",
    "plan",
    "policy",
    "recruit",
    "shape_for",
    "tune",
]
