"""p-values of many tests at once from the largest of their statistics under the null (Westfall and Young), draws coming in blocks."""

from collections.abc import Iterable

import numpy as np

__all__ = ["step_down"]


def step_down(observed: np.ndarray, blocks: Iterable[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """(adjusted p-values (T,), the largest statistic of each draw (B,)).

    The j-th largest statistic is compared with the largest of those not above it, so a test that fails helps those after it; no p-value
    is below one before it. ``blocks`` are (T, b), of the same tests under the null. As large but for rounding is as large.
    """
    order = np.argsort(-observed, kind="stable")
    bar = observed[order] * (1.0 - 1e-10)
    reached, draws, maxima = np.zeros(len(observed)), 0, list[np.ndarray]()
    for block in blocks:
        below = np.maximum.accumulate(block[order][::-1], axis=0)[::-1]
        reached += (below >= bar[:, None]).sum(axis=1)
        draws += block.shape[1]
        maxima.append(below[0])
    adjusted = np.empty(len(observed))
    adjusted[order] = np.maximum.accumulate((1.0 + reached) / (1.0 + draws))
    return adjusted, np.concatenate(maxima) if maxima else np.empty(0)
