"""What to choose: the split, the code and the workers with the best forecast."""

from deadheat.tuning.judge import Choice
from deadheat.tuning.ranking import Ranking
from deadheat.tuning.scenario_plan import Plan, plan, split_of
from deadheat.tuning.shape_for import shape_for
from deadheat.tuning.tune import tune
