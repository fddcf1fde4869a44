"""Where a scenario's jobs are run for real, as its file says."""

from collections.abc import Sequence
from dataclasses import dataclass

from deadheat.errors import BadInput, finite, nearest

KINDS = ("local", "ray")


@dataclass(frozen=True)
class EngineSpec:
    """The table [engine]: "local" processes, or "ray" at an address (empty starts a Ray cluster on this machine).

    emulate: stretch task times to the laws of the workers. speedup: by how many times emulated times are shortened.
    quotas: for each local worker the share of a core that it gets (as root, on Linux).
    """

    kind: str = "local"
    address: str = ""
    emulate: bool = False
    speedup: float = 1.0
    quotas: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise BadInput("kind", self.kind, "no such engine", nearest(str(self.kind), KINDS))
        if not isinstance(self.address, str):
            raise BadInput("address", self.address, "not a text", 'write it in quotes, such as "auto"')
        if not isinstance(self.emulate, bool):
            raise BadInput("emulate", self.emulate, "neither true nor false", "write emulate = true")
        finite("speedup", self.speedup, "give how many times faster, above 0", above=0.0)
        if self.speedup != 1 and not self.emulate:
            raise BadInput("speedup", self.speedup, "real workers cannot be sped up", "add emulate = true")
        if isinstance(self.quotas, str) or not isinstance(self.quotas, Sequence):
            raise BadInput("quotas", self.quotas, "not a list", "write shares of a core, such as [1.0, 0.5]")
        shares = (finite(f"quotas[{i}]", q, "give a share of a core", above=0.0) for i, q in enumerate(self.quotas))
        object.__setattr__(self, "quotas", tuple(shares))
