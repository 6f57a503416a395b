"""Binned calibration errors: gaps between mean score and event rate in each bin."""

from abc import abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np

from calibrant._numerics import bins
from calibrant._numerics.bins import binned_errors, inverted_limits
from calibrant._numerics.bootstrap import resample_weights, resampled_sums
from calibrant.core.calibrator import Promises
from calibrant.core.estimators import require_count, require_option
from calibrant.core.metric_kinds import Interval, Metric
from calibrant.errors import InputError, warn

__all__ = [
    "BinnedCalibrationError",
    "ClasswiseCalibrationError",
    "ExpectedCalibrationError",
    "MaximumCalibrationError",
    "PositiveClassCalibrationError",
    "RootMeanSquareCalibrationError",
    "classwise_calibration_error",
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
