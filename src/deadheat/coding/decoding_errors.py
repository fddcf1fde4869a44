"""What can go wrong when results are decoded; the numbers are attributes."""

from collections.abc import Collection

from deadheat.errors import DeadheatError


class Undecodable(DeadheatError):
    """The results at hand do not determine the iteration.

    done: those that are in. critical: how many suffice. rejected: those that were not finite.
    """

    def __init__(self, family: str, done: Collection[int], critical: int, rejected: Collection[int] = ()) -> None:
        thrown = f", {len(rejected)} more were not finite ({_some(rejected)})" if rejected else ""
        super().__init__(
            f"{family}: the {len(done)} results at hand do not determine the iteration (K = {critical}){thrown};"
            " wait for more"
        )
        self.family, self.done, self.critical, self.rejected = family, tuple(done), critical, tuple(rejected)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.family, self.done, self.critical, self.rejected)


class IllConditioned(DeadheatError):
    """The results determine the iteration, but rounding errors would grow too much when they are combined.

    gain: by how much they grow. limit: by how much they may, for the precision of the results.
    """

    def __init__(self, family: str, done: Collection[int], gain: float, limit: float, remedy: str) -> None:
        super().__init__(
            f"{family}: decoding {len(done)} results multiplies rounding errors by {gain:.3g}, at most {limit:.3g} is"
            f" allowed; {remedy}"
        )
        self.family, self.done, self.gain, self.limit, self.remedy = family, tuple(done), gain, limit, remedy

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.family, self.done, self.gain, self.limit, self.remedy)


class Overflowed(DeadheatError):
    """The results are finite, and their combination is not."""

    def __init__(self, family: str) -> None:
        super().__init__(
            f"{family}: the results are finite but too large to be put together; scale them, or use double precision"
        )
        self.family = family

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.family,)


def _some(tasks: Collection[int]) -> str:
    shown = sorted(tasks)[:5]
    return "tasks " + ", ".join(map(str, shown)) + (", ..." if len(tasks) > 5 else "")
