"""Coded solvers, products and transforms against numpy and scipy."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

import deadheat as dh
from deadheat.jobs.coded_work import Encoding
from deadheat.jobs.matrix_jobs import MatrixJob, ProductJob, TransformJob, blocks
from deadheat.jobs.solvers import conjugate_gradients, jacobi, pagerank, power_iteration, ridge
from deadheat.runtime.job import Workable
from deadheat.runtime.runs import run
from deadheat.runtime.work import Token

Array = NDArray[Any]
THREE = dh.Cluster.from_columns([1e-6, 2e-6, 3e-6], 1e-6)  # seconds per row, declared; they are as fast as they are


def solved(job: Workable, code: dh.Code | None = None) -> dh.Delivery:
    (done,) = run(job, THREE, code).wait().deliveries
    assert done.error is None
    return done


def alone(job: Workable, code: dh.Code | None = None) -> Any:
    """The same in this process, by the last results that suffice: parities where the code has any."""
    made = job.prepare(code, math.inf)
    work, state = made.work, job.start
    tasks = list(range(made.code.total))
    while made.code.decodable(tasks[1:]):
        tasks = tasks[1:]
    for iteration in range(job.iterations):
        work.begin(state if made.share is None else made.share(state))
        answer = made.code.decode({task: work.run(task, Token(lambda: False)) for task in tasks})
        state = made.step(state, answer, iteration)
        if isinstance(state, dh.Converged):
            return state.state
    return state


# PageRank


@cache
def links() -> Any:
    """10^5 pages, about 10^6 links; some pages have none."""
    rng = np.random.default_rng(0)
    n, edges = 100_000, 1_000_000
    source, target = rng.integers(0, n - 500, edges), (n * rng.random(edges) ** 2).astype(int)
    found = sparse.csr_array((np.ones(edges), (source, target)), shape=(n, n))
    found.data[:] = 1.0
    return found


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
    assert np.abs(alone(pagerank(few)) - alone(pagerank(sparse.csr_matrix(few)))).max() < 1e-12


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
def test_conjugate_gradients_reach_the_tolerance(code: dh.Code | None) -> None:
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
}


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", [*LINEAR])
def test_solvers_agree_with_numpy(name: str, is_sparse: bool) -> None:
    """41 rows: blocks of no code are full."""
    given, right = system(41)
    dense = given.toarray()
    matrix = given if is_sparse else dense
    solution = np.linalg.solve(dense, right)
    assert np.abs(alone(conjugate_gradients(matrix, right), LINEAR[name]).x - solution).max() < 1e-7
    assert np.abs(alone(jacobi(matrix, right), LINEAR[name]) - solution).max() < 1e-7
    found = alone(power_iteration(matrix, iterations=20_000), LINEAR[name])
    assert np.abs(dense @ found - found * (found @ dense @ found)).max() < 1e-6
    assert found @ dense @ found == pytest.approx(np.linalg.eigvalsh(dense)[-1])


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
def test_ridge_agrees_with_the_normal_equations(is_sparse: bool) -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(80, 7)), rng.normal(size=80)
    expected = np.linalg.solve(x.T @ x + 2.0 * np.eye(7), x.T @ y)
    given = sparse.csr_matrix(x) if is_sparse else x
    assert np.abs(alone(ridge(given, y, 2.0), dh.codes.mds(3, 5)) - expected).max() < 1e-6


def test_solvers_on_workers() -> None:
    matrix, right = system(41)
    jobs = [jacobi(matrix, right), conjugate_gradients(matrix.toarray(), right), power_iteration(matrix)]
    codes = [dh.codes.mds(5, 8), None, dh.codes.product(2, 2, "linear")]
    first, second, third = run(jobs, THREE, codes).wait().deliveries
    assert [first.name, second.name, third.name] == ["jacobi", "conjugate gradients", "power iteration"]
    solution = np.linalg.solve(matrix.toarray(), right)
    assert np.abs(first.state - solution).max() < 1e-7
    assert np.abs(second.state.x - solution).max() < 1e-7
    assert third.error is None


def test_a_right_side_of_zeros() -> None:
    matrix, _ = system(41)
    assert np.array_equal(alone(conjugate_gradients(matrix, np.zeros(41))).x, np.zeros(41))
    assert np.array_equal(alone(jacobi(matrix, np.zeros(41))), np.zeros(41))


def test_what_a_solver_cannot_do_is_said_at_the_step() -> None:
    with pytest.raises(ValueError, match="not positive definite"):
        alone(conjugate_gradients(-np.eye(5), np.ones(5)))
    with pytest.raises(ZeroDivisionError, match="to zero"):
        alone(power_iteration(np.zeros((5, 5))))


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
    with pytest.raises(dh.BadInput, match="linear code"):
        jacobi(np.eye(3), np.ones(3)).prepare(dh.codes.cyclic(3, 1), math.inf)
    with pytest.raises(dh.BadInput, match="blocks of 3 rows"):
        jacobi(np.eye(3), np.ones(3)).prepare(dh.codes.mds(4, 5), math.inf)


# Products and transforms


PRODUCTS = {
    "plain": None,
    "uncoded": dh.codes.uncoded(6, "product"),
    "replication": dh.codes.replication(4, 2, "product"),
    "polynomial": dh.codes.polynomial(3, 2, 9),
    "matdot": dh.codes.matdot(3, 7),
    "polydot": dh.codes.polydot(2, 2, 14),
    "entangled": dh.codes.entangled(2, 3, 2, 16),
    "entangled, circle": dh.codes.entangled(2, 2, 2, 12, "circle"),
    "product": dh.codes.product(3),
}


@pytest.mark.parametrize("name", [*PRODUCTS])
def test_a_product_of_shapes_that_do_not_fit(name: str) -> None:
    rng = np.random.default_rng(6)
    left, right = rng.normal(size=(10, 7)), rng.normal(size=(7, 5))
    found = alone(ProductJob(left, right), PRODUCTS[name])
    assert found.shape == (10, 5)
    assert np.abs(found - left @ right).max() < 1e-9


@pytest.mark.parametrize("name", ["plain", "polynomial"])
@pytest.mark.parametrize("both", [False, True], ids=["left", "both"])
def test_a_product_of_sparse_matrices(name: str, both: bool) -> None:
    rng = np.random.default_rng(6)
    left, right = rng.normal(size=(10, 7)), rng.normal(size=(7, 5))
    found = alone(ProductJob(sparse.csr_array(left), sparse.csr_array(right) if both else right), PRODUCTS[name])
    found = found.toarray() if sparse.issparse(found) else found
    assert np.abs(found - left @ right).max() < 1e-9


def test_products_on_workers() -> None:
    rng = np.random.default_rng(7)
    left, right = rng.normal(size=(100, 71)), rng.normal(size=(71, 50))
    names = ["polynomial", "matdot", "entangled", "product", "polydot"]
    done = run([ProductJob(left, right, name) for name in names], THREE, [PRODUCTS[name] for name in names]).wait()
    assert [delivery.name for delivery in done.deliveries] == names
    for delivery in done.deliveries:
        assert delivery.error is None
        assert delivery.state.shape == (100, 50)
        assert np.abs(delivery.state - left @ right).max() < 1e-7


def test_a_transform() -> None:
    rng = np.random.default_rng(8)
    real, both = rng.normal(size=960), rng.normal(size=960) + 1j * rng.normal(size=960)
    assert np.abs(alone(TransformJob(real), dh.codes.fft(6, 10)) - np.fft.fft(real)).max() < 1e-8
    done = solved(TransformJob(both, "transform"))
    assert np.abs(done.state - np.fft.fft(both)).max() < 1e-8
    assert done.iterations == 1


def test_what_products_and_transforms_refuse() -> None:
    with pytest.raises(dh.BadInput, match=r"right.*give 3 rows"):
        ProductJob(np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(dh.BadInput, match=r"left.*not finite"):
        ProductJob(np.full((2, 2), np.inf), np.ones((2, 2)))
    with pytest.raises(dh.BadInput, match=r"code.*products"):
        ProductJob(np.eye(3), np.eye(3)).prepare(dh.codes.mds(2, 3), math.inf)
    with pytest.raises(dh.BadInput, match=r"signal.*pad it"):
        TransformJob(np.ones(30)).prepare(dh.codes.fft(4, 6), math.inf)
    with pytest.raises(dh.BadInput, match=r"codes\.fft"):
        TransformJob(np.ones(30)).prepare(dh.codes.mds(5, 6), math.inf)


def test_a_signal_that_is_not_finite_is_refused() -> None:
    with pytest.raises(dh.BadInput, match="signal"):
        TransformJob(np.full(30, np.nan)).prepare(dh.codes.fft(5, 6), math.inf)


# What coding costs


def test_a_code_in_plain_blocks_and_parities_costs_its_parities() -> None:
    matrix = np.random.default_rng(9).normal(size=(60, 30))
    job = MatrixJob(matrix, np.ones(30), lambda state, product, iteration: product, 1)
    assert job.encoding is None
    assert np.abs(alone(job, dh.codes.mds(5, 8)) - matrix @ np.ones(30)).max() < 1e-9
    cost: Any = job.encoding
    assert (cost.plain, cost.coded) == (matrix.nbytes, matrix.nbytes * 8 // 5)
    assert cost.seconds > 0
    alone(job, dh.codes.replication(5, 2, "linear"))
    cost = job.encoding
    assert (cost.plain, cost.coded) == (matrix.nbytes, matrix.nbytes)


def test_when_an_encoding_has_paid() -> None:
    cost = Encoding(6.0, 100, 150)
    assert cost.break_even(0.5, 0.3) == pytest.approx(30.0)
    assert cost.break_even(0.3, 0.5) == math.inf
    assert cost.break_even(0.3, 0.3) == math.inf


def test_blocks_without_padding_are_views() -> None:
    matrix = np.arange(24.0).reshape(6, 4)
    assert all(np.shares_memory(block, matrix) for block in blocks(matrix, 3, 2))
    assert [block.shape for block in blocks(matrix, 4, 3)] == [(2, 2)] * 12
