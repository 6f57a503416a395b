"""Division that says nan where there is nothing to divide by."""

import numpy as np

__all__ = ["quotient"]


def quotient(top: np.ndarray, bottom: np.ndarray) -> np.ndarray:
    """top / bottom, nan where the bottom is 0."""
    return np.divide(top, bottom, out=np.full(np.shape(top), np.nan), where=np.asarray(bottom) > 0)
