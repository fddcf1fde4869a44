"""The paper's remarks as advice: which workers are not used and why, and whether one more would help."""

import math

from deadheat.model import Cluster, Split, Worker, checked, start_scores


@checked
def would_be_used(worker: Worker, split: Split) -> bool:
    """Whether a further worker would get a task, a_p < theta; one that would not makes no queue stable (Remark 2)."""
    return not float(start_scores(Cluster([worker]).tasks(split.spec), split.gamma)[0]) >= split.theta


def reasons(cluster: Cluster, split: Split) -> list[str]:
    """For each worker an empty text if it has tasks, else why it has none."""
    tasks = cluster.tasks(split.spec)
    starts = start_scores(tasks, split.gamma)

    def reason(p: int) -> str:
        if split.loads[p] > 0:
            return ""
        if tasks.capacity[p] < tasks.shared_chunks + 1:
            return "its capacity holds no task"
        if starts[p] >= split.theta:  # never, where theta is NaN
            return f"its comm is too large: a_p = {starts[p]:.4g} >= theta = {split.theta:.4g}"
        if math.isnan(split.theta) or split.shares[p] <= 0:
            return "given none by the policy"
        return f"its share of {split.shares[p]:.2g} rounds to no task"

    return [reason(p) for p in range(len(tasks))]
