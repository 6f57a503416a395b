"""Mean negative log probability of the true class."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._kernels.softmax import ZERO_FLOOR
from calibrant.contracts.sum_metric import MeanMetric

__all__ = ["LogLoss", "log_loss"]


#: rest / own cannot overflow from here on.
SAFE_DIVISOR = 1e-300


@dataclass(frozen=True, repr=False)
class LogLoss(MeanMetric):
    r"""Mean negative log probability of the true class, in nats (negative log-likelihood).

    .. math:: -\frac{1}{n} \sum_i \log P_{i, y_i}

    A true class given probability 0 counts as 1e-12 (or the row's smallest positive entry, where that is smaller), so the value is finite:
    27.6 nats, where scikit-learn, which clips at the smallest step of float64, has 36.0.
    Of :class:`SoftLabels` with shares s it is
    :math:`-\frac{1}{n} \sum_i \sum_k s_{ik} \log P_{ik}`.

    See Also
    --------
    log_loss_decomposition : how much of it is miscalibration.
    brier_score : bounded, milder with sure mistakes.

    Notes
    -----
    A proper score: use it to choose between models and between calibrators. It punishes confident errors without limit.

    Examples
    --------
    >>> round(log_loss([0, 1], [[0.9, 0.1], [0.5, 0.5]]), 6)
    0.399254
    """

    name: ClassVar[str] = "log loss"
    key: ClassVar[str] = "log_loss"
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
    if block.kind == "logit":
        return -block.log_probabilities[np.arange(len(block)), block.labels]
    own, rest = block.true_and_rest
    tiny = own < SAFE_DIVISOR
    if not tiny.any():
        return np.log1p(rest / own)
    out = np.log1p(np.divide(rest, own, out=np.zeros_like(own), where=~tiny))
    impossible = own <= 0.0
    subnormal = tiny & ~impossible
    out[subnormal] = np.log(rest[subnormal]) - np.log(own[subnormal])
    if not impossible.any():
        return out
    columns = block.by_class[:, impossible]
    smallest = np.where(columns > 0.0, columns, np.inf).min(axis=0) / rest[impossible]
    out[impossible] = -np.log(np.minimum(ZERO_FLOOR, smallest))
    return out


def _block_unseen(block):
    """Loss of each row had it another label, the rest of its probability shared evenly by the others."""
    others = np.log(max(block.n_classes - 1.0, 1.0))
    if block.kind == "logit":
        rest = block.log_probabilities.copy()
        rest[np.arange(len(block)), block.labels] = -np.inf
        most = rest.max(axis=1)
        return others - most - np.log(np.exp(rest - most[:, None]).sum(axis=1))
    own, rest = block.true_and_rest
    return others + np.log1p(own / np.where(rest > 0.0, np.maximum(rest, SAFE_DIVISOR), ZERO_FLOOR))


log_loss: LogLoss = LogLoss()
