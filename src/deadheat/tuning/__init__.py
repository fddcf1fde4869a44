"""What to choose: the split, the code and the workers with the best forecast."""

from deadheat.tuning.judge import Choice
from deadheat.tuning.named_codes import shape_for
from deadheat.tuning.plan import Plan, plan
from deadheat.tuning.ranking import Ranking
from deadheat.tuning.tune import tune

__all__ = [
    "Choice",
    "Plan",
    "Ranking",
    "plan",
    "shape_for",
    "tune",
]
