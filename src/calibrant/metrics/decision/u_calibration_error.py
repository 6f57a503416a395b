"""U-calibration: what deciding by the scores loses against the best constant, for the worst payoff."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._kernels.intervals import quotient
from calibrant.contracts.tags import Promises
from calibrant.metrics.decision.cut_metric import CutMetric

__all__ = ["UCalibrationError", "u_calibration_error"]


@dataclass(frozen=True, repr=False)
class UCalibrationError(CutMetric):
    r"""Mean payoff lost by acting on the scores in place of on the base rate, for the worst V-shaped payoff in [0, 1].

    .. math:: \sup_\mu \frac{1}{n \max(\mu, 1 - \mu)} \begin{cases} \sum_{s_i < \mu} (c_i - \mu) & \bar c > \mu \\
        \sum_{s_i > \mu} (\mu - c_i) & \bar c \le \mu \end{cases}

    and 0 if no payoff loses.

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        Whose probability: class 1's of two, the predicted label's against its being right, or the named class's.
    cells : int, default 0
        0 is exact, by one sort, with the kink at any score. A number of cells puts kinks at k / cells only, with a state of fixed size:
        never above the exact value, which it reaches if all scores are on the grid.

    See Also
    --------
    calibration_decision_loss : against the best use of the scores, not of a constant.

    Notes
    -----
    Use it to ask whether some decision maker would have done better without the scores. A mild demand: forecasts far from calibrated pass
    it, if they are better than a constant for everybody. Over all payoffs in [0, 1] the loss is at most twice this number. A score at the
    kink counts against it.

    References
    ----------
    Kleinberg, Paes Leme, Schneider and Teng, "U-calibration: forecasting for an unknown agent", COLT 2023.

    Examples
    --------
    >>> round(u_calibration_error([1, 1, 0, 0], [0.2, 0.3, 0.7, 0.8]), 3)
    0.5
    """

    name: ClassVar[str] = "U-calibration error"
    key: ClassVar[str] = "u_calibration_error"
    promises: ClassVar[Promises] = Promises("no", "yes", "partly", "against the best constant: at most twice its size")

    def _of_cuts(self, sums, low, high):
        mass, hits = (np.cumsum(sums[..., j], axis=-1) for j in (0, 2))
        mass, hits = (np.concatenate([np.zeros((*each.shape[:-1], 1)), each], axis=-1) for each in (mass, hits))
        n, rate = mass[..., -1:], quotient(hits[..., -1:], mass[..., -1:])
        below = np.where(rate > low, (hits - low * mass) / np.maximum(low, 1.0 - low), 0.0)
        above = np.where(rate < high, (high * (n - mass) - (hits[..., -1:] - hits)) / np.maximum(high, 1.0 - high), 0.0)
        return quotient(np.maximum(np.maximum(below, above).max(axis=-1), 0.0), n[..., 0])


u_calibration_error: UCalibrationError = UCalibrationError()
