"""Splits and memory orders of the same rows, whose answers must have the same bits."""

from collections.abc import Callable
from typing import Any

import numpy as np

from calibrant.testing.check import same_bits, show_near

__all__ = ["LAYOUTS", "laid_out", "same_rows", "splits"]

#: Rows that are asked for alone, and of the short slices.
ALONE, SHORT = 8, 7


def splits(n: int) -> list[list[slice]]:
    """Return parts of n rows: single rows, halves that leave the last row to itself, and short slices."""
    single = [slice(i, i + 1) for i in np.unique(np.linspace(0, n - 1, ALONE).astype(int)).tolist()]
    short = [slice(i, min(i + SHORT, n)) for i in range(0, min(n, 3 * SHORT), SHORT)]
    halves = [slice(0, n // 2), slice(n // 2, n - 1), slice(n - 1, n)]
    return [single, [part for part in halves if part.stop > part.start], short]


def _spread(values: np.ndarray) -> np.ndarray:
    """Every other row and column of a larger array."""
    wide = np.zeros(tuple(2 * size for size in values.shape), values.dtype)
    every_other = tuple(slice(None, None, 2) for _ in values.shape)
    wide[every_other] = values
    return wide[every_other]


def _reversed(values: np.ndarray) -> np.ndarray:
    """Rows and columns with negative steps."""
    back = tuple(slice(None, None, -1) for _ in values.shape)
    return values[back].copy()[back]


#: Name -> function that gives the same numbers in another memory order.
LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "strides of a larger array": _spread,
    "negative strides": _reversed,
}


def laid_out(held: dict[str, Any], layout: Callable[[np.ndarray], np.ndarray]) -> dict[str, Any]:
    """Return what is held, with every array of numbers to answer on in another memory order."""
    return {name: layout(value) if name.endswith("_test") and _is_numbers(value) else value for name, value in held.items()}


def _is_numbers(value):
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def same_rows(a: np.ndarray, b: np.ndarray, what: str, tolerance: float = 0.0) -> None:
    """Raise AssertionError unless two answers have the same bits, or agree within a declared tolerance and decide alike."""
    if not tolerance:
        same_bits(a, b, what)
        return
    show_near(a, b, what, tolerance)
    if a.ndim == 2:
        assert (a.argmax(axis=1) == b.argmax(axis=1)).all(), f"{what}: another class has the largest probability"
