"""p-values of many tests at once from the largest of their statistics under the null (Westfall
and Young), draws coming in blocks.
"""

from collections.abc import Iterable

import numpy as np

__all__ = ["share_adjusted", "step_down"]


def step_down(
    observed: np.ndarray, blocks: Iterable[np.ndarray], of_share: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return adjusted p-values (T,), and the largest statistic of each draw (B,).

    The j-th largest statistic is compared with the largest of those not above it, so a rejected
    test raises the power of those after it; p-values never decrease. ``blocks`` are (T, b), of the
    same tests under the null. Differences by rounding count as ties. ``of_share`` adjusts for the
    false discovery rate instead; see ``share_adjusted``.
    """
    order = np.argsort(-observed, kind="stable")
    bar = observed[order] * (1.0 - 1e-10)
    reached, draws, maxima, above = (
        np.zeros(len(observed)),
        0,
        list[np.ndarray](),
        list[np.ndarray](),
    )
    for block in blocks:
        below = np.maximum.accumulate(block[order][::-1], axis=0)[::-1]
        reached += (below >= bar[:, None]).sum(axis=1)
        draws += block.shape[1]
        maxima.append(below[0])
        if of_share:
            above.append(
                np.stack(
                    [len(bar) - np.searchsorted(np.sort(draw), bar) for draw in block.T], axis=1
                )
            )
    adjusted, in_order = (
        np.empty(len(observed)),
        np.maximum.accumulate((1.0 + reached) / (1.0 + draws)),
    )
    adjusted[order] = share_adjusted(in_order, np.concatenate(above, axis=1)) if above else in_order
    return adjusted, np.concatenate(maxima) if maxima else np.empty(0)


def share_adjusted(each: np.ndarray, above: np.ndarray) -> np.ndarray:
    """Adjust step-down p-values to control the false discovery rate instead of any false rejection.

    Level a rejects the r tests that step-down rejects, and all statistics of at least c, the least
    with 2 E[N(c) / (N(c) + r)] <= a. N(c) counts a draw's statistics of c or more. The false share
    is at most a / 2 while all r are correct and N is independent of r; step-down errs on any of the
    r with probability a.

    Parameters
    ----------
    each : (T,) step-down p-values in rising order.
    above : (T, B) statistics of each draw that reach each observed one.
    """
    low, high = np.zeros(len(each), np.intp), np.full(len(each), len(each) - 1)

    def expected(index: np.ndarray) -> np.ndarray:
        return (
            2.0
            * (1.0 + (above / (above + index[:, None] + 1.0)).sum(axis=1))
            / (1.0 + above.shape[1])
        )

    # With more tests the level rises and the share falls: the minimum of the larger is their
    # crossing.
    while (low < high).any():
        middle = (low + high) // 2
        enough = each[middle] >= expected(middle)
        low, high = (
            np.where(enough, low, np.minimum(middle + 1, high)),
            np.where(enough, middle, high),
        )
    crossing = [np.maximum(each[place], expected(place)) for place in (low, np.maximum(low - 1, 0))]
    return np.minimum(each, np.minimum(*crossing))
