"""A split: who gets how many of the tasks of an iteration."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from deadheat.errors import BadInput
from deadheat.model.arrays import Array, ArrayLike, IntArray
from deadheat.model.code_spec import CodeSpec


@dataclass(frozen=True, eq=False)
class Split:
    """Whole loads that sum to K*Omega, and the real shares they were rounded from.

    theta: the score that all active workers share (Theorem 2); NaN for a split that balances none.
    gamma: the weight of the second moment in that score, in 1/second. policy: by name.
    """

    spec: CodeSpec
    loads: IntArray
    shares: Array
    theta: float = math.nan
    gamma: float = 1.0
    policy: str = "given"

    def __post_init__(self) -> None:
        if not isinstance(self.spec, CodeSpec):
            raise BadInput("spec", self.spec, "not a CodeSpec", "give CodeSpec(critical, redundancy, work)")
        for field, kind in (("loads", np.int64), ("shares", np.float64)):
            try:
                values = np.array(getattr(self, field), kind)
            except (TypeError, ValueError):
                values = np.empty(())
            if values.ndim != 1:
                raise BadInput(field, getattr(self, field), "not a list of numbers", "give one number per worker")
            values.setflags(write=False)
            object.__setattr__(self, field, values)
        if (self.loads < 0).any():
            raise BadInput("loads", int(self.loads.min()), "a load is negative", "give whole numbers from 0 on")
        if self.loads.sum() != self.spec.total:
            problem = f"must sum to K*Omega = {self.spec.total}"
            raise BadInput("loads", int(self.loads.sum()), problem, "change loads or code")

    @classmethod
    def of(cls, loads: ArrayLike, spec: CodeSpec, gamma: float = 1.0) -> Self:
        counts = np.asarray(loads) if isinstance(loads, np.ndarray | list | tuple) else np.empty(())
        numbers = counts.ndim == 1 and counts.dtype.kind in "iuf"
        if not (numbers and (np.isfinite(counts) & (counts == np.floor(counts))).all()):
            raise BadInput("loads", loads, "not a list of whole numbers", "give one whole number per worker")
        return cls(spec, counts.astype(np.int64), counts.astype(float), gamma=gamma)

    def must_fit(self, workers: int) -> None:
        if len(self.loads) != workers:
            problem = f"{len(self.loads)} loads for {workers} workers"
            raise BadInput("split", self, problem, "use a split of this cluster")

    @property
    def active(self) -> int:
        """How many workers get a task."""
        return int(np.count_nonzero(self.loads))

    def __repr__(self) -> str:
        shown = ", ".join(map(str, self.loads[:12])) + (", ..." if len(self.loads) > 12 else "")
        return f"Split({self.policy}: {shown}; theta {self.theta:.6g}, {self.active} of {len(self.loads)} active)"
