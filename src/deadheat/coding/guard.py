"""The guard: no answer rather than one that rounding has spoilt."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deadheat.coding.decoding_errors import IllConditioned
from deadheat.coding.decoding_recipe import Recipe
from deadheat.coding.precision import DType, rounding, tolerance
from deadheat.errors import BadInput
from deadheat.model import AnyArray, Array

AS_PLAIN = 8.0  # times what a plain sum of the data loses: within it, an answer is as good as that of a serial run
ALWAYS = 1e-12  # of the terms may be lost, whatever they add up to: no step asks for more digits of what it adds
BESIDE = 10.0  # times the tolerance is what rounding may be beside an element of the answer
MANY = 0.25  # of the elements, for which it may be more: some elements of every sum are small by accident
SAMPLE = 2**12  # elements, times rows of the target, that are looked at, where decoding looks at all (bench_decode)
SURE = 0.1  # the typical error up to which whole numbers can be rounded: half is five times as much


@dataclass(frozen=True, eq=False)
class Guard:
    """Judges one decoding: by its recipe before, and by its answer after. Each method may raise IllConditioned.

    data: the type of what the results were mixed from, as far as that is known. remedy: what can be done.
    exact: whether what the weights miss is an error. sums: whether the answer is a sum, and not blocks side by side.
    """

    family: str
    recipe: Recipe
    results: Mapping[int, AnyArray]
    data: DType
    remedy: str
    exact: bool
    sums: bool

    @cached_property
    def kinds(self) -> set[DType]:
        return {self.results[task].dtype for task in self.recipe.done}

    @cached_property
    def lost(self) -> float:
        """Which part of the terms is lost: the rounding of the results as it grows, or what the weights miss."""
        return max(self.recipe.growth * rounding(self.kinds), self.recipe.residual if self.exact else 0.0)

    def check_weights(self, limit: float | None) -> None:
        """No more may be lost than the precision of the results allows, or `limit` times their rounding.

        It may be as much as the rounding of the data, where the results are more precise than that.
        """
        if limit is not None and not limit > 0:
            raise BadInput("limit", limit, "must be above 0", "give by how much rounding errors may grow, such as 1e7")
        eps = rounding(self.kinds)
        allowed = max(tolerance(self.kinds), rounding([self.data])) if limit is None else limit * eps
        if not self.lost <= allowed:
            raise self._refusal(allowed, self.remedy)

    def check_cancellation(self, target: AnyArray) -> None:
        """Where the terms cancel, what is lost of them may be all of the answer.

        Near convergence gradients add up to a millionth of their size: an error of 1e-6 of the terms is too much then.
        So the answer is judged by its own size, a sum element by element, the blocks of a product, some of which may be
        zero, by their average; its typical error is eps |weights| |results|. But a plain sum loses digits too, eps of
        the data: an error of up to 8 times that, or of 1e-12 of the terms, is accepted whatever they add up to, and the
        elements are not looked at.
        """
        allowed = max(AS_PLAIN * rounding([self.data]), ALWAYS)
        places = self.recipe.places
        if self.lost <= allowed or not places.size:
            return
        step = max(target[0].size * places.size // SAMPLE, 1)
        sample = np.abs(target.reshape(len(target), -1)[:, ::step])
        elements = sample[places] if self.sums else np.maximum(sample[places], np.sqrt(np.mean(sample**2)))
        beside = min(BESIDE * tolerance(self.kinds), 0.5)
        if np.count_nonzero(self._errors(step) > beside * elements) > MANY * elements.size:
            raise self._refusal(allowed, f"the terms cancel: {self.remedy}")

    def check_whole_numbers(self) -> None:
        """The nearest whole number must be the right one."""
        if self.recipe.places.size and self._errors(1).max(initial=0.0) > SURE:
            raise self._refusal(SURE, f"whole numbers this large need more digits: {self.remedy}")

    def rounding_of_answer(self) -> float:
        """The norm of all errors of the answer, beyond which what should be zero is not."""
        sizes = np.array([[np.linalg.norm(self.results[task])] for task in self.recipe.done])
        errors = np.linalg.norm(self.recipe.spread(sizes)) * rounding(self.kinds)
        return float(errors + self.recipe.residual * np.linalg.norm(sizes))

    def _errors(self, step: int) -> Array:
        """The typical error of every `step`-th element of the rows that are mixed."""
        eps = {kind: rounding([kind]) for kind in self.kinds}
        used = [self.results[task] for task in self.recipe.done]
        errors = np.stack([eps[result.dtype] * np.abs(np.reshape(result, -1)[::step]).astype(float) for result in used])
        largest = errors.max(initial=0.0) or 1.0  # squares may overflow
        return largest * self.recipe.spread(errors / largest)

    def _refusal(self, allowed: float, remedy: str) -> IllConditioned:
        eps = rounding(self.kinds)
        return IllConditioned(self.family, tuple(self.results), self.lost / eps, allowed / eps, remedy)
