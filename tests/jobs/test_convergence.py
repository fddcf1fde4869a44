"""Solvers say whether they got there, refuse what they cannot solve, and give up where it is hopeless."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import sparse

import deadheat as dh
from deadheat.errors import NoConvergence, NotConverged
from deadheat.jobs import MatrixJob, conjugate_gradients, jacobi, pagerank, power_iteration, ridge
from deadheat.model import AnyArray as Array
from deadheat.runtime import Converged, run

THREE = dh.Cluster.from_columns([1e-6, 2e-6, 3e-6], 1e-6)


@cache
def system(n: int) -> tuple[Any, Array]:
    """Sparse, symmetric, positive definite, with a dominant diagonal."""
    rng = np.random.default_rng(2)
    half = sparse.random_array((n, n), density=4 / n, rng=rng, format="csr")
    both = half + half.T
    matrix = (both + sparse.diags_array(np.asarray(abs(both).sum(axis=1)).ravel() + 0.1)).tocsr()
    return matrix, rng.normal(size=n)


# Whether they got there


class Ending(NamedTuple):
    """How a job ended: its last state, the iterations it took, and why it was over; no word where it used them up."""

    state: Any
    iterations: int
    why: str


def ending(job: MatrixJob) -> Ending:
    """Iterate in this process, without workers."""
    state = job.start
    for iteration in range(job.iterations):
        vector = state if job.vector is None else job.vector(state)
        state = job.step(state, np.asarray(job.matrix @ vector), iteration)
        if isinstance(state, Converged):
            return Ending(state.state, iteration + 1, state.why)
    return Ending(state, job.iterations, "")


def rotation() -> Array:
    """Its dominant eigenvalues are a complex pair."""
    return np.array([[0.0, -2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def test_solvers_say_that_they_converge_and_with_what() -> None:
    matrix, right = system(41)
    x = np.random.default_rng(4).normal(size=(80, 7))
    jobs = {
        "ranks moved by": pagerank(abs(matrix)),
        "vector turned by": power_iteration(matrix, iterations=20_000),
        "of the right side": jacobi(matrix, right),
        "residual is": conjugate_gradients(matrix, right),
        "gradient is": ridge(x, np.ones(80), 2.0),
    }
    for words, job in jobs.items():
        assert job.converges
        assert job.program(None, math.inf).converges
        assert words in ending(job).why


def test_a_run_that_uses_up_its_iterations_says_so() -> None:
    """A complex dominant pair never converges; the others would have."""
    matrix, right = system(41)
    jobs = [
        jacobi(matrix, right, iterations=3),
        conjugate_gradients(matrix, right, iterations=3),
        power_iteration(rotation(), iterations=3),
    ]
    with pytest.warns(NotConverged, match="did not converge: all 3 iterations") as said:
        deliveries = run(jobs, THREE).wait().deliveries
    assert len(said) == 3
    assert [(done.converged, done.error, done.iterations) for done in deliveries] == [(False, None, 3)] * 3


def test_a_run_that_gets_there_says_with_what() -> None:
    (done,) = run(jacobi(*system(41), tolerance=1e-3), THREE).wait().deliveries
    assert done.converged
    assert done.ended.startswith(f"converged after {done.iterations} iterations: the residual is")


def test_the_state_that_was_judged_is_the_one_delivered() -> None:
    """Its true residual, or gradient, is within the tolerance: with one iteration less it was not."""
    matrix, right = system(41)
    for tolerance in (1e-3, 1e-6, 1e-12):
        for make in (jacobi, conjugate_gradients):
            state, iterations, why = ending(make(matrix, right, tolerance))
            x = getattr(state, "x", state)
            reached = np.linalg.norm(matrix @ x - right) / np.linalg.norm(right)
            assert reached <= tolerance
            assert f"{reached:.2g}" in why
            assert ending(make(matrix, right, tolerance, iterations - 1)).why == ""
    data, y = np.random.default_rng(4).normal(size=(80, 7)), np.ones(80)
    weights, _, why = ending(ridge(data, y, 2.0, 1e-6))
    reached = np.linalg.norm(data.T @ (data @ weights - y) + 2.0 * weights) / np.linalg.norm(data.T @ y)
    assert reached <= 1e-6
    assert f"{reached:.2g}" in why


def ill_conditioned() -> tuple[Array, Array]:
    """Symmetric and positive definite, with a condition number of 1e9."""
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(30, 30)))[0]
    matrix = turn @ np.diag(np.logspace(0, -9, 30)) @ turn.T
    return (matrix + matrix.T) / 2, np.ones(30)


def test_a_residual_that_rounding_errors_do_not_allow_is_not_claimed() -> None:
    """The residual that conjugate gradients carry forward falls below any tolerance; the true one does not."""
    matrix, right = ill_conditioned()
    with pytest.raises(NoConvergence, match="larger tolerance") as said:
        ending(conjugate_gradients(matrix, right, tolerance=1e-10))
    assert said.value.steps < 2000
    assert 1e-8 < said.value.residual < 1e-6
    x = ending(conjugate_gradients(matrix, right, tolerance=1e-6)).state.x
    assert np.linalg.norm(matrix @ x - right) < 1e-6 * np.linalg.norm(right)


def test_jacobi_gives_up_where_the_residual_grows() -> None:
    matrix = np.random.default_rng(6).normal(size=(20, 20)) + 2 * np.eye(20)
    with pytest.raises(NoConvergence, match=r"diagonal is not dominant.*conjugate_gradients") as said:
        ending(jacobi(matrix, np.ones(20)))
    assert said.value.steps < 200
    assert said.value.residual > 1e6


def test_a_singular_matrix_is_not_iterated_to_the_end() -> None:
    with pytest.raises(ValueError, match="not positive definite"):
        ending(conjugate_gradients(np.array([[1.0, -1.0], [-1.0, 1.0]]), [1.0, 0.0]))


def test_a_complex_dominant_pair_never_converges() -> None:
    assert ending(power_iteration(rotation(), iterations=300)).why == ""


def test_a_job_that_is_given_up_names_the_remedy() -> None:
    matrix = np.random.default_rng(6).normal(size=(20, 20)) + 2 * np.eye(20)
    (done,) = run(jacobi(matrix, np.ones(20)), THREE).wait().deliveries
    assert done.error is not None
    assert "NoConvergence: jacobi did not converge" in done.error
    assert "use conjugate_gradients" in done.error


# Symmetry


def unsymmetric(n: int, place: tuple[int, int], by: float = 1e-3) -> Array:
    matrix = np.eye(n)
    matrix[place] += by
    return matrix


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("place", [(3, 1), (1, 3), (1029, 2), (2, 1029), (1028, 1029)])
def test_a_matrix_that_is_not_symmetric_is_refused(place: tuple[int, int], is_sparse: bool) -> None:
    """In every tile that is compared."""
    matrix = unsymmetric(1030, place)
    with pytest.raises(dh.BadInput, match=r"not symmetric: element.*0\.001") as said:
        conjugate_gradients(sparse.csc_array(matrix) if is_sparse else matrix, np.ones(1030))
    assert said.value.field == "matrix"
    assert f"element {place} is 0.001" in str(said.value)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_symmetry_is_seen_in_every_sparse_form(form: str) -> None:
    matrix, right = system(41)
    conjugate_gradients(matrix.asformat(form), right)
    with pytest.raises(dh.BadInput, match="not symmetric"):
        conjugate_gradients(sparse.csr_array(unsymmetric(41, (3, 1))).asformat(form), right)


def test_rounding_errors_are_no_lack_of_symmetry() -> None:
    x = np.random.default_rng(7).normal(size=(60, 40))
    for kind in ("f8", "f4"):
        square = x.astype(kind).T @ x.astype(kind)
        square[0, 1] *= 1 + 8 * np.finfo(kind).eps
        conjugate_gradients(square, np.ones(40))
    conjugate_gradients(np.zeros((3, 3)), np.zeros(3))


def test_small_integers_are_compared_without_wrapping() -> None:
    matrix = np.array([[100, -100], [100, 100]], np.int8)
    with pytest.raises(dh.BadInput, match="not symmetric"):
        conjugate_gradients(matrix, np.ones(2))


# Complex numbers, and small ones


def hermitian() -> tuple[Array, Array]:
    rng = np.random.default_rng(8)
    half = rng.normal(size=(12, 12)) + 1j * rng.normal(size=(12, 12))
    return half @ half.conj().T + 50 * np.eye(12), rng.normal(size=12) + 1j * rng.normal(size=12)


def test_complex_systems_are_solved() -> None:
    matrix, right = hermitian()
    solution = np.linalg.solve(matrix, right)
    assert np.abs(ending(conjugate_gradients(matrix, right)).state.x - solution).max() < 1e-9
    steep = matrix + 300 * np.eye(12)
    assert np.abs(ending(jacobi(steep, right)).state - np.linalg.solve(steep, right)).max() < 1e-9
    assert np.abs(ending(jacobi(steep.real, right)).state - np.linalg.solve(steep.real, right)).max() < 1e-9
    turned = 1j * matrix
    vector = ending(power_iteration(turned, iterations=20_000)).state
    assert np.abs(turned @ vector - np.vdot(vector, turned @ vector) * vector).max() < 1e-6


def test_complex_numbers_are_refused_where_they_mean_nothing() -> None:
    matrix, right = hermitian()
    with pytest.raises(dh.BadInput, match="not symmetric"):
        conjugate_gradients(matrix + matrix.T * 1j, right)
    with pytest.raises(dh.BadInput, match=r"links.*complex"):
        pagerank(matrix)
    with pytest.raises(dh.BadInput, match=r"x = .*complex"):
        ridge(matrix, np.ones(12), 1.0)
    with pytest.raises(dh.BadInput, match=r"y = .*complex"):
        ridge(matrix.real, right, 1.0)


def test_ridge_of_small_integers_does_not_wrap() -> None:
    x = np.random.default_rng(9).integers(-100, 100, size=(50, 3)).astype(np.int8)
    wide = x.astype(float)
    expected = np.linalg.solve(wide.T @ wide + np.eye(3), wide.T @ np.ones(50))
    assert np.abs(ending(ridge(x, np.ones(50), 1.0)).state - expected).max() < 1e-6
