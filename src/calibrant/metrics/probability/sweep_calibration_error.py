"""Calibration error with as many bins of equal weight as keep their accuracies in order."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from calibrant._kernels.pava import pool_ties
from calibrant.errors import InputError
from calibrant.metrics.pair import PairMetric

__all__ = ["SweepCalibrationError", "sweep_calibration_error"]

MAX_BINS = 1000


@dataclass(frozen=True, repr=False)
class SweepCalibrationError(PairMetric):
    r"""Binned calibration error with the largest number of equal-weight bins whose accuracies still rise with the score (ECE-sweep).

    .. math:: \left( \sum_b \frac{w_b}{w} |\bar s_b - \bar c_b|^p \right)^{1/p}, \quad
        B = \max \{B : \bar c_1 \le \dots \le \bar c_{B'} \text{ for all } B' \le B\}

    Parameters
    ----------
    target : {"answer", "event"} or a class label, default "answer"
        Whose probability: the predicted label's against its being right, class 1's of two, or the named class's.
    norm : {1, 2}
        The power p.

    See Also
    --------
    expected_calibration_error : the number of bins is yours.
    debiased_calibration_error : less what noise adds.

    Notes
    -----
    Use it where a number of bins must not be chosen by hand: it is less biased than a fixed number. Ties are never split; there are
    at most 1,000 bins.
    Never select a model or a calibrator by it: it is not a proper score (a constant confidence equal to the accuracy has error 0).
    Its interval is debiased (test inversion on simulated outcomes): ``value`` is the estimate, ``plain`` the metric itself.

    References
    ----------
    Roelofs et al., "Mitigating bias in calibration error estimation", AISTATS 2022, algorithm 1.

    Examples
    --------
    >>> round(sweep_calibration_error([0, 1, 1, 1], [0.2, 0.4, 0.6, 0.8], target="event"), 3)
    0.35
    """

    norm: Literal[1, 2] = 1

    name: ClassVar[str] = "ECE-sweep"
    key: ClassVar[str] = "sweep_ece"
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    @classmethod
    def _examples(cls):
        return [cls(), cls(target="event", norm=2)]

    def _check(self):
        if self.norm not in (1, 2):
            raise InputError(f"norm must be 1 or 2; got {self.norm!r}.")

    def _pair_value(self, score, hit, weight):
        unique, mass, mean = pool_ties(score, hit, weight)
        sums = np.cumsum(np.column_stack([mass, mass * unique, mass * mean]), axis=0)
        middle = sums[:, 0] - 0.5 * mass
        best = sums[-1:]
        for n_bins in range(2, min(len(unique), MAX_BINS) + 1):
            edges = np.unique(np.searchsorted(middle, sums[-1, 0] * np.arange(1, n_bins) / n_bins))
            edges = np.append(edges[(edges > 0) & (edges < len(unique))], len(unique)) - 1
            bins = np.diff(sums[edges], axis=0, prepend=np.zeros((1, 3)))
            if (np.diff(bins[:, 2] / bins[:, 0]) < -1e-12).any():
                break
            best = bins
        gap = np.abs(best[:, 1] - best[:, 2]) / best[:, 0]
        return min(float((best[:, 0] @ gap**self.norm / best[:, 0].sum()) ** (1.0 / self.norm)), 1.0)


sweep_calibration_error: SweepCalibrationError = SweepCalibrationError()
