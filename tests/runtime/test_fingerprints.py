"""The fingerprint of a job: the same wherever the same job is made, another for any other job."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial, update_wrapper
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import deadheat as dh
from deadheat.coding import Code
from deadheat.jobs import Rollouts, arrays, conjugate_gradients, jacobi, least_squares
from deadheat.runtime import Job, Workable
from deadheat.runtime.fingerprint import differences, fingerprint
from deadheat.scheduling import Token

RATE = 0.5


def mark(job: Workable, code: Code | None = None) -> str:
    return fingerprint(job.program(code, math.inf), job.start)


def total(state: Any, chunk: Any) -> Any:
    return np.asarray(chunk).sum()


def add(state: Any, answer: Any, iteration: int) -> Any:
    return state + RATE * answer


def job(compute: Any = total, step: Any = add, **settings: Any) -> Job:
    data = [np.arange(5.0) + n for n in range(4)]
    return Job(**{"chunks": data, "compute": compute, "start": np.zeros(2), "step": step, "iterations": 3} | settings)


def said(one: Workable, other: Workable) -> str:
    """In words, where two jobs differ; the first differs from itself nowhere."""
    assert mark(one) == mark(one)
    return differences(mark(one), mark(other))


# The same job


SCRIPT = """
    import collections, functools, math
    from dataclasses import dataclass
    from random import gauss
    from typing import NamedTuple
    import numpy as np
    from numpy.random import normal
    from scipy import sparse
    import deadheat as dh
    from deadheat.runtime.fingerprint import fingerprint

    WORDS = {"a", "b", "c", "d", "e"}

    def helper(x, known=frozenset({"u", "v", "w"})):
        return x if x in {"p", "q", "r"} else helper(gauss(0, 1) + normal())

    @dataclass(frozen=True)
    class Part:
        names: set
        scale: float = 2.0

        def __call__(self, state, chunk):
            helper("p")
            return self.scale * np.asarray(chunk["x"]).sum() + len(WORDS)

        def __hash__(self):
            return 5

    class Step:
        def __init__(self):
            self.seen = {"x": {1, 2}, "y": (3.0, None)}

        def step(self, state, answer, iteration):
            return state + answer

    step = Step()

    class Point(NamedTuple):
        x: float
        y: float = 1.0

    class Words(set):
        pass

    step.more = Point(2.0), Words({"f", "g", "h"}), collections.defaultdict(list, a=[1]), collections.Counter("aab")
    chunks = [{"x": np.arange(4.0), "y": sparse.eye_array(3).tocsr(), "z": {"k", "l", "m"}} for _ in range(3)]
    job = dh.Job(chunks, Part({"i", "j", "k"}), {"s": 1.0}, step.step, 3, share=functools.partial(dict, a=1))
    print(fingerprint(job.program(dh.codes.cyclic(3, 1), math.inf), job.start))
"""


def test_it_is_the_same_in_every_process(tmp_path: Path) -> None:
    """Whatever the order of sets, the file and the lines in it."""
    marks = set()
    for seed in range(3):
        file = tmp_path / f"script{seed}.py"
        file.write_text("\n" * 7 * seed + textwrap.dedent(SCRIPT))
        environment = os.environ | {"PYTHONHASHSEED": str(seed)}
        done = subprocess.run([sys.executable, file], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        marks.add(done.stdout)
    assert len(marks) == 1


def test_neither_name_nor_length_nor_warnings_count() -> None:
    assert mark(job()) == mark(job(iterations=9, name="other", converges=True))


def test_a_solver_may_be_given_more_iterations() -> None:
    matrix, right = np.diag([4.0, 5.0, 6.0]), np.ones(3)
    assert said(jacobi(matrix, right, iterations=5), jacobi(matrix, right, iterations=50)) == ""
    assert said(jacobi(matrix, right), jacobi(2 * matrix, right)) == "other data, other functions or settings"
    assert said(jacobi(matrix, right), jacobi(matrix, 2 * right)) == "other functions or settings"


def test_a_program_at_work_is_the_same_job() -> None:
    for kind in (job(), Rollouts(lambda state, seed: np.array(seed), 0.0, add, 3, critical=2, total=3, recycle=True)):
        program = kind.program(None, math.inf)
        before = fingerprint(program, kind.start)
        program.begin(program.share(kind.start), 1)
        program.decode({task: program.run(task, Token(lambda: True)) for task in range(program.code.total)})
        assert fingerprint(program, kind.start) == before


ORDERS: dict[str, Callable[[Any], Any]] = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "strided": lambda table: np.repeat(table, 2, axis=1)[:, ::2],
}


@pytest.mark.parametrize("order", [*ORDERS])
def test_where_an_array_lies_does_not_count(order: str) -> None:
    plain = np.random.default_rng(0).normal(size=(300, 200))
    other = ORDERS[order](plain.copy())
    assert said(job(chunks=[plain]), job(chunks=[other])) == ""
    other[299, 199] += 1e-9
    assert said(job(chunks=[plain]), job(chunks=[other])) == "other data"


def test_a_map_of_a_file_is_its_data(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(6.0))
    assert said(job(chunks=[np.arange(6.0)]), job(chunks=[np.load(tmp_path / "x.npy", mmap_mode="r")])) == ""


def test_large_arrays_that_are_not_in_one_piece_count_to_the_last_block() -> None:
    table = np.zeros((3, 5_000_000), np.int8).T  # two blocks
    other = table.copy(order="F")
    other[-1, -1] = 1
    assert said(job(chunks=[table]), job(chunks=[other])) == "other data"


# Another job


class Row(list[float]):
    unit = ""


class Settings(dict[str, float]):
    rate = 0.0


class Words(set[str]):
    language = ""


class Measured(np.ndarray[Any, Any]):
    unit = ""


def labelled(thing: Any, **attributes: Any) -> Any:
    vars(thing).update(attributes)
    return thing


DATA: dict[str, tuple[Any, Any]] = {
    "an order of keys": ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    "an attribute of a list": (labelled(Row([1.0]), unit="m"), labelled(Row([1.0]), unit="s")),
    "an attribute of a dict": (labelled(Settings(a=1.0), rate=1.0), labelled(Settings(a=1.0), rate=2.0)),
    "an attribute of a set": (labelled(Words("a"), language="en"), labelled(Words("a"), language="fr")),
    "an attribute of an array": (
        labelled(np.zeros(2).view(Measured), unit="m"),
        labelled(np.zeros(2).view(Measured), unit="s"),
    ),
    "an element of a list of one's own": (Row([1.0]), Row([2.0])),
    "an item of a dict of one's own": (Settings(a=1.0), Settings(a=2.0)),
    "an element": (np.arange(3.0), np.array([0.0, 1.0, 2.5])),
    "a type": (np.arange(3), np.arange(3.0)),
    "a shape": (np.zeros((2, 3)), np.zeros((3, 2))),
    "a sparse element": (sparse.csr_array(np.eye(3)), sparse.csr_array(np.diag([1.0, 1.0, 2.0]))),
    "a key": ({"a": 1}, {"b": 1}),
    "an order": ([1, 2], [2, 1]),
    "a word": ("yes", "no"),
    "a nesting": ((1, (2, 3)), ((1, 2), 3)),
    "an object's field": (Path("a"), Path("b")),
    "a time": (np.array(["2026-01-01"], "M8[D]"), np.array(["2026-01-02"], "M8[D]")),
    "an object": (np.array([None, "x"], object), np.array([None, "y"], object)),
    "a mask": (np.ma.array([1.0, 2.0], mask=[False, True]), np.ma.array([1.0, 2.0], mask=[False, False])),
    "a generator": (np.random.default_rng(1), np.random.default_rng(2)),
    "a large number": (10**5000, 10**5000 + 1),
}


@pytest.mark.parametrize("what", [*DATA])
def test_data_count(what: str) -> None:
    one, other = DATA[what]
    assert said(job(chunks=[one]), job(chunks=[other])) == "other data"


def test_the_start_counts() -> None:
    assert said(job(), job(start=np.ones(2))) == "another start"


def test_the_code_counts() -> None:
    plain, coded, other = (mark(job(), code) for code in (None, dh.codes.cyclic(4, 1), dh.codes.cyclic(4, 2)))
    assert differences(plain, coded) == differences(coded, other) == "another code"


def with_rate(rate: float) -> Any:
    return lambda state, answer, iteration: state + rate * answer


def with_default(rate: float) -> Any:
    def step(state: Any, answer: Any, iteration: int, rate: float = rate) -> Any:
        return state + rate * answer

    return step


def compiled(text: str, **around: Any) -> Any:
    """The function `f` of a script."""
    exec(textwrap.dedent(text), around)
    return around["f"]


@dataclass(frozen=True)
class Moved:
    rate: float

    def __call__(self, state: Any, answer: Any, iteration: int) -> Any:
        return state + self.rate * answer

    def scaled(self, state: Any, answer: Any, iteration: int) -> Any:
        return state * self.rate

    def back(self, state: Any, answer: Any, iteration: int) -> Any:
        return state - self.rate * answer


def subtract(state: Any, answer: Any, iteration: int) -> Any:
    return state - RATE * answer


def calling(body: str) -> Any:
    return compiled(f"""
        def g(x):
            return {body}
        def f(state, answer, iteration):
            return g(answer)
    """)


def method(body: str) -> Any:
    return compiled(f"""
        class F:
            def __call__(self, state, answer, iteration):
                return self.rest(answer)
            def rest(self, x):
                return {body}
        f = F()
    """)


class Scaled:
    """A wrapper as functools makes them, with a number of its own."""

    def __init__(self, function: Callable[..., Any], factor: float) -> None:
        update_wrapper(self, function)
        self.factor = factor

    def __call__(self, *arguments: Any) -> Any:
        return self.factor * self.__wrapped__(*arguments)  # type: ignore[attr-defined]


FUNCTIONS: dict[str, tuple[Any, Any]] = {
    "a field of a wrapper": (Scaled(add, 1.0), Scaled(add, 2.0)),
    "what is wrapped": (Scaled(add, 1.0), Scaled(subtract, 1.0)),
    "an attribute": (labelled(with_rate(1.0), factor=1.0), labelled(with_rate(1.0), factor=2.0)),
    "a body": (add, subtract),
    "a closure": (with_rate(1.0), with_rate(2.0)),
    "a default": (with_default(1.0), with_default(2.0)),
    "a constant": (lambda s, a, i: s + 1.0 * a, lambda s, a, i: s + 2.0 * a),
    "a partial": (partial(add, iteration=1), partial(add, iteration=2)),
    "a field": (Moved(1.0), Moved(2.0)),
    "a method": (Moved(1.0).scaled, Moved(1.0).back),
    "a method's body": (method("x + 1"), method("x - 1")),
    "a function that it calls": (calling("x + 1"), calling("x - 1")),
    "a global": (
        compiled("f = lambda s, a, i: s + rate * a", rate=1.0),
        compiled("f = lambda s, a, i: s + rate * a", rate=2.0),
    ),
    "a name of a library": (np.add, np.subtract),
    "a cached function": (lru_cache(add), lru_cache(subtract)),
}


@pytest.mark.parametrize("what", [*FUNCTIONS])
@pytest.mark.parametrize("place", ["step", "compute", "share"])
def test_functions_count(what: str, place: str) -> None:
    one, other = FUNCTIONS[what]
    assert said(job(**{place: one}), job(**{place: other})) == "other functions or settings"


def test_what_is_written_elsewhere_with_the_same_body_is_the_same() -> None:
    assert said(job(step=calling("x + 1")), job(step=calling("x + 1"))) == ""
    assert said(job(step=method("x + 1")), job(step=method("x + 1"))) == ""
    assert said(job(step=Moved(1.0)), job(step=replace(Moved(2.0), rate=1.0))) == ""


def test_settings_of_built_in_jobs_count() -> None:
    source = arrays(np.arange(12.0).reshape(6, 2), np.arange(6.0))
    plain = least_squares(source)
    assert said(plain, least_squares(source, iterations=7)) == ""
    assert said(plain, least_squares(source, l2=0.1)) == "other functions or settings"
    assert said(plain, least_squares(source, step="adam")) == "another start"
    matrix = np.diag(np.arange(1.0, 5.0))
    one, other = (conjugate_gradients(matrix, np.ones(4), tolerance) for tolerance in (1e-6, 1e-9))
    assert said(one, other) == "other functions or settings"


def test_models_optimizers_and_losses_count() -> None:
    import torch

    x, y = torch.arange(12.0).reshape(6, 2), torch.arange(6.0).reshape(6, 1)

    def training(
        seed: int = 0, lr: float = 0.1, loss: Any = torch.nn.functional.mse_loss, wide: bool = False, y: Any = y
    ) -> Workable:
        torch.manual_seed(seed)
        model = torch.nn.Sequential(
            torch.nn.Linear(2, 3), torch.nn.Tanh() if wide else torch.nn.ReLU(), torch.nn.Linear(3, 1)
        )
        optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        return dh.torch.Training(model, loss, (x, y), optimizer, iterations=2, chunks=3)

    assert said(training(), training()) == ""
    assert said(training(), training(y=y + 1)) == "other data"
    assert said(training(), training(lr=0.2)) == "another start"
    assert "another start" in said(training(), training(seed=1))
    assert "another start" in said(training(), training(wide=True))
    assert said(training(), training(loss=torch.nn.functional.l1_loss)) == "other functions or settings"
    assert said(training(), training(loss=torch.nn.MSELoss(reduction="sum"))) == "other functions or settings"


# What cannot be told apart


def locked(rate: float) -> Callable[..., Any]:
    lock = threading.Lock()

    def step(state: Any, answer: Any, iteration: int) -> Any:
        with lock:
            return state + rate * answer

    return step


def test_what_is_left_out_is_said() -> None:
    with pytest.warns(UserWarning, match="cannot tell what a lock holds"):
        one, same, other = (mark(job(step=locked(rate))) for rate in (1.0, 1.0, 2.0))
    assert one == same
    assert differences(one, other) == "other functions or settings"


def test_what_refers_to_itself_is_no_trap() -> None:
    def ring(size: int) -> list[Any]:
        around: list[Any] = [size]
        around.append(around)
        return around

    assert said(job(chunks=[ring(1)]), job(chunks=[ring(1)])) == ""
    assert said(job(chunks=[ring(1)]), job(chunks=[ring(2)])) == "other data"
