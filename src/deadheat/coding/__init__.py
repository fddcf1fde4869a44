"""What a task is: codes, what each costs, and how far each may be trusted."""

from deadheat.coding import codes
from deadheat.coding.catalogue import FAMILIES, WAITING, family
from deadheat.coding.certification import Certificate, certify
from deadheat.coding.code import Code
from deadheat.coding.costs import Cost
from deadheat.coding.coverage import CoverageCode
from deadheat.coding.encoding import encode
from deadheat.coding.faults import IllConditioned, Overflowed, Undecodable
from deadheat.coding.linear import LinearCode
from deadheat.coding.neighbours import placement
from deadheat.coding.peeling import PeelingCode
from deadheat.coding.recipes import Recipe
from deadheat.coding.shapes import Family, Shape

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
