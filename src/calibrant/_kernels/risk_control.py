"""Conformal risk control: the least parameter at which a summed loss that only falls is small enough."""

import numpy as np

__all__ = ["least_parameter"]


def least_parameter(parameter: np.ndarray, drop: np.ndarray, total: float, n: float, risk: float) -> tuple[float, float]:
    """(the least parameter, the summed loss there), where each ``parameter`` (m,) takes its ``drop`` (m,) off the loss ``total``.

    -inf where the loss is small enough from the start, nan where it never is.
    """
    order = np.argsort(parameter, kind="stable")
    values, last = np.unique(parameter[order], return_index=True)
    ends = np.append(last[1:], len(order)) - 1
    left = np.maximum(total - np.cumsum(drop[order])[ends], 0.0) if len(order) else np.zeros(0)
    # n R + B is compared with (n + 1) risk; a sum of parts that add up to a whole number is off by its rounding.
    limit = (n + 1.0) * risk + 1e-9
    if total + 1.0 <= limit:
        return -np.inf, total
    passes = np.flatnonzero(left + 1.0 <= limit)
    return (float(values[passes[0]]), float(left[passes[0]])) if len(passes) else (np.nan, 0.0)
