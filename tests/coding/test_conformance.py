"""Every family through one suite: decode after encode is exact, and `decodable` is right, on every set tried."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from code_specimens import LARGE, MIDDLE, SMALL, large, middle, small

from deadheat.coding import FAMILIES, Code, LinearCode, codes
from deadheat.coding.conformance import (
    CHECKS,
    check_decodable,
    check_decoding,
    check_finish,
    check_pattern,
    subsets,
    trial,
)
from deadheat.model import AnyArray, Array, IntArray

RANDOM = int(os.environ.get("DEADHEAT_PATTERNS", "500"))  # of the large codes; they take a minute
QUICK = {"mds"}  # large codes with little to solve

every_small = pytest.mark.parametrize("name", SMALL)
every_middle = pytest.mark.parametrize("name", MIDDLE)
every_large = pytest.mark.parametrize("name", LARGE)


def test_no_family_is_left_out() -> None:
    approximate = {"bernoulli"}  # has its own tests
    assert {small(name).family for name in SMALL} == set(FAMILIES) - approximate
    assert {middle(name).family for name in MIDDLE} == set(FAMILIES) - approximate


@every_large
def test_large_codes_are_large(name: str) -> None:
    assert 185 <= large(name).critical <= 280
    assert large(name).total <= 300


def test_no_family_is_left_out_of_the_large_ones() -> None:
    assert {large(name).family for name in LARGE} == set(FAMILIES) - {"bernoulli", "paper"}  # the paper's has one size


def test_the_kinds_of_each_family_are_those_it_is_listed_with() -> None:
    for name in SMALL:
        assert small(name).kind in FAMILIES[small(name).family].kinds


@every_small
@pytest.mark.parametrize("check", CHECKS)
def test_small_codes_pass_the_suite(name: str, check: Callable[[Code], None]) -> None:
    check(small(name))


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("degree", [2, 4, 12])
def test_an_approximate_code_passes_the_suite(degree: int, check: Callable[[Code], None]) -> None:
    check(codes.bernoulli(8, 12, degree))


@every_small
def test_small_codes_decode_single_precision(name: str) -> None:
    check_decoding(small(name), precision="f")


@every_middle
def test_middle_codes_decode_after_any_lost_block_and_500_random_losses(name: str) -> None:
    check_decoding(middle(name), random=500)


@every_middle
def test_middle_codes_decode_single_precision(name: str) -> None:
    check_decoding(middle(name), random=25, precision="f")


@every_large
def test_large_codes_decode_after_any_lost_block_and_random_losses(name: str) -> None:
    check_decoding(large(name), random=500 if name in QUICK else RANDOM)


@every_middle
def test_decodable_is_right_about_random_subsets(name: str) -> None:
    check_decodable(middle(name), subsets(middle(name), each=8))


@every_small
def test_an_iteration_is_over_with_the_first_decodable_prefix(name: str) -> None:
    check_finish(small(name), 60)


@every_middle
def test_an_iteration_of_many_tasks_is_over_with_the_first_decodable_prefix(name: str) -> None:
    check_finish(middle(name), 12)


@every_small
def test_a_recipe_is_made_once_per_pattern(name: str) -> None:
    code = small(name)
    done = list(range(code.total))
    assert code.recipe(done) is code.recipe(done[::-1])


def test_the_papers_example_decodes_from_any_two_of_three() -> None:
    code = codes.paper_example()
    assert code.rows.tolist() == [[1, 0, 0.5], [1, -1, 0], [0, 1, 0.5]]  # the matrix B of the appendix
    gradients = np.array([[1.0, 2.0], [3.0, -4.0], [5.0, 0.5]])
    results = [code.mix(task, list(gradients)) for task in range(3)]
    for done in combinations(range(3), 2):
        assert code.decodable(done)
        assert code.decode({task: results[task] for task in done}) == pytest.approx([9.0, -1.5], rel=1e-14)
    assert not any(code.decodable([task]) for task in range(3))


def test_the_suite_would_see_a_code_that_decodes_wrongly() -> None:
    """A negative control: one weight of one task off by a part in a million."""
    code, work = codes.cyclic(7, 2), trial(codes.cyclic(7, 2))
    work.results[3] = work.results[3] * (1 + 1e-6)
    with pytest.raises(AssertionError, match="off by"):
        check_pattern(code, work, [0, 1, 2, 3, 4], [5, 6], 1e-8)


def test_the_suite_would_see_a_set_that_is_judged_wrongly() -> None:
    """A negative control: a code that says K = 4 where 5 results are needed, or 6."""
    for claimed in (4, 6):
        with pytest.raises(AssertionError, match="judged wrongly"):
            check_decodable(replace(codes.cyclic(7, 2), critical=claimed))


class Loud(LinearCode):
    def mix(self, task: int, values: Any) -> AnyArray:
        return super().mix(task, values) * (1 + 1e-6 * (task == 3))


class Late(LinearCode):
    def finish(self, ends: Array) -> Array:
        return np.asarray(ends.max(axis=1))


class Careless(LinearCode):
    def decode(self, results: Mapping[int, Any], *more: Any) -> AnyArray:
        return super().decode({task: np.nan_to_num(value) for task, value in results.items()}, *more)


class Greedy(LinearCode):
    def support(self, task: int) -> tuple[IntArray, AnyArray]:
        return np.arange(self.chunks), self._inputs[task]


class Forgetful(LinearCode):
    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"critical": self.critical + 1}


@pytest.mark.parametrize(
    ("kind", "check"),
    [(Loud, CHECKS[0]), (Late, CHECKS[2]), (Careless, CHECKS[3]), (Greedy, CHECKS[4]), (Forgetful, CHECKS[5])],
)
def test_each_check_would_see_its_fault(kind: type[LinearCode], check: Callable[[Code], None]) -> None:
    good = codes.cyclic(7, 2)
    check(good)
    with pytest.raises(AssertionError):
        check(kind(**{field.name: getattr(good, field.name) for field in fields(good)}))
