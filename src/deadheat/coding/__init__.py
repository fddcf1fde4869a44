"""What a task is: codes, what each costs, and how far each may be trusted."""

from deadheat.coding import codes
from deadheat.coding.catalogue import FAMILIES, WAITING, family
from deadheat.coding.certification import Certificate, certify
from deadheat.coding.code import Code
from deadheat.coding.cost import Cost
from deadheat.coding.coverage_code import CoverageCode
from deadheat.coding.decoding_errors import IllConditioned, Overflowed, Undecodable
from deadheat.coding.encoding import encode
from deadheat.coding.linear_code import LinearCode
from deadheat.coding.peeling_code import PeelingCode
from deadheat.coding.placement import placement
from deadheat.coding.recipe import Recipe
from deadheat.coding.shape import Family, Shape

__all__ = [
    "FAMILIES",
    "WAITING",
    "Certificate",
    "Code",
    "Cost",
    "CoverageCode",
    "Family",
    "IllConditioned",
    "LinearCode",
    "Overflowed",
    "PeelingCode",
    "Recipe",
    "Shape",
    "Undecodable",
    "certify",
    "codes",
    "encode",
    "family",
    "placement",
]
