"""Cutoff calibration error: the largest gap over any range of scores."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._kernels.intervals import quotient
from calibrant.contracts.tags import Promises
from calibrant.metrics.decision.cut_metric import CutMetric

__all__ = ["CutoffCalibrationError", "cutoff_calibration_error"]


@dataclass(frozen=True, repr=False)
class CutoffCalibrationError(CutMetric):
    r"""Largest gap between scores and hits summed over any interval of scores: the range of the cumulative differences.

    .. math:: \max_{a \le b} \left| \frac1n \sum_{a \le s_i \le b} (c_i - s_i) \right| = \max_k A_k - \min_k A_k,
        \quad A_k = \frac1n \sum_{i \le k} (c_i - s_i)

    in the order of the scores, cut only between distinct ones.

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        Whose probability: class 1's of two, the predicted label's against its being right, or the named class's.
    cells : int, default 0
        0 is exact, by one sort. A number of cells cuts at k / cells only, with a state of fixed size: too low by at most twice the largest
        share of the rows in a cell.

    See Also
    --------
    cumulative_test : whether it may be chance.
    ks_calibration_error : intervals that begin at 0 only.
    calibration_decision_loss : over all decisions, not by cutoffs alone.

    Notes
    -----
    Use it where rows above a cutoff, or between two, are acted on: the mean probability of no such group is off by more than this number
    over the group's share of the rows. It can be estimated from few rows, as the ECE of many distinct scores cannot. Not truthful: noise in
    it depends on how the scores are ordered. Kuiper's statistic, and the ECCE-R of Arrieta-Ibarra et al. Never select a model by it.

    References
    ----------
    Rossellini et al., "Can a calibration metric be both testable and actionable?", 2025; Arrieta-Ibarra et al., "Metrics of calibration for
    probabilistic predictions", JMLR 2022.

    Examples
    --------
    >>> round(cutoff_calibration_error([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.8]), 3)
    0.15
    """

    name: ClassVar[str] = "cutoff calibration error"
    key: ClassVar[str] = "cutoff_error"
    promises: ClassVar[Promises] = Promises("no", "yes", "partly", "of decisions that rise with the score: its size times the stake")

    def _of_cuts(self, sums, low, high):
        gap = np.cumsum(sums[..., 2] - sums[..., 1], axis=-1)
        spread = np.maximum(gap.max(axis=-1), 0.0) - np.minimum(gap.min(axis=-1), 0.0)
        return np.minimum(quotient(spread, sums[..., 0].sum(axis=-1)), 1.0)


cutoff_calibration_error: CutoffCalibrationError = CutoffCalibrationError()
