"""The least and the largest value of a function of a rate between two rates, where it has one peak at most."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

__all__ = ["over_rates"]

#: Rates tried at a time, how often the grid is drawn in, and how near to 0 and 1 a rate may come.
RATES, ROUNDS, LEAST = 17, 8, 1e-9


def over_rates(value_at: Callable[[Any], Any], ends: tuple[Any, Any]) -> tuple[Any, Any]:
    """(least, largest) of ``value_at(rates)`` between the ends, arrays: the least at an end, the largest by ever finer grids."""
    below, above = (special.logit(np.clip(end, LEAST, 1.0 - LEAST)) for end in ends)
    at_ends = [value_at(special.expit(end)) for end in (below, above)]
    largest = np.maximum(*at_ends)
    for _ in range(ROUNDS):
        odds = np.linspace(below, above, RATES)
        values = value_at(special.expit(odds))
        best = values.argmax(axis=0)
        largest = np.maximum(largest, values.max(axis=0))
        below, above = (np.take_along_axis(odds, np.clip(best + step, 0, RATES - 1)[None], axis=0)[0] for step in (-1, 1))
    return np.minimum(*at_ends), largest
