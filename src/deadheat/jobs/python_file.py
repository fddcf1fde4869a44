"""A job of the user's own from a Python file: `train.py:job`."""

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from deadheat.errors import BadInput
from deadheat.runtime import Workable

REMEDY = "write FILE.py:NAME, where NAME is a Job, a list of them, or a function that returns one"


def jobs_of(field: str, place: object, count: int) -> list[Workable]:
    """The jobs that `file.py:name` stands for: one Job so many times, a list of Jobs, or what a function returns."""
    if not isinstance(place, str) or ":" not in place:
        raise BadInput(field, place, "not a file and a name", REMEDY)
    file, _, name = place.rpartition(":")
    found = getattr(_module(field, place, Path(file)), name, None)
    if found is None:
        raise BadInput(field, place, f"{file} has no {name}", REMEDY)
    result: Any = found if _is_job(found) or not callable(found) else found()
    jobs = [result] * count if _is_job(result) else result
    if not isinstance(jobs, Sequence) or not jobs or not all(map(_is_job, jobs)):
        raise BadInput(field, place, f"{name} is no Job", REMEDY)
    return list(jobs)


def _is_job(thing: object) -> bool:
    return hasattr(thing, "program") and not isinstance(thing, type)


def _module(field: str, place: str, file: Path) -> ModuleType:
    """The file as a module. Its functions travel whole, since workers cannot import it by name."""
    import cloudpickle

    if not file.is_file():
        raise BadInput(field, place, f"there is no file {file}", REMEDY)
    spec = importlib.util.spec_from_file_location(f"deadheat_job_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise BadInput(field, place, "not a Python file", REMEDY)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
        raise BadInput(field, place, " ".join(problem.split()), "mend the file") from error
    cloudpickle.register_pickle_by_value(module)
    return module
