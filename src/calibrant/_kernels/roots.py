"""Safeguarded Newton for the root of an increasing function on a positive interval."""

import numpy as np

__all__ = ["increasing_root"]


def increasing_root(function, low, high, start, tolerance=1e-12, max_steps=200):
    """Root of an increasing ``function(x) -> (value, slope)`` on [low, high], low > 0.

    Newton steps kept inside a bracket that shrinks at every step; a step that leaves it becomes a bisection in log x.
    Returns (x, status), status one of "converged", "at lower bound", "at upper bound", "flat" (value and slope are 0
    at the start: nothing to learn, x = start), "max steps".
    """
    x = float(start)
    value, slope = function(x)
    if value == 0.0 and slope <= 0.0:
        return x, "flat"
    lower, upper, seen_negative, seen_positive = low, high, False, False
    for _ in range(max_steps):
        if value == 0.0:
            return x, "converged"
        if value < 0.0:
            lower, seen_negative = x, True
        else:
            upper, seen_positive = x, True
        if x >= high and value < 0.0:
            return high, "at upper bound"
        if x <= low and value > 0.0:
            return low, "at lower bound"
        step = x - value / slope if slope > 0.0 else np.inf
        # Before the bracket is asked: rounding puts a last step on its edge, and halving a wide bracket would go on for long.
        if not lower < step < upper and not abs(step - x) <= tolerance * x:
            step = np.sqrt(lower * upper) if seen_negative and seen_positive else _widen(x, value, low, high)
        if abs(step - x) <= tolerance * x:
            return float(step), "converged"
        x = float(step)
        value, slope = function(x)
    return x, "max steps"


def _widen(x, value, low, high):
    """One decade towards the root while it is not bracketed."""
    return max(x / 10.0, low) if value > 0.0 else min(x * 10.0, high)
