"""What exact certificates ask of numbers: weights that are whole rows, and shares between 0 and 1."""

import numpy as np
from numpy.typing import ArrayLike

from calibrant.arrays import weights
from calibrant.errors import InputError
from calibrant.predictions import Predictions

__all__ = ["counted_rows", "repetitions", "require_share", "whole_rows"]


def repetitions(weight: np.ndarray) -> np.ndarray:
    """The weights, once each is a whole number of rows."""
    odd = np.flatnonzero(~whole_rows(weight))
    if len(odd):
        raise InputError(
            f"sample_weight must be whole numbers, how often each row was seen, for a certificate counts rows; row {odd[0]} has "
            f"{weight[odd[0]]:.6g} ({len(odd)} such rows); leave it out, for weights of a sampling design or of importance need a method "
            "of their own (weighted conformal prediction, with weights learned from other rows)."
        )
    return np.rint(weight)


def whole_rows(weight: np.ndarray) -> np.ndarray:
    """Which weights are whole numbers of rows."""
    return np.abs(weight - np.rint(weight)) <= 1e-9


def require_share(name: str, value: object) -> None:
    """Raise InputError unless ``value`` is above 0 and below 1."""
    if isinstance(value, bool) or not (isinstance(value, float | int) and 0.0 < value < 1.0):
        raise InputError(f"{name} must be above 0 and below 1; got {value!r}; 0.05 is five in a hundred.")


def counted_rows(n: int, sample_weight: ArrayLike | None) -> Predictions:
    """A record of nothing but n rows: which of them count (``kept``) and how often."""
    weight, kept = weights(sample_weight, n)
    held = n if kept is None else int(np.count_nonzero(kept))
    return Predictions(np.zeros((held, 1)), "probability", np.arange(1), weight=weight, kept=kept)
