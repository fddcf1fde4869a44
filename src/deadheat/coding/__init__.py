"""What a task is: codes, what each costs, and how far each may be trusted."""

from deadheat.coding import codes
from deadheat.coding.block_products import Grid
from deadheat.coding.catalogue import FAMILIES, WAITING, family, register
from deadheat.coding.certification import Certificate, affordable, carries, certify
from deadheat.coding.code import Code, same_shape
from deadheat.coding.cost import Cost, placement
from deadheat.coding.coverage_code import CoverageCode
from deadheat.coding.decoding_errors import IllConditioned, Overflowed, Undecodable
from deadheat.coding.decoding_recipe import Recipe, Weights
from deadheat.coding.encoding import ShortBlock, encode
from deadheat.coding.linear_code import LinearCode, gradient_code
from deadheat.coding.mixture import Mixture, in_parts, mixture
from deadheat.coding.peeling_code import PeelingCode
from deadheat.coding.precision import added, data_type, floating, most_gain, whole_numbers, wide
from deadheat.coding.shape import KINDS, Family, Shape, sizes
