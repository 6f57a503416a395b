"""Mean squared distance between the probabilities and the true class."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant.contracts.sum_metric import MeanMetric

__all__ = ["BrierScore", "brier_score"]


@dataclass(frozen=True, repr=False)
class BrierScore(MeanMetric):
    r"""Mean squared distance between the probability vector and the true class.

    .. math:: \frac{1}{n} \sum_i \sum_k (P_{ik} - [y_i = k])^2

    Parameters
    ----------
    scale_by_half : bool, default False
        Halve it, which for two classes is scikit-learn's binary score. The default is the sum over all classes, for any K.

    See Also
    --------
    brier_decomposition : how much of it is miscalibration.
    log_loss, event_brier_score : harder on sure mistakes; of the event alone.

    Notes
    -----
    A proper score, bounded by 2: use it to choose where single confident errors must not dominate. For two classes it is twice
    mean((p - y)^2), the number that often goes by this name: both classes are summed.
    Of :class:`SoftLabels` it is the mean over the raters' labels, so that it does not depend on how
    many raters there are: the squared distance to the shares s, plus their own sum of s (1 - s).

    Examples
    --------
    >>> round(brier_score([1], [[0.2, 0.8]]), 6), round(brier_score([1], [0.8], scale_by_half=True), 6)
    (0.08, 0.04)
    """

    scale_by_half: bool = False

    name: ClassVar[str] = "Brier score"
    key: ClassVar[str] = "brier_score"
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, 2.0)
    proper: ClassVar[bool] = True
    soft_labels: ClassVar[bool] = True
    selects: ClassVar[bool] = True

    @classmethod
    def _examples(cls):
        return [cls(), cls(scale_by_half=True)]

    def _losses(self, record):
        # The squares of the others plus (1 - own)^2, without building the one-hot matrix or cancelling.
        return self._of_parts(record, lambda squares, own, rest: np.maximum(squares - own * own, 0.0) + rest * rest)

    def _unseen(self, record):
        others = max(record.n_classes - 1.0, 1.0)
        return [self._of_parts(record, lambda squares, own, rest: np.maximum(squares + 1.0 - 2.0 * rest / others, 0.0))]

    def _of_parts(self, record, loss):
        out = np.concatenate([loss(*_block_parts(block)) for block in record.blocks()])
        return 0.5 * out if self.scale_by_half else out


def _block_parts(block):
    """Sum of the squared probabilities, the probability of the true class, and the sum of the others, (n,) each."""
    if block.kind == "probability":
        own, rest = block.true_and_rest
        total, columns = own + rest, block.by_class
        return np.einsum("kn,kn->n", columns, columns) / (total * total), own / total, rest / total
    P = block.probabilities
    own = P[np.arange(len(block)), block.labels]
    return np.einsum("nk,nk->n", P, P), own, 1.0 - own


brier_score: BrierScore = BrierScore()
