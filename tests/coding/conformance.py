"""What every code must do, as plain functions that take a code: for the families here and for those of a plug-in.

`trial` does real work of the code's kind (gradients, products of matrices, polynomials, Fourier transforms) and says
what the answer must be; the `check_` functions hold the code to it. `picture` and `determined` say, from what the code
does to data and not from its own matrices, which results determine an iteration.
"""

from __future__ import annotations

import pickle
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import inf, isfinite
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deadheat.coding import Code, IllConditioned, LinearCode, PeelingCode, Undecodable, encode
from deadheat.coding.assemble import Grid

Matrix = NDArray[Any]
Pattern = tuple[int, ...]
WITHIN = {"d": 1e-8, "f": 1e-4}  # relative error of an answer, by the precision of the results
ALL_UPTO = 12  # tasks up to which every K-subset is tried


@dataclass(frozen=True)
class Trial:
    """Work that was done: the result of every task, and the answer that it must come to."""

    results: list[Matrix]
    wish: Matrix

    def of(self, done: Iterable[int]) -> dict[int, Matrix]:
        """The results of those tasks, as they reach the master."""
        return {task: self.results[task] for task in done}

    def error(self, answer: Matrix) -> float:
        """How far an answer is off, as a part of the right one."""
        assert answer.shape == self.wish.shape
        return float(np.linalg.norm(answer - self.wish) / np.linalg.norm(self.wish))


# Work


def trial(code: Code, seed: int = 0, precision: str = "d") -> Trial:
    """One iteration of the code's kind on random data, every task done; precision "f" is single, "d" double."""
    rng = np.random.default_rng(seed)
    if not code.encoders:
        return _rounded(_mixed_results(code, rng), precision)
    work = {"linear": _linear, "product": _product, "function": _function, "transform": _transform}
    return _rounded(work[code.kind](code, rng), precision)


def chunks(code: Code) -> int:
    """How many chunks the tasks are made of, from what they ask for."""
    return 1 + max(int(code.support(task)[0].max(initial=0)) for task in range(code.total))


def cut(code: Code) -> int:
    """Into how many parts the result of a chunk is cut."""
    return code.parts if isinstance(code, LinearCode) else 1


def grid(code: Code) -> tuple[int, int, int]:
    """A product's blocks: A in m x p, B in p x q."""
    m, q = (code.assemble.rows, code.assemble.columns) if isinstance(code.assemble, Grid) else (1, 1)
    return m, code.encoders[0].shape[1] // m, q


def degree(code: Code) -> int:
    """The degree of the polynomials for which a Lagrange code is made: K = (parts - 1) deg + 1."""
    parts = code.encoders[0].shape[1]
    return (code.critical - 1) // (parts - 1) if parts > 1 else 3


def _mixed_results(code: Code, rng: np.random.Generator) -> Trial:
    """Chunk results (gradients, or short products) mixed by the tasks; the sum over the chunks is wanted."""
    length = cut(code) * (1 if code.kind == "linear" else 4)
    values = rng.standard_normal((chunks(code), length))
    return Trial([code.mix(task, values) for task in range(code.total)], values.sum(axis=0))


def _linear(code: Code, rng: np.random.Generator) -> Trial:
    blocks, x = rng.standard_normal((code.encoders[0].shape[1], 2, 7)), rng.standard_normal(7)
    return Trial([block @ x for block in encode(code, list(blocks))], blocks @ x)


def _product(code: Code, rng: np.random.Generator) -> Trial:
    m, p, q = grid(code)
    a, b = rng.standard_normal((m, p, 2, 3)), rng.standard_normal((p, q, 3, 2))
    left = encode(code, list(a.reshape(-1, 2, 3)))
    right = encode(code, list(b.reshape(-1, 3, 2)), 1)
    whole_a = a.transpose(0, 2, 1, 3).reshape(2 * m, 3 * p)
    whole_b = b.transpose(0, 2, 1, 3).reshape(3 * p, 2 * q)
    return Trial([x @ y for x, y in zip(left, right, strict=True)], whole_a @ whole_b)


def _function(code: Code, rng: np.random.Generator) -> Trial:
    blocks, f = rng.standard_normal((code.encoders[0].shape[1], 5)), rng.standard_normal(degree(code) + 1)
    return Trial([np.polyval(f, block) for block in encode(code, list(blocks))], np.polyval(f, blocks))


def _transform(code: Code, rng: np.random.Generator) -> Trial:
    m = code.encoders[0].shape[1]
    x = rng.standard_normal(6 * m)
    return Trial([np.fft.fft(block) for block in encode(code, [x[j::m] for j in range(m)])], np.fft.fft(x))


def _rounded(done: Trial, precision: str) -> Trial:
    if precision == "d":
        return done
    return Trial([r.astype(np.complex64 if np.iscomplexobj(r) else np.float32) for r in done.results], done.wish)


# Patterns


def patterns(code: Code, random: int = 500, seed: int = 0) -> Iterator[Pattern]:
    """K results: all sets of them where n <= 12, else every lost block of neighbours and so many sets at random."""
    n, K = code.total, code.critical
    if n <= ALL_UPTO:
        yield from combinations(range(n), K)
        return
    for first in range(n if n > K else 1):
        yield tuple(sorted(((first + np.arange(K)) % n).tolist()))
    rng = np.random.default_rng(seed)
    for _ in range(random):
        yield tuple(sorted(rng.choice(n, K, replace=False).tolist()))


def subsets(count: int) -> Iterator[Pattern]:
    """Every set of results, of every size."""
    return chain.from_iterable(combinations(range(count), size) for size in range(count + 1))


def around(code: Code, each: int, seed: int = 0) -> Iterator[Pattern]:
    """Random sets of sizes about K."""
    rng = np.random.default_rng(seed)
    for size in range(max(code.critical - 2, 1), min(code.critical + 2, code.total) + 1):
        for _ in range(each):
            yield tuple(sorted(rng.choice(code.total, size, replace=False).tolist()))


# Oracles


def picture(code: Code) -> tuple[Matrix, Matrix]:
    """Each task, and each thing wished for, as a row of weights on what the data could be.

    Seen from outside: by mixing unit vectors, or from what is done to the blocks of the operands. For products the
    columns are the pairs of blocks, for functions the monomials.
    """
    if not code.encoders:
        l, count = cut(code), chunks(code)  # noqa: E741
        unit = np.eye(l * count)
        values = [unit[j * l : (j + 1) * l] for j in range(count)]
        return np.array([np.ravel(code.mix(i, values)) for i in range(code.total)]), np.tile(np.eye(l), (1, count))
    first = code.encoders[0]
    if code.kind == "product":
        m, p, q = grid(code)
        a, b = np.eye(m * p).reshape(m, p, -1), np.eye(p * q).reshape(p, q, -1)
        wish = [sum(np.kron(a[u, j], b[j, v]) for j in range(p)) for u in range(m) for v in range(q)]
        return np.array([np.kron(x, y) for x, y in zip(*code.encoders, strict=True)]), np.array(wish)
    if code.kind == "function":
        return _powers(first, degree(code)), _powers(np.eye(first.shape[1]), degree(code))
    return first, np.eye(first.shape[1])


def _powers(rows: Matrix, exponent: int) -> Matrix:
    """The monomials of that degree; those below are among them because each row sums to one."""
    found = rows
    for _ in range(exponent - 1):
        found = np.array([np.kron(x, y) for x, y in zip(found, rows, strict=True)])
    return found


def determined(rows: Matrix, wish: Matrix) -> bool:
    """Whether the wish is in the span of the rows, by their singular directions."""
    if not len(rows) or not rows.any():
        return False
    _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
    kept = directions[sizes > 1e-11 * sizes[0]]
    gap = np.linalg.norm(wish - (wish @ kept.conj().T) @ kept, axis=1) / np.linalg.norm(wish, axis=1)
    assert not 1e-8 < gap.max() < 1e-6, "too near for the oracle to tell"
    return bool(gap.max() < 1e-7)


def peels(code: PeelingCode, done: Collection[int]) -> bool:
    """Whether peeling gets through, symbol by symbol until nothing moves."""
    equations = [set(code.tasks[task][0].tolist()) for task in done] + [set(c[0].tolist()) for c in code.checks]
    known: set[int] = set()
    moved = True
    while moved:
        fresh = set().union(*(e - known for e in equations if len(e - known) == 1))
        moved, known = bool(fresh), known | fresh
    return set(range(code.wanted)) <= known


# Checks


def check_decoding(code: Code, random: int = 500, precision: str = "d", seed: int = 0) -> int:
    """Decode after encode is exact on every pattern; how often the guard had to wait for more than sufficed.

    Where K results do not suffice (coverage, peeling) or not well enough, more are added one by one: that must end in
    an answer, and every answer that is given must be right.
    """
    work, rng, waited = trial(code, seed, precision), np.random.default_rng(seed), 0
    for done in patterns(code, random, seed):
        waited += check_pattern(code, work, done, rng.permutation(code.total).tolist(), WITHIN[precision])
    return waited


def check_pattern(code: Code, work: Trial, done: Sequence[int], rest: Sequence[int], within: float) -> int:
    """The answer from these results, and the next of the rest where need be; how often the guard said to wait."""
    here, more, refused = list(done), [task for task in rest if task not in set(done)], 0
    while True:
        if code.decodable(here):
            try:
                answer = code.decode(work.of(here))
            except IllConditioned:
                refused += 1
            else:
                assert work.error(answer) <= within, f"{code.family}: off by {work.error(answer):.3g} from {here}"
                return refused
        assert more, f"{code.family}: no answer from all {code.total} results"
        here.append(more.pop(0))


def check_decodable(code: Code, sets: Iterable[Pattern]) -> None:
    """`decodable` is never wrong in either direction, and there is a recipe exactly then."""
    rows, wish = picture(code)
    wrong = []
    for done in sets:
        truth = determined(rows[list(done)], wish)
        if isinstance(code, PeelingCode):
            assert truth or not peels(code, done), f"{code.family}: peeling {done} gives what they do not determine"
            truth = peels(code, done)
        if (code.decodable(done), code.recipe(done) is not None) != (truth, truth):
            wrong.append((done, truth))
    assert wrong == [], f"{code.family}: {len(wrong)} sets judged wrongly, such as {wrong[0]}"


def check_finish(code: Code, iterations: int = 20, seed: int = 0) -> None:
    """`finish` is the time of the first result with which those at hand are decodable; never, where none is."""
    rng = np.random.default_rng(seed)
    ends = rng.exponential(size=(iterations, code.total))
    ends[::3, rng.integers(code.total)] = inf  # a result that never comes
    expected = []
    for row in ends:
        order = [task for task in np.argsort(row).tolist() if isfinite(row[task])]
        first = next((k for k in range(1, len(order) + 1) if code.decodable(order[:k])), None)
        expected.append(inf if first is None else row[order[first - 1]])
    assert code.finish(ends).tolist() == expected


def check_missing(code: Code, seed: int = 0) -> None:
    """Results that are not finite are as good as none: the answer comes from the others, or they are named."""
    work, n = trial(code, seed), code.total
    for bad, nonsense in ((0, np.nan), (n - 1, np.inf), (n // 2, -np.inf)):
        results = work.of(range(n))
        results[bad] = np.where(np.arange(results[bad].size).reshape(results[bad].shape) == 0, nonsense, results[bad])
        if code.decodable([task for task in range(n) if task != bad]):
            assert work.error(code.decode(results)) <= WITHIN["d"]
        else:
            check_rejected(code, results, bad)


def check_rejected(code: Code, results: dict[int, Matrix], bad: int) -> None:
    """Without the bad result there is no answer, and the error says which was thrown away."""
    with pytest.raises(Undecodable) as missing:
        code.decode(results)
    assert missing.value.rejected == (bad,)
    assert bad not in missing.value.done
    assert f"not finite (tasks {bad})" in str(missing.value)


def check_support(code: Code, seed: int = 0) -> None:
    """A task asks for the chunks it uses and no others, each with a weight for every part."""
    rng = np.random.default_rng(seed)
    assert code.chunks == chunks(code)
    values = rng.standard_normal((code.chunks, 2 * cut(code)))
    for task in range(code.total):
        held, weights = code.support(task)
        assert held.tolist() == sorted(set(held.tolist()))
        assert weights.shape == (held.size, cut(code))
        assert np.any(weights != 0, axis=1).all()
        assert np.array_equal(code.mix(task, {int(j): values[j] for j in held}), code.mix(task, values))


def check_whole_numbers(code: Code, seed: int = 0) -> None:
    """Results that are integers decode as the same numbers in floating point do."""
    rng = np.random.default_rng(seed)
    results = {task: rng.integers(-9, 9, 8) for task in range(code.total)}
    answer = code.decode({task: value.astype(float) for task, value in results.items()})
    assert np.allclose(code.decode(results), answer, rtol=1e-12, atol=1e-12)


def check_kept(code: Code) -> None:
    """A recipe is made once per pattern, whatever the order in which the results came in."""
    done = list(range(code.total))
    assert code.recipe(done) is code.recipe(done[::-1])


def check_pickle(code: Code) -> None:
    """A code goes to another process, where it decodes to the same bits."""
    work = trial(code)
    everything = work.of(range(code.total))
    answer = code.decode(everything)
    there: Code = pickle.loads(pickle.dumps(code))
    assert (there.family, there.kind, there.total, there.critical) == (
        code.family,
        code.kind,
        code.total,
        code.critical,
    )
    assert there.cost == code.cost
    assert np.array_equal(there.decode(pickle.loads(pickle.dumps(everything))), answer)
