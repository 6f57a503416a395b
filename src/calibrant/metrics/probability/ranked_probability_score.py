"""RPS: the proper score of ordered classes."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant.contracts.sum_metric import MeanMetric

__all__ = ["RankedProbabilityScore", "ranked_probability_score"]


@dataclass(frozen=True, repr=False)
class RankedProbabilityScore(MeanMetric):
    r"""Squared gaps between the cumulated probabilities of ordered classes and what came true (RPS).

    .. math:: \frac1n \sum_i \sum_{k=1}^{K-1} \Big( \sum_{j \le k} P_{ij} - [y_i \le k] \Big)^2

    See Also
    --------
    brier_score : where classes have no order.
    continuous_ranked_probability_score : of numbers.

    Notes
    -----
    Use it for grades, stages and other classes in an order, which the columns must have: to be off by one class costs less than by two.
    Not divided by K - 1, as scoringrules has it; for two classes it is mean((p - y)^2), half of ``brier_score``.

    References
    ----------
    Epstein, "A scoring system for probability forecasts of ranked categories", Journal of Applied Meteorology 1969.

    Examples
    --------
    >>> round(ranked_probability_score([2], [[0.1, 0.2, 0.3, 0.4]]), 4)
    0.26
    """

    name: ClassVar[str] = "RPS"
    key: ClassVar[str] = "rps"
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    proper: ClassVar[bool] = True
    soft_labels: ClassVar[bool] = True
    selects: ClassVar[bool] = True

    def _losses(self, record):
        return np.concatenate([_block_losses(block) for block in record.blocks()])

    def _unseen(self, record):
        return [np.concatenate([_block_unseen(block) for block in record.blocks()])]


def _block_losses(block):
    gap = np.cumsum(block.probabilities[:, :-1], axis=1)
    gap -= block.labels[:, None] <= np.arange(gap.shape[1])
    return np.einsum("nk,nk->n", gap, gap)


def _block_unseen(block):
    """Mean loss of each row over the other labels it could have."""
    below = np.cumsum(block.probabilities[:, :-1], axis=1)
    others = float(below.shape[1])
    whole = (others + 1.0) * (np.einsum("nk,nk->n", below, below) + 0.5 * others) - 2.0 * below @ np.arange(1.0, others + 1.0)
    return np.maximum(whole - _block_losses(block), 0.0) / max(others, 1.0)


ranked_probability_score: RankedProbabilityScore = RankedProbabilityScore()
