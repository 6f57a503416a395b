"""Cosine between the probabilities and the true class."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant.contracts.sum_metric import MeanMetric

__all__ = ["SphericalScore", "spherical_score"]


@dataclass(frozen=True, repr=False)
class SphericalScore(MeanMetric):
    r"""Mean probability of the true class over the length of the probability vector; higher is better.

    .. math:: \frac{1}{n} \sum_i \frac{P_{i, y_i}}{\sqrt{\sum_k P_{ik}^2}}

    See Also
    --------
    log_loss, brier_score : other proper scores.

    Notes
    -----
    A proper score, in [0, 1]: a model may be chosen by it. It is bounded as the Brier score is, and flatter still for confident errors.

    References
    ----------
    Gneiting and Raftery, "Strictly proper scoring rules, prediction, and estimation", JASA 2007, section 4.1.

    Examples
    --------
    >>> round(spherical_score([1], [[0.2, 0.8]]), 4), spherical_score([0], [[1.0, 0.0]])
    (0.9701, 1.0)
    """

    name: ClassVar[str] = "spherical score"
    key: ClassVar[str] = "spherical_score"
    direction: ClassVar[str] = "maximize"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    proper: ClassVar[bool] = True
    soft_labels: ClassVar[bool] = True
    selects: ClassVar[bool] = True

    def _losses(self, record):
        return np.concatenate([_block_scores(block)[0] for block in record.blocks()])

    def _unseen(self, record):
        return [np.concatenate([_block_scores(block)[1] for block in record.blocks()])]


def _block_scores(block):
    """The score of each row, and what it would be had it another label, each of the others as likely."""
    P = block.probabilities
    own, length = P[np.arange(len(block)), block.labels], np.sqrt(np.einsum("nk,nk->n", P, P))
    return own / length, np.maximum(1.0 - own, 0.0) / max(block.n_classes - 1.0, 1.0) / length


spherical_score: SphericalScore = SphericalScore()
