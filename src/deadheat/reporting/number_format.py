"""Numbers as people and as JSON read them."""

import json
import math
from typing import Any

import numpy as np

from deadheat.model import Interval


def seconds(value: float) -> str:
    """Four digits with the unit: 49.53 s, 1.2 ms, infinite."""
    if not math.isfinite(value):
        return "infinite" if math.isinf(value) else "-"
    if value == 0 or value >= 0.1:
        return f"{value:.4g} s"
    return f"{value * 1e3:.4g} ms" if value >= 1e-4 else f"{value * 1e6:.4g} us"


def seconds_range(low: float, high: float) -> str:
    """Both ends with their units: 1.2 ms to 3.4 ms."""
    return f"{seconds(low)} to {seconds(high)}"


def ends(interval: Interval) -> str:
    """The ends of an interval without a unit, for columns beside the mean; they may be negative."""
    return f"{interval.low:.4g} to {interval.high:.4g}"


def plain(value: Any) -> Any:
    """The same with nothing in it that JSON has no word for: infinity is "inf", NaN is null."""
    match value:
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case np.ndarray():
            return plain(value.tolist())
        case np.generic():
            return plain(value.item())
        case float() if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        case float() if math.isnan(value):
            return None
        case _:
            return value


def to_json(value: Any) -> str:
    """One JSON object, indented."""
    return json.dumps(plain(value), indent=2, allow_nan=False)
