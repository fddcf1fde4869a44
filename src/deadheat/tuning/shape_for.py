"""The code that a scenario names: a family and a size, for a kind of work."""

from deadheat.coding import FAMILIES, Shape, family
from deadheat.errors import BadInput
from deadheat.model import Scenario

USUAL = {"gradient": "cyclic", "linear": "mds"}  # where there is redundancy and no family is named


def shape_for(scenario: Scenario, kind: str = "gradient") -> Shape:
    """The shape of the scenario's K and n: of the family it names, or of the usual one; uncoded without redundancy."""
    spec = scenario.spec
    name = scenario.family or ("uncoded" if spec.total == spec.critical else USUAL[kind])
    try:
        chosen = family(name)
    except BadInput as error:
        raise error.within("code") from None
    if kind not in chosen.kinds:
        fitting = ", ".join(other.name for other in FAMILIES.values() if kind in other.kinds)
        problem = "not for sums over chunks" if kind == "gradient" else f"not for {kind} work"
        raise BadInput("code.family", name, problem, f"take one of {fitting}")
    shapes = list(chosen.shapes(kind, spec.critical, spec.total))
    of_size = [shape for shape in shapes if (shape.critical, shape.total) == (spec.critical, spec.total)]
    if not of_size:
        sizes = ", ".join(f"{shape.critical} of {shape.total}" for shape in shapes) or "none"
        problem = f"{name} has no {spec.critical} of {spec.total}"
        raise BadInput("code.critical", spec.critical, problem, f"near it are: {sizes}")
    return min(of_size, key=lambda shape: abs(shape.cost.shared_chunks - spec.shared_chunks))
