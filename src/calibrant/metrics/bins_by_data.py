"""Binned calibration errors that are debiased or use bins of equal weight."""

from typing import Any, ClassVar, Literal

import numpy as np
from scipy import special

from calibrant._numerics import bins
from calibrant._numerics.bins import inverted_limits
from calibrant._numerics.bootstrap import resampled_sums
from calibrant.core.estimators import require_count
from calibrant.core.metric import by_options
from calibrant.core.metric_kinds import Interval, WholeMetric
from calibrant.errors import InputError
from calibrant.metrics.binned import BinnedCalibrationError

__all__ = [
    "AdaptiveCalibrationError",
    "DebiasedCalibrationError",
    "adaptive_calibration_error",
    "debiased_calibration_error",
]


class DebiasedCalibrationError(
    BinnedCalibrationError,
    name="debiased calibration error",
    key="debiased_ece",
    examples=({"norm": 1, "target": "event"}, {"strategy": "width", "n_bins": 10}),
):
    r"""Binned calibration error corrected for the noise in the bins; 0 where noise explains all of
    it.

    .. math:: \Big( \sum_b \frac{w_b}{w} \Big[ (\mathrm{conf}_b - \mathrm{acc}_b)^2
        - \frac{\mathrm{acc}_b (1 - \mathrm{acc}_b)}{w_b - 1} \Big] \Big)_+^{1/2}

    Parameters
    ----------
    n_bins : int, default 15
    strategy : {"width", "mass"}, default "mass"
        Bins of equal width on [0, 1] (edges k / n_bins; an edge belongs to the bin above, 1 to the
        last) or of equal weight (ties are never split).
    norm : {1, 2}, default 2
        2 is the formula above. 1 is twice the plain error minus the expected plain error of bins
        drawn around the data, in closed form.
    target : {"answer", "event"} or a class label, default "answer"
        The probability to evaluate: the predicted label's (against whether it is correct), class
        1's of two, or the named class's.

    See Also
    --------
    expected_calibration_error : the error with the noise of the bins.
    smooth_calibration_error : the error without bins.

    Notes
    -----
    Use it with few rows per bin, where the plain error counts noise as miscalibration. The square
    is unbiased before it is cut off at 0. Bins of one row (of total weight 1 or less) have no
    variance to subtract and count 0. Its interval inverts a test, as that of
    ``expected_calibration_error`` does, and covers 93 to 97 % at 2,000 rows and more (table in the
    documentation). For :class:`SoftLabels`, the noise of a bin is the observed variance of its
    gaps, s² / n, instead of acc (1 - acc): the shares of several raters vary less. Never select a
    model or a calibrator by it: it is not a proper score (a constant confidence equal to the
    accuracy scores 0).

    References
    ----------
    Kumar, Liang and Ma, "Verified uncertainty calibration", NeurIPS 2019, definition 5.1 (norm 2)
    and its code (norm 1).

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

    def _binary_only(self) -> bool:
        return self.target == "event"

    binary_only: ClassVar[bool] = by_options(_binary_only)

    def _check(self) -> None:
        super()._check()
        if self.norm == "max":
            raise InputError('norm must be 1 or 2; got "max", whose bias is unknown.')

    def _pairs(self, record: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        return [record.pair(self.target)]

    def _finalise(self, totals: np.ndarray) -> float:
        weight, score, hits, *squares = np.moveaxis(totals[..., 0, :, :], -1, 0)
        counted = np.where(weight > 1.0, weight, 0.0)
        safe = np.where(weight > 1.0, weight, 2.0)
        gap, accuracy = (score - hits) / safe, np.clip(hits / safe, 0.0, 1.0)
        # Variance of 0/1 outcomes; for soft labels, the observed variance of their gaps.
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

    def _interval(
        self, record: Any, level: float, method: str, n_resamples: int, random_state: int
    ) -> Interval:
        found = super()._interval(record, level, method, n_resamples, random_state)
        if found.method != "debiased":
            return found
        value = min(max(found.plain, found.low), found.high)
        return Interval(value, found.low, found.high, level, "debiased", found.n, plain=found.plain)


def _mean_absolute(mean: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Compute E|N(mean, spread^2)|."""
    safe = np.where(spread > 0.0, spread, 1.0)
    ratio = mean / safe
    folded = safe * np.sqrt(2.0 / np.pi) * np.exp(-0.5 * ratio * ratio) + mean * (
        1.0 - 2.0 * special.ndtr(-ratio)
    )
    return np.where(spread > 0.0, folded, np.abs(mean))


debiased_calibration_error: DebiasedCalibrationError = DebiasedCalibrationError()


class AdaptiveCalibrationError(
    WholeMetric,
    name="ACE",
    key="ace",
    clustered=False,
    estimand=(
        "error in these bins as the number of rows grows, without the sampling noise in the value"
    ),
    direction="minimize",
    range=(0.0, 1.0),
    examples=({"n_bins": 5, "threshold": 0.01},),
):
    r"""Gap between probability and share, averaged over bins of equal weight and over the classes
    (ACE; TACE with a threshold).

    .. math:: \frac{1}{K B} \sum_k \sum_b \left| \bar p_{kb} - \bar y_{kb} \right|

    Parameters
    ----------
    n_bins : int, default 15
        Ties are never split, so there may be fewer; the gaps of a class are averaged over its bins.
    threshold : float, default 0.0
        Only probabilities above it count (TACE; 0.001 or 0.01 are usual): with many classes, most
        are close to 0 and dominate the average.

    See Also
    --------
    classwise_calibration_error : the error in bins of equal width.
    expected_calibration_error : the error of the predicted label alone.

    Notes
    -----
    Use it to compare with papers that report it; ``classwise_calibration_error(strategy="mass")``
    weights bins by their rows instead. A class with no probability above the threshold counts 0. It
    is biased upward in small samples; ``.interval`` removes that bias (method "debiased"):
    ``value`` is the estimate, ``plain`` the value above. Never select a model or a calibrator by
    it: it is not a proper score (a constant confidence equal to the accuracy scores 0).

    References
    ----------
    Nixon et al., "Measuring calibration in deep learning", CVPR workshops 2019.

    Examples
    --------
    >>> round(adaptive_calibration_error([0, 1], [[0.8, 0.2], [0.4, 0.6]], n_bins=2), 3)
    0.3
    """

    n_bins: int = 15
    threshold: float = 0.0

    def _check(self) -> None:
        require_count("n_bins", self.n_bins)
        if not 0.0 <= self.threshold < 1.0:
            raise InputError(f"threshold must be in [0, 1); got {self.threshold!r}.")

    def _value(self, record: Any) -> float:
        return float(np.mean([self._class_error(record, k) for k in range(record.n_classes)]))

    def _interval(
        self, record: Any, level: float, method: str, n_resamples: int, random_state: int
    ) -> Interval:
        if method not in ("auto", "debiased"):
            return super()._interval(record, level, method, n_resamples, random_state)
        weight, sets = record.weights, [self._binned(record, k) for k in range(record.n_classes)]
        # The last bin holds the rows below the threshold, which are ignored.
        totals = np.stack(
            [bins.grouped_sums(group, self.n_bins + 1, columns, weight) for group, columns in sets]
        )[:, :-1]
        n_resamples = max(min(n_resamples, int(2e7 / totals.size)), 100)
        draws = resampled_sums(sets, self.n_bins + 1, weight, n_resamples, random_state)[:, :, :-1]
        n = float(weight.sum())
        totals[totals[..., 0].sum(axis=1) == 0.0, 0, 0] = 1.0
        value, low, high = inverted_limits(totals, draws, 1, level, even=True, n=n)
        return Interval.holding(value, (low, high), level, "debiased", n, self._value(record))

    def _binned(self, record: Any, k: int) -> tuple[np.ndarray, list[np.ndarray]]:
        score = record.probabilities[:, k]
        group = np.full(len(score), self.n_bins)
        counted = (
            score > self.threshold if self.threshold > 0.0 else np.ones(len(score), dtype=bool)
        )
        if counted.any():
            group[counted] = bins.equal_mass_groups(
                score[counted], self.n_bins, record.weights[counted]
            )
        return group, [score, (record.labels == k).astype(np.float64)]

    def _class_error(self, record: Any, k: int) -> float:
        group, columns = self._binned(record, k)
        mass, total, hits = bins.grouped_sums(group, self.n_bins + 1, columns, record.weights)[
            :-1
        ].T
        filled = mass > 0.0
        return float(np.mean(np.abs(total - hits)[filled] / mass[filled])) if filled.any() else 0.0


adaptive_calibration_error: AdaptiveCalibrationError = AdaptiveCalibrationError()
