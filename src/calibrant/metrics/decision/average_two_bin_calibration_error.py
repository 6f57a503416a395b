"""ATB: the squared calibration error of two bins, averaged over where they are cut; nobody gains by misreporting."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._kernels.intervals import quotient
from calibrant.contracts.tags import Promises
from calibrant.metrics.decision.cut_metric import CutMetric

__all__ = ["AverageTwoBinCalibrationError", "average_two_bin_calibration_error"]


@dataclass(frozen=True, repr=False)
class AverageTwoBinCalibrationError(CutMetric):
    r"""Squared gap of two bins, summed, and averaged over a cut drawn evenly from [0, 1] (ATB): a *truthful* measure.

    .. math:: \frac{1}{n^2} \int_0^1 \Big[ \big( \sum_{s_i < \theta} (c_i - s_i) \big)^2 + \big( \sum_{s_i \ge \theta} (c_i - s_i) \big)^2
        \Big] d\theta

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        Whose probability: class 1's of two, the predicted label's against its being right, or the named class's.
    cells : int, default 0
        0 is exact, by one sort. A number of cells draws the cut from k / cells instead: truthful all the same, with a state of fixed size,
        and off the exact value by at most :math:`2 \bar r^2 / \mathrm{cells}`, :math:`\bar r` the mean of :math:`|c - s|`: 0.002 at most
        for 1,024.

    See Also
    --------
    cutoff_calibration_error : the worst cut in place of the average.
    soft_binned_calibration_decision_loss : what it costs to act on the scores.
    brier_score : which also tells good forecasts from constant ones.

    Notes
    -----
    Use it where whoever is judged by the number chooses the probabilities: rounding or pushing them, which lowers an ECE, raises it in
    expectation. Each row is in one of the two bins, so the variance of the outcomes adds the same :math:`\sum p(1-p)/n^2` whatever is said,
    and the rest is squared bias, which the truth alone makes 0 for sure. Hence its floor is not 0: ``null_of`` says
    what calibrated scores show. Do not subtract that; the difference is not truthful. The constant base rate does as well as the
    truth, so read it beside a proper score. The formula was rebuilt from the abstract; the paper may divide by another power of n.

    References
    ----------
    Hartline, Hu and Wu, "A perfectly truthful calibration measure", COLT 2026.

    Examples
    --------
    >>> round(average_two_bin_calibration_error([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8]), 6)
    0.006125
    """

    name: ClassVar[str] = "ATB"
    key: ClassVar[str] = "atb"
    tilted: ClassVar[bool] = True
    promises: ClassVar[Promises] = Promises("yes", "yes", "no", "none: a constant at the base rate is at the floor")

    def _of_cuts(self, sums, low, high):
        gap = np.cumsum(sums[..., 2] - sums[..., 1], axis=-1)
        gap = np.concatenate([np.zeros((*gap.shape[:-1], 1)), gap], axis=-1)
        squares = gap * gap + (gap[..., -1:] - gap) ** 2
        # On a grid the cuts 1 / cells, ..., 1 are equally likely.
        law = np.append(0.0, np.full(self.cells, 1.0 / self.cells)) if self.cells else high - low
        n = sums[..., 0].sum(axis=-1)
        return quotient(squares @ law, n * n)


average_two_bin_calibration_error: AverageTwoBinCalibrationError = AverageTwoBinCalibrationError()
