"""The fingerprint of a job: what a checkpoint knows it by."""

import warnings
from typing import Any

from deadheat.coding import Code
from deadheat.runtime.structure import Structure
from deadheat.scheduling import Program

# Of programs over chunks: what they keep while they work, and what follows from the code.
AT_WORK = {"_results", "_state", "_iteration", "_late", "_loaded", "_ran", "_tasks", "_parts", "_witnesses"}
PARTS = ("another code", "other data", "another start", "other functions or settings")


def fingerprint(program: Program, start: Any) -> str:
    """What tells the job from others: the digests of its code, its data, its start and its functions, in that order.

    The number of iterations and the name do not count. It is the same in every process, under one version of Python and
    of the packages in use. Of data that workers load themselves, where it lies counts, and not what is there. What
    cannot be told apart, such as a lock in a closure, is left out with a warning.
    """
    structure = Structure()
    common = AT_WORK.union(vars(Program(program.code)))  # of all programs: how they are run
    functions = {name: value for name, value in vars(program).items() if name not in common}
    functions |= {"step": program.step, "share": program._share}
    data = getattr(program.chunks, "operands", program.chunks)  # coded blocks may differ in their last digits
    parts = _of_code(program.code), list(data), start, (type(program), functions)
    digests = [structure.digest(part).hex()[:32] for part in parts]
    if structure.omitted:
        kinds = ", ".join(sorted(structure.omitted))
        problem = f"checkpoints of job {program.name!r} cannot tell what a {kinds} holds, and take it for the same"
        warnings.warn(problem, UserWarning, stacklevel=2)
    return "-".join(digests)


def differences(one: str, other: str) -> str:
    """In words, where two fingerprints differ; empty where they do not."""
    pairs = zip(PARTS, one.split("-"), other.split("-"), strict=True)
    return ", ".join(words for words, mine, theirs in pairs if mine != theirs)


def _of_code(code: Code) -> tuple[Any, ...]:
    """Of every task the chunks and their weights; not what the code has computed meanwhile."""
    tasks = [code.support(task) for task in range(code.total)]
    return code.family, code.kind, code.critical, code.total, code.chunks, code.encoders, tasks
