"""The suite that every code passes, shipped for authors of others::

    @pytest.mark.parametrize("check", CHECKS)
    def test_my_code(check):
        check(my_code(tasks=9, stragglers=2))

Each check takes a code and raises AssertionError. It does real work of the code's kind on random data (`trial`), and
judges which results determine an iteration by these results, not by the code's own matrices. A code of at most 12 tasks
is tried on every set of K results, a larger one on every lost block of neighbours and on random sets. A code that is
not exact is held to the residual of its recipes.
"""

import pickle
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import inf, isfinite, isqrt, sqrt

import numpy as np

from deadheat.coding.block_products import Grid
from deadheat.coding.certification import some_patterns
from deadheat.coding.code import Code
from deadheat.coding.decoding_errors import IllConditioned, Undecodable
from deadheat.coding.encoding import encode
from deadheat.coding.peeling_code import PeelingCode
from deadheat.model import AnyArray

Pattern = tuple[int, ...]
WITHIN = {"d": 1e-8, "f": 1e-4}  # relative error of an answer, by the precision of the results


@dataclass(frozen=True)
class Trial:
    """The results of all tasks, the rows of the target that they determine, and the answer that these make up."""

    results: list[AnyArray]
    target: AnyArray
    answer: AnyArray
    spread: float  # by how much an error of the weights is multiplied at most, for codes that are not exact

    def of(self, done: Iterable[int]) -> dict[int, AnyArray]:
        return {task: self.results[task] for task in done}

    def error(self, answer: AnyArray) -> float:
        assert answer.shape == self.answer.shape, f"shape {answer.shape} instead of {self.answer.shape}"
        return float(np.linalg.norm(answer - self.answer) / np.linalg.norm(self.answer))


def trial(code: Code, seed: int = 0, precision: str = "d", size: int = 4) -> Trial:
    """One iteration on random data, every task done; about `size` numbers in a result, of precision "d" or "f"."""
    draw, m, l = np.random.default_rng(seed).standard_normal, code.chunks, parts(code)  # noqa: E741
    spread, target = 0.0, None
    if not code.encoders:
        values = draw((m, size * l))
        results, answer = [code.mix(task, values) for task in range(code.total)], values.sum(axis=0)
        target = answer.reshape(l, -1)
        spread = float(sqrt(m) * np.linalg.norm(values, 2) / np.linalg.norm(answer))
    elif code.kind == "linear":
        blocks, x = draw((m, size, max(l, 7))), draw(max(l, 7))
        results, answer = [block @ x for block in encode(code, list(blocks))], blocks @ x
    elif code.kind == "product":
        (rows, inner, columns), side = grid(code), isqrt(size)
        a, b = draw((rows, inner, side, 3)), draw((inner, columns, 3, side))
        operands = encode(code, list(a.reshape(-1, side, 3))), encode(code, list(b.reshape(-1, 3, side)), 1)
        results, target = [x @ y for x, y in zip(*operands, strict=True)], np.einsum("ujrk,jvkc->uvrc", a, b)
        answer = target.transpose(0, 2, 1, 3).reshape(rows * side, columns * side)
        target = target.reshape(rows * columns, -1)
    elif code.kind == "function":
        blocks, f = draw((m, size)), draw(degree(code) + 1)
        results, answer = [np.polyval(f, block) for block in encode(code, list(blocks))], np.polyval(f, blocks)
    else:
        blocks = draw((m, size))
        results, target = [np.fft.fft(block) for block in encode(code, list(blocks))], np.fft.fft(blocks)
        answer = np.fft.fft(blocks.T.reshape(-1))
    if precision == "f":
        results = [r.astype(np.complex64 if np.iscomplexobj(r) else np.float32) for r in results]
    return Trial(results, answer if target is None else target, answer, spread)


def parts(code: Code) -> int:
    """Into how many parts the result of a chunk, or the columns of a block, are cut."""
    return int(code.support(0)[1].shape[1])


def grid(code: Code) -> tuple[int, int, int]:
    """The blocks of a product: A in m x p, B in p x q."""
    m, q = (code.assemble.rows, code.assemble.columns) if isinstance(code.assemble, Grid) else (1, 1)
    return m, code.encoders[0].shape[1] // m, q


def degree(code: Code) -> int:
    """The degree of the polynomials for which a Lagrange code is made: K = (blocks - 1) deg + 1."""
    return (code.critical - 1) // (code.chunks - 1) if code.chunks > 1 else 3


def patterns(code: Code, random: int = 500, seed: int = 0) -> Iterator[Pattern]:
    """Sets of K results: all where n <= 12, else every lost block of neighbours and so many at random."""
    n, K = code.total, code.critical
    return combinations(range(n), K) if n <= 12 else some_patterns(code, random, seed)


def subsets(code: Code, each: int = 200, seed: int = 0) -> Iterator[Pattern]:
    """Every set of results, of every size, where n <= 10; else so many random sets of each size about K."""
    n, rng = code.total, np.random.default_rng(seed)
    if n <= 10:
        return chain.from_iterable(combinations(range(n), size) for size in range(n + 1))
    near = range(max(code.critical - 2, 1), min(code.critical + 2, n) + 1)
    return (tuple(sorted(rng.choice(n, size, replace=False).tolist())) for size in near for _ in range(each))


def determined(rows: AnyArray, target: AnyArray) -> bool:
    """Whether the target is in the span of the rows, by their singular directions."""
    if not len(rows) or not rows.any():
        return False
    _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
    kept = directions[sizes > 1e-11 * sizes[0]]
    gap = np.linalg.norm(target - (target @ kept.conj().T) @ kept, axis=1) / np.linalg.norm(target, axis=1)
    assert not 1e-8 < gap.max() < 1e-6, "too near for the oracle to tell"
    return bool(gap.max() < 1e-7)


def peels(code: PeelingCode, done: Collection[int]) -> bool:
    """Whether peeling gets through, symbol by symbol until nothing moves."""
    equations = [set(e[0].tolist()) for e in (*(code.tasks[task] for task in done), *code.checks)]
    solved: set[int] = set()
    while fresh := set().union(*(e - solved for e in equations if len(e - solved) == 1)):
        solved |= fresh
    return set(range(code.wanted)) <= solved


def check_decoding(code: Code, random: int = 500, precision: str = "d", seed: int = 0) -> None:
    """Decode after encode is exact on every pattern."""
    work, rng = trial(code, seed, precision), np.random.default_rng(seed)
    for done in patterns(code, random, seed):
        check_pattern(code, work, done, rng.permutation(code.total).tolist(), WITHIN[precision])


def check_pattern(code: Code, work: Trial, done: Sequence[int], rest: Sequence[int], within: float) -> None:
    """The answer from these results is right; where they do not suffice, the rest come one by one."""
    here, more = list(done), [task for task in rest if task not in set(done)]
    while True:
        try:
            answer, recipe = code.decode(work.of(here)), code.recipe(here)
            break
        except (IllConditioned, Undecodable):
            assert more, f"{code.family}: no answer from all {code.total} results"
            here.append(more.pop(0))
    residual = 0.0 if code.exact or recipe is None else recipe.residual
    error = work.error(answer)
    assert error <= within + work.spread * residual, f"{code.family}: off by {error:.3g} from {here}"


def check_decodable(code: Code, sets: Iterable[Pattern] | None = None) -> None:
    """For an exact code `decodable` is never wrong in either direction, and there is a recipe exactly then."""
    work, wrong = trial(code, size=3 * code.total), []
    rows, target = np.array(work.results).reshape(code.total, -1), work.target
    for done in (subsets(code) if sets is None else sets) if code.exact else ():
        truth = determined(rows[list(done)], target)
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
    for row, end in zip(ends, code.finish(ends).tolist(), strict=True):
        order = [task for task in np.argsort(row).tolist() if isfinite(row[task])]
        assert end == next((row[task] for k, task in enumerate(order, 1) if code.decodable(order[:k])), inf)


def check_missing(code: Code, seed: int = 0) -> None:
    """Results that are not finite are as good as none: the answer comes from the others, or they are named."""
    work, n = trial(code, seed), code.total
    for bad, nonsense in ((0, np.nan), (n - 1, np.inf), (n // 2, -np.inf)):
        results, others = work.of(range(n)), [task for task in range(n) if task != bad]
        results[bad] = np.where(np.arange(results[bad].size).reshape(results[bad].shape) == 0, nonsense, results[bad])
        try:
            answer = code.decode(results)
        except Undecodable as error:
            assert (error.rejected, code.decodable(others)) == ((bad,), False)  # noqa: PT017
        else:
            assert np.array_equal(answer, code.decode(work.of(others)))


def check_support(code: Code, seed: int = 0) -> None:
    """A task asks for the chunks it uses and no others, each with a weight for every part."""
    values, used = np.random.default_rng(seed).standard_normal((code.chunks, 2 * parts(code))), set()
    for task in range(code.total):
        held, weights = code.support(task)
        used |= set(held.tolist())
        assert held.tolist() == sorted(set(held.tolist()))
        assert weights.shape == (held.size, parts(code))
        assert weights.any(axis=1).all()
        assert np.array_equal(code.mix(task, {int(j): values[j] for j in held}), code.mix(task, values))
    assert used == set(range(code.chunks))


def check_pickle(code: Code) -> None:
    """A code goes to another process, where it decodes to the same bits."""
    everything = trial(code).of(range(code.total))
    there: Code = pickle.loads(pickle.dumps(code))
    for name in ("family", "kind", "total", "critical", "cost"):
        assert getattr(there, name) == getattr(code, name)
    assert np.array_equal(there.decode(pickle.loads(pickle.dumps(everything))), code.decode(everything))


CHECKS: tuple[Callable[[Code], None], ...] = (
    check_decoding, check_decodable, check_finish, check_missing, check_support, check_pickle,
)  # fmt: skip
