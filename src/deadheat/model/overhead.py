"""Seconds of an iteration at the master, whatever the workers do: the paper's future work, as constants."""

from dataclasses import dataclass, fields

from deadheat.errors import check_field
from deadheat.model.quantity import quantity


@dataclass(frozen=True)
class Overhead:
    """Seconds per iteration for encoding, decoding and the update of the state."""

    encode: float = 0.0
    decode: float = 0.0
    update: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            check_field(self, quantity, field.name, "give seconds per iteration, 0 for none", least=0.0)

    @property
    def total(self) -> float:
        return self.encode + self.decode + self.update


NONE = Overhead()
