"""Coded solvers, products and transforms against numpy and scipy."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from coded_tasks import in_process
from scipy import sparse

import deadheat as dh
from deadheat.coding import Code
from deadheat.jobs import conjugate_gradients, in_series, jacobi, pagerank, power_iteration, ridge
from deadheat.model import AnyArray as Array
from deadheat.runtime import Delivery, Workable, run

THREE = dh.Cluster.from_columns([1e-6, 2e-6, 3e-6], 1e-6)  # seconds per row, declared; they are as fast as they are


def solved(job: Workable, code: Code | None = None) -> Delivery:
    (done,) = run(job, THREE, code).wait().deliveries
    assert done.error is None
    return done


# PageRank


@cache
def links() -> Any:
    """10^5 pages, about 10^6 links; some pages have none."""
    rng = np.random.default_rng(0)
    n, edges = 100_000, 1_000_000
    source, target = rng.integers(0, n - 500, edges), (n * rng.random(edges) ** 2).astype(int)
    graph = sparse.csr_array((np.ones(edges), (source, target)), shape=(n, n))
    graph.data[:] = 1.0
    return graph


@cache
def ranks() -> Array:
    """Plain power iteration on the Google matrix."""
    graph, n, damping = links(), links().shape[0], 0.85
    out = np.asarray(graph.sum(axis=1)).ravel()
    flow = (sparse.diags_array(1 / np.maximum(out, 1)) @ graph).T.tocsr()
    r = np.full(n, 1 / n)
    for _ in range(200):
        r = damping * (flow @ r + r[out == 0].sum() / n) + (1 - damping) / n
    return np.asarray(r)


@pytest.mark.parametrize("coded", [False, True], ids=["plain", "mds"])
def test_pagerank_of_a_large_graph(coded: bool) -> None:
    job = pagerank(links(), tolerance=1e-10)
    done = solved(job, dh.codes.mds(8, 11) if coded else None)
    assert 0.5 * np.abs(done.state - ranks()).sum() < 1e-8
    assert done.state.sum() == pytest.approx(1.0)
    assert done.iterations < 200  # it says itself when it is over
    assert job.encoding is not None
    assert (job.encoding.coded > 1.1 * job.encoding.plain) == coded


def test_pagerank_of_a_dense_table_is_the_same() -> None:
    few = (np.random.default_rng(1).random((60, 60)) < 0.1).astype(float)
    few[7] = 0.0  # a page without links
    assert few[7].sum() == 0
    assert np.abs(in_process(pagerank(few)) - in_process(pagerank(sparse.csr_matrix(few)))).max() < 1e-12


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"damping": 1.0}, "damping"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"links": np.ones((3, 4))}, "links"),
        ({"links": np.full((3, 3), np.nan)}, "links"),
        ({"links": [[1, 2], [3, 4]]}, "links"),
        ({"iterations": 0}, "iterations"),
    ],
    ids=["damping", "tolerance", "shape", "nan", "list", "iterations"],
)
def test_what_pagerank_refuses(wrong: dict[str, Any], field: str) -> None:
    with pytest.raises(dh.BadInput) as said:
        pagerank(**({"links": np.ones((3, 3))} | wrong))
    assert said.value.field == field


# Systems of equations


@cache
def system(n: int) -> tuple[Any, Array]:
    """Sparse, symmetric, positive definite, with a dominant diagonal."""
    rng = np.random.default_rng(2)
    half = sparse.random_array((n, n), density=4 / n, rng=rng, format="csr")
    both = half + half.T
    matrix = (both + sparse.diags_array(np.asarray(abs(both).sum(axis=1)).ravel() + 0.1)).tocsr()
    return matrix, rng.normal(size=n)


@pytest.mark.parametrize("code", [None, dh.codes.mds(12, 16)], ids=["plain", "mds"])
def test_conjugate_gradients_reach_the_tolerance(code: Code | None) -> None:
    matrix, right = system(10_000)
    done = solved(conjugate_gradients(matrix, right, 1e-9), code)
    assert np.linalg.norm(matrix @ done.state.x - right) < 2e-9 * np.linalg.norm(right)
    assert 5 < done.iterations < 500


LINEAR = {
    "plain": None,
    "mds": dh.codes.mds(5, 8),
    "chebyshev": dh.codes.mds(5, 7, "chebyshev"),
    "circle": dh.codes.mds(4, 6, "circle"),
    "replication": dh.codes.replication(3, 2, "linear"),
    "product": dh.codes.product(2, 2, "linear"),
    "ldpc": dh.codes.ldpc(5, 10),
    "lt": dh.codes.lt(5, 10),
    "short-dot": dh.codes.short_dot(6, 8, 4),
    "short-dot, one row": dh.codes.short_dot(3, 5, 1),
}


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", [*LINEAR])
def test_solvers_agree_with_numpy(name: str, is_sparse: bool) -> None:
    """41 rows: blocks of no code are full."""
    given, right = system(41)
    dense = given.toarray()
    matrix = given if is_sparse else dense
    solution = np.linalg.solve(dense, right)
    assert np.abs(in_process(conjugate_gradients(matrix, right), LINEAR[name]).x - solution).max() < 1e-7
    assert np.abs(in_process(jacobi(matrix, right), LINEAR[name]) - solution).max() < 1e-7
    vector = in_process(power_iteration(matrix, iterations=20_000), LINEAR[name])
    assert np.abs(dense @ vector - vector * (vector @ dense @ vector)).max() < 1e-6
    assert vector @ dense @ vector == pytest.approx(np.linalg.eigvalsh(dense)[-1])


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
def test_a_series_needs_no_code_and_no_workers(is_sparse: bool) -> None:
    """The same function for every kind of job."""
    matrix, right = system(41)
    dense = matrix.toarray()
    solution = np.linalg.solve(dense, right)
    given = matrix if is_sparse else dense
    assert np.abs(in_series(conjugate_gradients(given, right)).x - solution).max() < 1e-7
    assert np.abs(in_series(jacobi(given, right)) - solution).max() < 1e-7


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
def test_ridge_agrees_with_the_normal_equations(is_sparse: bool) -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(80, 7)), rng.normal(size=80)
    expected = np.linalg.solve(x.T @ x + 2.0 * np.eye(7), x.T @ y)
    given = sparse.csr_matrix(x) if is_sparse else x
    assert np.abs(in_process(ridge(given, y, 2.0), dh.codes.mds(3, 5)) - expected).max() < 1e-6


def test_solvers_on_workers() -> None:
    matrix, right = system(41)
    jobs = [jacobi(matrix, right), conjugate_gradients(matrix.toarray(), right), power_iteration(matrix)]
    jobs.append(jacobi(matrix, right, name="short"))
    codes = [dh.codes.mds(5, 8), None, dh.codes.product(2, 2, "linear"), dh.codes.short_dot(6, 8, 4)]
    first, second, third, short = run(jobs, THREE, codes).wait().deliveries
    assert [first.name, second.name, third.name] == ["jacobi", "conjugate gradients", "power iteration"]
    assert np.abs(short.state - np.linalg.solve(matrix.toarray(), right)).max() < 1e-7
    solution = np.linalg.solve(matrix.toarray(), right)
    assert np.abs(first.state - solution).max() < 1e-7
    assert np.abs(second.state.x - solution).max() < 1e-7
    assert third.error is None


def test_a_right_side_of_zeros() -> None:
    matrix, _ = system(41)
    assert np.array_equal(in_process(conjugate_gradients(matrix, np.zeros(41))).x, np.zeros(41))
    assert np.array_equal(in_process(jacobi(matrix, np.zeros(41))), np.zeros(41))


def test_what_a_solver_cannot_do_is_said_at_the_step() -> None:
    with pytest.raises(ValueError, match="not positive definite"):
        in_process(conjugate_gradients(-np.eye(5), np.ones(5)))
    with pytest.raises(ZeroDivisionError, match="to zero"):
        in_process(power_iteration(np.zeros((5, 5))))


def test_what_solvers_refuse() -> None:
    with pytest.raises(dh.BadInput, match=r"row 2.*zero on the diagonal"):
        jacobi(np.diag([1.0, 2.0, 0.0]), np.ones(3))
    with pytest.raises(dh.BadInput, match="right"):
        jacobi(np.eye(3), np.ones(4))
    with pytest.raises(dh.BadInput, match=r"right.*not finite"):
        conjugate_gradients(np.eye(3), [1.0, np.inf, 0.0])
    with pytest.raises(dh.BadInput, match="l2"):
        ridge(np.ones((4, 2)), np.ones(4), 0.0)
    with pytest.raises(dh.BadInput, match="y = "):
        ridge(np.ones((4, 2)), np.ones(3), 1.0)
    with pytest.raises(dh.BadInput, match=r"links = -1\.0.*negative"):
        pagerank(-np.eye(3))
    wrong: Any
    for wrong in (0.0, -1.0, math.nan, "small"):
        for make in (
            power_iteration,
            partial(jacobi, right=np.ones(3)),
            partial(conjugate_gradients, right=np.ones(3)),
        ):
            with pytest.raises(dh.BadInput, match="tolerance"):
                make(np.eye(3), tolerance=wrong)
        with pytest.raises(dh.BadInput, match="tolerance"):
            ridge(np.eye(3), np.ones(3), 1.0, tolerance=wrong)
    for bad in ("abc", [[1.0], [2.0, 3.0]], None):
        with pytest.raises(dh.BadInput, match="right"):
            jacobi(np.eye(3), bad)  # type: ignore[arg-type]
    with pytest.raises(dh.BadInput, match="linear code"):
        jacobi(np.eye(3), np.ones(3)).program(dh.codes.cyclic(3, 1), math.inf)
    with pytest.raises(dh.BadInput, match="blocks of 3 rows"):
        jacobi(np.eye(3), np.ones(3)).program(dh.codes.mds(4, 5), math.inf)


SIZES = (1e-200, 1e-165, 1e-100, 1e100, 1e155, 1e200)


@pytest.mark.parametrize("size", SIZES)
def test_numbers_whose_squares_leave_the_range_are_refused(size: float) -> None:
    """A norm that is zero or infinite would make any solver content with its first guess."""
    matrix, right = np.diag(np.arange(1.0, 7.0)), np.ones(6)
    cases: tuple[tuple[Callable[[], Workable], str], ...] = (
        (lambda: jacobi(matrix, size * right), "right"),
        (lambda: conjugate_gradients(sparse.csr_array(matrix), 1j * size * right), "right"),
        (lambda: jacobi(size * matrix, right), "matrix"),
        (lambda: power_iteration(sparse.csr_array(size * matrix)), "matrix"),
        (lambda: ridge(matrix, size * right, 1.0), "y"),
        (lambda: ridge(matrix * np.sqrt(size), right, 1.0), "x"),
        (lambda: pagerank(np.ones((3, 3)) * size), "links"),
    )
    for make, field in cases:
        with pytest.raises(dh.BadInput, match=f"^{field} = .*largest entry.*scale it"):
            make()


@pytest.mark.parametrize("size", [1e-80, 1e80])
@pytest.mark.parametrize("other", [1e-80, 1e80])
def test_solvers_are_right_for_numbers_of_any_other_size(size: float, other: float) -> None:
    matrix, right = np.diag(np.arange(1.0, 7.0)) + 0.01, np.arange(1.0, 7.0)
    solution = np.linalg.solve(matrix, right)
    for solve in (jacobi, conjugate_gradients):
        state = in_process(solve(size * matrix, other * right))
        assert np.allclose(getattr(state, "x", state) / other * size, solution, rtol=1e-8)
    vector = in_process(power_iteration(size * matrix))
    assert abs(vector @ np.linalg.eigh(matrix)[1][:, -1]) == pytest.approx(1.0)


def test_links_whose_sum_is_beyond_their_own_type() -> None:
    graph = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    for links in ((60_000 * graph).astype(np.float16), sparse.csr_array((2e38 * graph).astype(np.float32))):
        assert np.allclose(in_process(pagerank(links)), in_process(pagerank(graph)))


def test_what_is_masked_is_refused() -> None:
    hidden = np.ma.array(np.eye(3), mask=np.eye(3, dtype=bool))
    for make in (
        lambda: power_iteration(hidden),
        lambda: jacobi(np.eye(3), hidden[0]),
        lambda: dh.jobs.ProductJob(hidden, np.eye(3)),
        lambda: dh.jobs.TransformJob(hidden[0]).program(dh.codes.fft(3, 4), math.inf),
    ):
        with pytest.raises(dh.BadInput, match="masked"):
            make()
