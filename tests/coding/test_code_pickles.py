"""Codes, recipes, shapes and errors go to other processes and come back as they were."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from code_specimens import SMALL, small

from deadheat.coding import FAMILIES, IllConditioned, Undecodable, certify, codes
from deadheat.errors import BadInput, DeadheatError


@pytest.mark.parametrize("name", SMALL)
def test_a_recipe_survives_pickle(name: str) -> None:
    code, rng = small(name), np.random.default_rng(0)
    recipe = code.recipe(range(code.total))
    assert recipe is not None
    there = pickle.loads(pickle.dumps(recipe))
    results = list(rng.standard_normal((len(recipe.done), 3, 2)))
    assert (there.done, there.gain, there.residual) == (recipe.done, recipe.gain, recipe.residual)
    assert np.array_equal(there.apply(results), recipe.apply(results))


def test_a_code_that_has_decoded_much_travels_light() -> None:
    """What it keeps for itself it can make again: a worker gets the code, not the master's memory."""
    code = codes.cyclic(55, 5)
    fresh = len(pickle.dumps(code))
    rng = np.random.default_rng(0)
    for _ in range(200):
        code.recipe(rng.choice(55, 50, replace=False).tolist())
    assert len(pickle.dumps(code)) < 1.5 * fresh


@pytest.mark.parametrize(
    "error",
    [
        Undecodable("cyclic", [0, 1], 5, [3]),
        IllConditioned("cyclic", [0, 1], 1e9, 1e7, "wait for one more result"),
        BadInput("critical", 9, "more than there are", "take fewer"),
    ],
)
def test_an_error_comes_back_with_its_numbers(error: DeadheatError) -> None:
    there = pickle.loads(pickle.dumps(error))
    assert type(there) is type(error)
    assert str(there) == str(error)
    assert vars(there) == vars(error)


def test_shapes_and_certificates_survive_pickle() -> None:
    for family in FAMILIES.values():
        for kind in family.kinds:
            for shape in family.shapes(kind, 5, 9):
                there = pickle.loads(pickle.dumps(shape))
                assert there.build().total == shape.total
                assert there.cost == shape.cost
    found = certify(codes.cyclic(7, 2))
    assert pickle.loads(pickle.dumps(found)) == found
