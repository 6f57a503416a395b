"""Binned calibration errors: gaps between mean score and event rate in each bin, also debiased or
in bins of equal weight.
"""

from abc import abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import special

from calibrant._numerics import bins
from calibrant._numerics.bins import binned_errors, inverted_limits
from calibrant._numerics.bootstrap import resample_weights, resampled_sums
from calibrant.core.calibrator import Promises
from calibrant.core.estimators import require_count, require_option
from calibrant.core.metric import by_options
from calibrant.core.metric_kinds import Interval, Metric, WholeMetric
from calibrant.errors import InputError, warn

__all__ = [
    "AdaptiveCalibrationError",
    "BinnedCalibrationError",
    "ClasswiseCalibrationError",
    "DebiasedCalibrationError",
    "ExpectedCalibrationError",
    "MaximumCalibrationError",
    "PositiveClassCalibrationError",
    "RootMeanSquareCalibrationError",
    "adaptive_calibration_error",
    "classwise_calibration_error",
    "debiased_calibration_error",
    "expected_calibration_error",
    "maximum_calibration_error",
    "positive_class_calibration_error",
    "root_mean_square_calibration_error",
]


class BinnedCalibrationError(
    Metric,
    direction="minimize",
    estimand=(
        "error in these bins as the number of rows grows, without the sampling noise in the value"
    ),
    clustered=False,
    range=(0.0, 1.0),
    soft_labels=True,
    examples=(
        {"strategy": "mass"},
        {"norm": 2},
        {"norm": 3, "n_bins": 5},
        {"norm": "max", "n_bins": 5},
    ),
):
    """Template of the binned calibration errors; a subclass chooses which (score, hit) pairs it
    bins.

    Parameters
    ----------
    n_bins : int, default 15
    strategy : {"width", "mass"}
        Bins of equal width on [0, 1] (edges k / n_bins; an edge belongs to the bin above, 1 to the
        last) or of equal weight (ties are never split).
    norm : number of at least 1, or "max"
        Mean of the gaps (1), root mean square (2), the root of the mean of another power, or the
        largest gap.
    """

    n_bins: int = 15
    strategy: Literal["width", "mass"] = "width"
    norm: float | Literal["max"] = 1

    @property
    def mergeable(self) -> bool:
        return self.strategy == "width"

    def _check(self) -> None:
        require_count("n_bins", self.n_bins)
        require_option("strategy", self.strategy, ("width", "mass"))
        if self.norm != "max" and not (
            isinstance(self.norm, int | float) and 1.0 <= self.norm < np.inf
        ):
            raise InputError(f'norm must be a number of at least 1, or "max"; got {self.norm!r}.')

    @abstractmethod
    def _pairs(self, record) -> list[tuple[np.ndarray, np.ndarray]]:
        """The (score, hit) arrays to bin, one pair per target."""
        ...

    def _bin(self, score: np.ndarray, record: Any) -> np.ndarray:
        if self.strategy == "width":
            return bins.equal_width_index(score, self.n_bins, record.resolution)
        return bins.equal_mass_groups(score, self.n_bins, record.weight)

    def _sets(self, record: Any) -> list[tuple[np.ndarray, list[Any]]]:
        """(bin of each row, arrays to sum) per target.

        For soft labels, the squared gaps are summed too, for their variance.
        """
        out = []
        for score, hit in self._pairs(record):
            squares = [] if record.shares is None else [(score - hit) ** 2]
            out.append((self._bin(score, record), [score, hit, *squares]))
        return out

    def _totals(self, record: Any) -> np.ndarray:
        n_bins, weight = self.n_bins, record.weight
        return np.stack(
            [
                bins.grouped_sums(index, n_bins, columns, weight)
                for index, columns in self._sets(record)
            ]
        )

    def _all_totals(self, record: Any) -> np.ndarray:
        # Bins of equal weight depend on all rows at once.
        return super()._all_totals(record) if self.mergeable else self._totals(record)

    def _value(self, record: Any) -> float:
        return float(self._finalise(self._all_totals(record)))

    def _group_totals(self, record: Any, group: np.ndarray, n_groups: int) -> np.ndarray:
        n_cells, weight = n_groups * self.n_bins, record.weight
        out = [
            bins.grouped_sums(group * self.n_bins + index, n_cells, columns, weight)
            for index, columns in self._sets(record)
        ]
        return np.stack([sums.reshape(n_groups, self.n_bins, -1) for sums in out], axis=1)

    def _finalise(self, totals: np.ndarray) -> float:
        return binned_errors(totals[..., 0], totals[..., 1] - totals[..., 2], self.norm).mean(
            axis=-1
        )

    def _draws(self, record: Any, n_resamples: int, random_state: int) -> np.ndarray:
        """Sums on bootstrap resamples with the bins held fixed, (n_resamples, sets, bins, 3)."""
        sets, weights = self._sets(record), record.weights
        return resampled_sums(sets, self.n_bins, weights, n_resamples, random_state)

    def _resampled(self, record, n_resamples, random_state):
        return self._finalise(self._draws(record, n_resamples, random_state))

    def _interval(
        self, record: Any, level: float, method: str, n_resamples: int, random_state: int
    ) -> Interval:
        if method not in ("auto", "debiased"):
            return super()._interval(record, level, method, n_resamples, random_state)
        totals = self._all_totals(record)
        draws = self._draws(record, _affordable(n_resamples, totals), random_state)
        return self._debiased(totals, draws, level, float(record.weights.sum()))

    def interval_of_parts(
        self, parts: np.ndarray, *, level: float, n_resamples: int, random_state: int
    ) -> Interval:
        """Compute the interval from the totals of random parts of the rows, (parts, sets, bins, 3);
        parts are resampled instead of rows.
        """
        totals, rng = parts.sum(axis=0), np.random.default_rng(random_state)
        times = np.array(
            [
                resample_weights(np.ones(len(parts)), rng)
                for _ in range(_affordable(n_resamples, totals))
            ]
        )
        return self._debiased(
            totals, np.tensordot(times, parts, axes=1), level, float(totals[0, :, 0].sum())
        )

    def _debiased(self, totals: np.ndarray, draws: np.ndarray, level: float, n: float) -> Interval:
        self._warn_where_limits_fail()
        value, low, high = inverted_limits(totals, draws, self.norm, level, n=n)
        return Interval.holding(
            value, (low, high), level, "debiased", n, float(self._finalise(totals))
        )

    def _warn_where_limits_fail(self) -> None:
        if self.norm == "max":
            warn(
                "the interval of the largest gap over bins is approximate: in simulations it "
                "covered the truth 82 to 100 times of 100, even with 130 rows per bin; see the "
                "documentation's table of coverage, or use norm=1 or 2.",
            )
        elif self.norm not in (1, 2):
            warn(
                f"the interval of norm={self.norm:g} is approximate, because its coverage was "
                "not simulated; use norm=1 or 2."
            )


def _affordable(n_resamples: int, totals: np.ndarray) -> int:
    return max(min(n_resamples, int(2e7 / totals.size)), 100)


class ExpectedCalibrationError(BinnedCalibrationError, name="ECE", key="ece"):
    r"""Expected calibration error of the top label: gap between confidence and accuracy, over bins
    of the confidence.

    .. math:: \sum_b \frac{w_b}{w} \left| \mathrm{conf}_b - \mathrm{acc}_b \right|

    Parameters
    ----------
    n_bins : int, default 15
    strategy : {"width", "mass"}
        Bins of equal width on [0, 1] (edges k / n_bins; an edge belongs to the bin above, 1 to the
        last) or of equal weight (ties are never split).
    norm : number of at least 1, or "max"
        Mean of the gaps (ECE), root mean square (RMSCE), the root of the mean of another power, or
        the largest gap (MCE).

    See Also
    --------
    debiased_calibration_error, smooth_calibration_error : errors without the noise of bins.
    reliability_curve : the gap in each bin.

    Notes
    -----
    Never select a model or a calibrator by it: it is not a proper score (a constant confidence
    equal to the accuracy has error 0), and it is biased upward, more so with few rows per bin.
    Report it with its interval and the log loss. ``.interval`` is not centred on this biased value:
    it contains the errors that, with this sample's noise, would produce the observed one (method
    "debiased"). A perfect model of 100 rows reads about 0.03 with a lower end of 0, not 0.12. Its
    ``value`` is that estimate, ``plain`` the value above. For :class:`SoftLabels`, the noise is the
    observed variance within the bins.

    References
    ----------
    Naeini et al., "Obtaining well calibrated probabilities using Bayesian binning", AAAI 2015; Guo
    et al., ICML 2017.

    Examples
    --------
    >>> round(expected_calibration_error([1, 0], [0.95, 1.0], n_bins=10), 3)
    0.475
    """

    promises: ClassVar[Promises] = Promises(
        "no", "no", "yes", "at most twice its value, in bins of distinct scores"
    )

    def _pairs(self, record: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        return [(record.confidence, record.correct)]


expected_calibration_error: ExpectedCalibrationError = ExpectedCalibrationError()


class MaximumCalibrationError(
    ExpectedCalibrationError, name="MCE", key="mce", examples=({"strategy": "mass", "n_bins": 5},)
):
    r"""Largest gap between confidence and accuracy over the bins of the top label's confidence
    (MCE).

    .. math:: \max_b \left| \mathrm{conf}_b - \mathrm{acc}_b \right|

    Parameters
    ----------
    n_bins : int, default 15
    strategy : {"width", "mass"}
        Bins of equal width on [0, 1] (edges k / n_bins; an edge belongs to the bin above, 1 to the
        last) or of equal weight (ties are never split).
    norm : {"max"}
        As in ``expected_calibration_error``, of which this is a variant with another default.

    See Also
    --------
    expected_calibration_error : the mean gap.
    ks_calibration_error : the largest gap without bins.

    Notes
    -----
    The bin with the fewest rows tends to determine it, so use equal-weight bins. Its interval warns
    that it is approximate: no interval of a largest gap reaches its nominal coverage exactly. Never
    select a model or a calibrator by it: it is not a proper score (a constant confidence equal to
    the accuracy scores 0).

    References
    ----------
    Naeini et al., "Obtaining well calibrated probabilities using Bayesian binning", AAAI 2015.

    Examples
    --------
    >>> round(maximum_calibration_error([0, 1, 1], [0.1, 0.9, 0.6]), 3)
    0.4
    """

    norm: Literal[1, 2, "max"] = "max"


maximum_calibration_error: MaximumCalibrationError = MaximumCalibrationError()


class RootMeanSquareCalibrationError(
    ExpectedCalibrationError,
    name="RMSCE",
    key="rmsce",
    examples=({"strategy": "mass", "n_bins": 5},),
):
    r"""Root mean square gap between confidence and accuracy over the bins of the top label's
    confidence (RMSCE).

    .. math:: \left( \sum_b \frac{w_b}{w} \left( \mathrm{conf}_b - \mathrm{acc}_b \right)^2
        \right)^{1/2}

    Parameters
    ----------
    n_bins : int, default 15
    strategy : {"width", "mass"}
        Bins of equal width on [0, 1] (edges k / n_bins; an edge belongs to the bin above, 1 to the
        last) or of equal weight (ties are never split).
    norm : {2}
        As in ``expected_calibration_error``, of which this is a variant with another default.

    See Also
    --------
    expected_calibration_error : the mean gap.
    debiased_calibration_error : the error corrected for noise.

    Notes
    -----
    It is biased upward, more than the mean gap; ``debiased_calibration_error`` estimates the same
    quantity without that bias. Never select a model or a calibrator by it: it is not a proper score
    (a constant confidence equal to the accuracy scores 0). ``.interval`` is debiased: see
    ``expected_calibration_error``.

    References
    ----------
    Hendrycks, Mazeika and Dietterich, "Deep anomaly detection with outlier exposure", ICLR 2019.

    Examples
    --------
    >>> round(root_mean_square_calibration_error([0, 1], [0.1, 0.5]), 3)
    0.361
    """

    norm: Literal[1, 2, "max"] = 2


root_mean_square_calibration_error: RootMeanSquareCalibrationError = (
    RootMeanSquareCalibrationError()
)


class ClasswiseCalibrationError(BinnedCalibrationError, name="classwise ECE", key="classwise_ece"):
    r"""Calibration error of each class's probability against that class's share, averaged over the
    classes.

    .. math:: \frac{1}{K} \sum_k \sum_b \frac{w_{kb}}{w} \left| \bar p_{kb} - \bar y_{kb} \right|

    Parameters
    ----------
    n_bins : int, default 15
    strategy : {"width", "mass"}
        Bins of equal width on [0, 1] (edges k / n_bins; an edge belongs to the bin above, 1 to the
        last) or of equal weight (ties are never split).
    norm : number of at least 1, or "max"
        Mean of the gaps (ECE), root mean square (RMSCE), the root of the mean of another power, or
        the largest gap (MCE).

    See Also
    --------
    adaptive_calibration_error : the error in bins of equal weight.
    positive_class_calibration_error : the error of one class of two.

    Notes
    -----
    Never select a model or a calibrator by it: it is not a proper score (a constant confidence
    equal to the accuracy has error 0), and it is biased upward, more so with few rows per bin.
    Report it with its interval and the log loss. ``.interval`` is not centred on this biased value:
    it contains the errors that, with this sample's noise, would produce the observed one (method
    "debiased"). A perfect model of 100 rows reads about 0.03 with a lower end of 0, not 0.12. Its
    ``value`` is that estimate, ``plain`` the value above.

    References
    ----------
    Kull et al., "Beyond temperature scaling", NeurIPS 2019.

    Examples
    --------
    >>> round(classwise_calibration_error([0, 1], [[0.8, 0.2], [0.4, 0.6]]), 3)
    0.3
    """

    def _pairs(self, record: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        P = record.probabilities
        return [(P[:, k], record.hits_of(k)) for k in range(record.n_classes)]


classwise_calibration_error: ClasswiseCalibrationError = ClasswiseCalibrationError()


class PositiveClassCalibrationError(
    BinnedCalibrationError, name="event ECE", key="event_ece", binary_only=True
):
    r"""Calibration error of binary predictions: gap between P(class 1) and the share of class 1,
    over bins of P(class 1).

    .. math:: \sum_b \frac{w_b}{w} \left| \bar p_b - \bar y_b \right|

    Parameters
    ----------
    n_bins : int, default 15
    strategy : {"width", "mass"}
        Bins of equal width on [0, 1] (edges k / n_bins; an edge belongs to the bin above, 1 to the
        last) or of equal weight (ties are never split).
    norm : number of at least 1, or "max"
        Mean of the gaps (ECE), root mean square (RMSCE), the root of the mean of another power, or
        the largest gap (MCE).

    See Also
    --------
    expected_calibration_error : the error of the predicted label's probability.
    integrated_calibration_index : the error without bins.

    Notes
    -----
    Never select a model or a calibrator by it: it is not a proper score (a constant confidence
    equal to the accuracy has error 0), and it is biased upward, more so with few rows per bin.
    Report it with its interval and the log loss. ``.interval`` is not centred on this biased value:
    it contains the errors that, with this sample's noise, would produce the observed one (method
    "debiased"). A perfect model of 100 rows reads about 0.03 with a lower end of 0, not 0.12. Its
    ``value`` is that estimate, ``plain`` the value above. For two classes this differs from the
    error of the top label: see ``expected_calibration_error``.

    Examples
    --------
    >>> positive_class_calibration_error([1], [0.0])
    1.0
    """

    def _pairs(self, record: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        if record.n_classes != 2:
            raise InputError(
                f"positive_class_calibration_error takes two classes; got {record.n_classes};"
                " use classwise_calibration_error."
            )
        return [(record.probabilities[:, 1], record.hits_of(1))]


positive_class_calibration_error: PositiveClassCalibrationError = PositiveClassCalibrationError()


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
        require_option("norm", self.norm, (1, 2))

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
