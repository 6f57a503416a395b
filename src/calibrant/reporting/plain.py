"""What both kinds of summary need: the result made plain."""

import math
from typing import Any

import numpy as np

__all__ = ["plain"]


def plain(value) -> Any:
    """NumPy's numbers as Python's, and nan as None, so that any JSON writer takes it."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
