"""Quantile loss, at one level or averaged over many."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant.contracts.regression_metric import RegressionMeanMetric
from calibrant.forecasts.forecast import require_levels

__all__ = ["PinballLoss", "pinball_loss"]


@dataclass(frozen=True, repr=False)
class PinballLoss(RegressionMeanMetric):
    r"""Mean pinball loss of the predicted quantiles, averaged over levels.

    .. math:: \frac{1}{n} \sum_i \frac{1}{|T|} \sum_{\tau \in T} (\tau - [y_i < q_{i \tau}])\, (y_i - q_{i \tau})

    Parameters
    ----------
    levels : tuple of float, default 0.01, 0.02, ..., 0.99
        One or more; ``levels=(0.9,)`` judges one quantile.

    See Also
    --------
    continuous_ranked_probability_score : over all levels.
    quantile_calibration_error : whether the quantiles are right.

    Notes
    -----
    A proper score of quantiles: use it to choose between quantile forecasts. Over many levels twice its value nears the CRPS.

    Examples
    --------
    >>> pinball_loss([1.0], [0.0], [1.0], levels=(0.5,))
    0.5
    """

    levels: tuple[float, ...] = tuple(k / 100 for k in range(1, 100))

    name: ClassVar[str] = "pinball loss"
    key: ClassVar[str] = "pinball_loss"
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    proper: ClassVar[bool] = True
    selects: ClassVar[bool] = True
    degree: ClassVar[int | None] = 1

    def _check(self):
        require_levels(self.levels)

    def _losses(self, record):
        levels = np.asarray(self.levels)
        return np.concatenate([self._block_losses(block, levels) for block in record.blocks(4096)])

    @staticmethod
    def _block_losses(block, levels):
        gap = block.y[:, None] - block.forecast.quantile(levels)
        return np.mean(np.where(gap < 0.0, levels - 1.0, levels) * gap, axis=1)


pinball_loss: PinballLoss = PinballLoss()
