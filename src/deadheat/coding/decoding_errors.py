"""What can go wrong when results are decoded; the numbers are attributes."""

from collections.abc import Collection

from deadheat.errors import DeadheatError


class Undecodable(DeadheatError):
    """The results at hand do not determine the iteration.

    done: those that are in. critical: how many suffice. rejected: those that were not finite.
    """

    def __init__(self, family: str, done: Collection[int], critical: int, rejected: Collection[int] = ()) -> None:
        problem = f"the {len(done)} results at hand do not determine the iteration (K = {critical})"
        if rejected:
            tasks = ", ".join(map(str, sorted(rejected)[:5])) + (", ..." if len(rejected) > 5 else "")
            problem += f", {len(rejected)} more were not finite (tasks {tasks})"
        super().__init__(f"{family}: {problem}; wait for more")
        self.family, self.done, self.critical, self.rejected = family, tuple(done), critical, tuple(rejected)


class IllConditioned(DeadheatError):
    """The results determine the iteration, but rounding errors would grow too much when they are combined.

    gain: by how much they grow. limit: by how much they may, for the precision of the results.
    """

    def __init__(self, family: str, done: Collection[int], gain: float, limit: float, remedy: str) -> None:
        problem = f"decoding {len(done)} results multiplies rounding errors by {gain:.3g}"
        super().__init__(f"{family}: {problem}, at most {limit:.3g} is allowed; {remedy}")
        self.family, self.done, self.gain, self.limit, self.remedy = family, tuple(done), gain, limit, remedy


class Overflowed(DeadheatError):
    """The results are finite, and their combination is not."""

    def __init__(self, family: str) -> None:
        problem = "the results are finite but too large to be put together"
        super().__init__(f"{family}: {problem}; scale them, or use double precision")
        self.family = family
