"""Binned calibration error with the noise of the bins subtracted."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import special

from calibrant.contracts.by_options import by_options
from calibrant.contracts.metric import Interval
from calibrant.errors import InputError
from calibrant.metrics.probability.calibration_error import BinnedCalibrationError

__all__ = ["DebiasedCalibrationError", "debiased_calibration_error"]


@dataclass(frozen=True, repr=False)
class DebiasedCalibrationError(BinnedCalibrationError):
    r"""Binned calibration error less what the noise in the bins adds to it; 0 where the noise explains it all.

    .. math:: \Big( \sum_b \frac{w_b}{w} \Big[ (\mathrm{conf}_b - \mathrm{acc}_b)^2
        - \frac{\mathrm{acc}_b (1 - \mathrm{acc}_b)}{w_b - 1} \Big] \Big)_+^{1/2}

    Parameters
    ----------
    n_bins : int, default 15
    strategy : {"width", "mass"}, default "mass"
        Bins of equal width on [0, 1] (edges k / n_bins, an edge belongs to the bin above, 1 to the last), or of equal weight
        (ties never split).
    norm : {1, 2}, default 2
        2 as above; 1: twice the plain error less the mean of the plain error of bins drawn around it, in closed form.
    target : {"answer", "event"} or a class label, default "answer"
        Whose probability: the predicted label's against its being right, class 1's of two, or the named class's.

    See Also
    --------
    expected_calibration_error : with the noise of the bins.
    smooth_calibration_error : without bins.

    Notes
    -----
    Use it with few rows a bin, where the plain error reads noise as miscalibration. The square is unbiased before it is cut off at 0;
    bins of one row (of total weight 1 or less) have no variance to subtract and count 0. Its interval inverts a test, as that of
    ``expected_calibration_error`` does, and covers 93 to 97 % at 2,000 rows and more (table in the documentation).
    Of :class:`SoftLabels` the noise of a bin is the variance seen of its gaps, s² / n, in the place
    of acc (1 - acc): the shares of several raters vary less.
    Never select a model or a calibrator by it: it is not a proper score (a constant confidence equal to the accuracy has error 0).

    References
    ----------
    Kumar, Liang and Ma, "Verified uncertainty calibration", NeurIPS 2019, definition 5.1 (norm 2) and its code (norm 1).

    Examples
    --------
    >>> p = [0.2] * 20 + [0.8] * 20
    >>> y = ([0] * 8 + [1] * 2) * 2 + ([1] * 8 + [0] * 2) * 2
    >>> debiased_calibration_error(y, p, target="event")
    0.0
    """

    strategy: Literal["width", "mass"] = "mass"
    norm: Literal[1, 2, "max"] = 2
    target: Any = "answer"

    name: ClassVar[str] = "debiased calibration error"
    key: ClassVar[str] = "debiased_ece"

    @classmethod
    def _examples(cls):
        return [cls(), cls(norm=1, target="event"), cls(strategy="width", n_bins=10)]

    def _binary_only(self) -> bool:
        return self.target == "event"

    binary_only: ClassVar[bool] = by_options(_binary_only)

    def _check(self):
        super()._check()
        if self.norm == "max":
            raise InputError('norm must be 1 or 2; got "max", whose bias is not known.')

    def _pairs(self, record):
        return [record.pair(self.target)]

    def _finalise(self, totals):
        weight, score, hits, *squares = np.moveaxis(totals[..., 0, :, :], -1, 0)
        counted = np.where(weight > 1.0, weight, 0.0)
        safe = np.where(weight > 1.0, weight, 2.0)
        gap, accuracy = (score - hits) / safe, np.clip(hits / safe, 0.0, 1.0)
        # Of outcomes of 0 and 1; of soft labels that of their gaps, as seen.
        variance = accuracy * (1.0 - accuracy)
        if squares:
            variance = np.maximum(squares[0] / safe - gap * gap, 0.0)
        whole = weight.sum(axis=-1)
        if self.norm == 2:
            total = (counted * (gap * gap - variance / (safe - 1.0))).sum(axis=-1)
            return np.sqrt(np.maximum(total, 0.0) / whole)
        spread = np.sqrt(variance / safe)
        expected = _mean_absolute(gap, spread)
        return np.clip((counted * (2.0 * np.abs(gap) - expected)).sum(axis=-1) / whole, 0.0, 1.0)

    def _interval(self, record, level, method, n_resamples, random_state):
        found = super()._interval(record, level, method, n_resamples, random_state)
        if found.method != "debiased":
            return found
        value = min(max(found.plain, found.low), found.high)
        return Interval(value, found.low, found.high, level, "debiased", found.n, plain=found.plain)


def _mean_absolute(mean, spread):
    """E|N(mean, spread^2)|."""
    safe = np.where(spread > 0.0, spread, 1.0)
    ratio = mean / safe
    folded = safe * np.sqrt(2.0 / np.pi) * np.exp(-0.5 * ratio * ratio) + mean * (1.0 - 2.0 * special.ndtr(-ratio))
    return np.where(spread > 0.0, folded, np.abs(mean))


debiased_calibration_error: DebiasedCalibrationError = DebiasedCalibrationError()
