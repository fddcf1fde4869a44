"""The estimators in the manner of scikit-learn: its own checks, its own answers, its own tools."""

from __future__ import annotations

from multiprocessing import Pipe, get_context

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import deadheat as dh
from deadheat.model import AnyArray as Array
from deadheat.sklearn import LinearRegressor, LogisticClassifier

KINDS = {"linear": LinearRegressor, "logistic": LogisticClassifier}


def table() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(150, 4))
    return x, x @ [1.0, -2.0, 0.5, 0.0] + 3.0 + 0.5 * rng.normal(size=150)


def labels(classes: int) -> Array:
    _, y = table()
    names = np.array(["calm", "fair", "wild"])
    return np.asarray(names[np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("kind", [*KINDS])
def test_scikit_learn_finds_no_fault(kind: str) -> None:
    check_estimator(KINDS[kind](workers=2, chunks=3), on_fail="raise")


def test_linear_is_ridge() -> None:
    x, y = table()
    ours = LinearRegressor(l2=0.1, tolerance=1e-9, workers=2).fit(x, y)
    other = Ridge(alpha=0.1 * len(x)).fit(x, y)
    assert np.abs(ours.coef_ - other.coef_).max() < 1e-6
    assert ours.intercept_ == pytest.approx(other.intercept_, abs=1e-6)
    assert ours.score(x, y) == pytest.approx(other.score(x, y))
    assert ours.n_iter_ > 1


@pytest.mark.parametrize("unit", [1e-200, 1e-7, 1.0, 1e7, 1e150])
def test_the_unit_of_the_target_does_not_matter(unit: float) -> None:
    x, y = table()
    y = y + 1e4
    ours = LinearRegressor(l2=0.1, workers=2).fit(x, unit * y)
    other = Ridge(alpha=0.1 * len(x), solver="cholesky").fit(x, y)
    assert ours.converged_
    assert np.abs(ours.coef_ / unit - other.coef_).max() < 1e-5
    assert ours.intercept_ / unit == pytest.approx(other.intercept_, abs=1e-5)
    loss = 0.5 * np.mean((other.predict(x) - y) ** 2) + 0.05 * other.coef_ @ other.coef_
    assert ours.loss_ / unit / unit == pytest.approx(loss) or unit == 1e-200  # whose square is zero


def test_a_constant_target_has_no_slope() -> None:
    x, _ = table()
    for value in (0.0, 0.1, -3e8):
        fit = LinearRegressor(workers=2).fit(x, np.full(len(x), value))
        assert fit.intercept_ == pytest.approx(value)
        assert np.abs(fit.coef_).max() <= 1e-9 * abs(value)


@pytest.mark.parametrize("classes", [2, 3], ids=["two", "three"])
def test_logistic_is_that_of_scikit_learn(classes: int) -> None:
    x, y = table()[0], labels(classes)
    ours = LogisticClassifier(l2=0.02, tolerance=1e-9, iterations=1000, workers=2).fit(x, y)
    other = LogisticRegression(C=1 / (0.02 * len(x)), tol=1e-10, max_iter=10_000).fit(x, y)
    assert list(ours.classes_) == list(other.classes_)
    assert ours.coef_.shape == other.coef_.shape
    assert ours.intercept_.shape == other.intercept_.shape
    assert np.abs(ours.coef_ - other.coef_).max() < 1e-4
    assert np.abs(ours.predict_proba(x) - other.predict_proba(x)).max() < 1e-5
    assert list(ours.predict(x)) == list(other.predict(x))


def test_a_code_and_another_step_change_nothing() -> None:
    x, y = table()
    plain = LinearRegressor(l2=0.1, tolerance=1e-8, workers=2).fit(x, y)
    coded = LinearRegressor(l2=0.1, tolerance=1e-8, workers=2, chunks=12, code=dh.codes.cyclic(12, 2)).fit(x, y)
    slow = LinearRegressor(l2=0.1, tolerance=1e-8, workers=2, step="descent", rate=0.5, iterations=500).fit(x, y)
    assert np.abs(coded.coef_ - plain.coef_).max() < 1e-6
    assert np.abs(slow.coef_ - plain.coef_).max() < 1e-6


def test_a_fit_that_did_not_converge_warns_as_those_of_scikit_learn_do() -> None:
    x, y = table()
    with pytest.warns(ConvergenceWarning, match=r"LinearRegressor did not converge in 2 iterations.*increase") as said:
        fit = LinearRegressor(iterations=2, workers=2).fit(x, y)
    assert [warning.category for warning in said] == [ConvergenceWarning]  # and no other of our own
    assert said[0].filename == __file__
    assert (fit.converged_, fit.n_iter_) == (False, 2)
    with pytest.warns(ConvergenceWarning, match="LogisticClassifier"):
        assert not LogisticClassifier(iterations=2, workers=2).fit(x, labels(3)).converged_


def test_a_fit_that_converged_says_so_without_a_word() -> None:
    x, y = table()
    assert LinearRegressor(workers=2).fit(x, y).converged_
    endless = LinearRegressor(tolerance=0.0, iterations=3, workers=2).fit(x, y)  # as many iterations as asked for
    assert (endless.converged_, endless.n_iter_) == (False, 3)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_fits_with_workers_of_its_own() -> None:
    x, y = table()
    mine = LinearRegressor(workers=2).fit(x, y)
    reader, writer = Pipe(duplex=False)

    def fit_again() -> None:
        writer.send(LinearRegressor(workers=2).fit(x, y).coef_)

    child = get_context("fork").Process(target=fit_again)
    child.start()
    assert reader.poll(60)
    assert np.abs(reader.recv() - mine.coef_).max() < 1e-9
    child.join(30)
    assert child.exitcode == 0
    assert np.abs(LinearRegressor(workers=2).fit(x, y).coef_ - mine.coef_).max() < 1e-9


def test_in_a_pipeline() -> None:
    x, y = table()[0] * [1.0, 100.0, 0.01, 1.0] + 5.0, labels(3)
    line = make_pipeline(StandardScaler(), LogisticClassifier(workers=2)).fit(x, y)
    assert line.score(x, y) > 0.8


def test_in_a_grid_search() -> None:
    x, y = table()
    search = GridSearchCV(LinearRegressor(workers=2, chunks=4), {"l2": [1e-4, 10.0]}, cv=3).fit(x, y)
    assert search.best_params_ == {"l2": 1e-4}
    assert search.best_score_ > 0.9


def test_a_clone_has_the_same_settings() -> None:
    code = dh.codes.cyclic(12, 2)
    cloned = clone(LinearRegressor(l2=0.5, step="adam", rate=0.1, chunks=12, code=code, workers=2))
    assert (cloned.l2, cloned.step, cloned.rate, cloned.chunks, cloned.workers) == (0.5, "adam", 0.1, 12, 2)
    assert cloned.code.total == 12


def test_settings_that_cannot_be_meant_are_said_at_the_fit() -> None:
    x, y = table()
    with pytest.raises(dh.BadInput, match="step"):
        LinearRegressor(step="newton", workers=2).fit(x, y)
    with pytest.raises(dh.BadInput, match="l2"):
        LogisticClassifier(l2=-1.0, workers=2).fit(x, labels(2))
    with pytest.raises(dh.BadInput, match="chunks"):
        LinearRegressor(code=dh.codes.cyclic(30, 2), workers=2).fit(x, y)


def test_they_are_at_the_door() -> None:
    assert dh.sklearn.LinearRegressor is LinearRegressor
    assert dh.sklearn.LogisticClassifier is LogisticClassifier
    with pytest.raises(AttributeError, match="TreeRegressor"):
        _ = dh.sklearn.TreeRegressor  # type: ignore[attr-defined]
