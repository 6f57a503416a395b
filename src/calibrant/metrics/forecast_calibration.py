"""Gaps between nominal and observed coverage over many levels (mean, root mean square, area, worst
random group), and metrics of central intervals at one level.

At one level these are coverage, width, and both in one number.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import special

from calibrant._numerics.bins import (
    binned_errors,
    gap_limits,
    level_counts,
    level_gaps,
    redrawn_counts,
)
from calibrant._numerics.clusters import expanded_level
from calibrant._numerics.intervals import (
    limits_within,
    powers,
    quotient,
    rate_interval,
    unseen_ends,
)
from calibrant.core.arrays import ArrayLike
from calibrant.core.estimators import require_count, require_option
from calibrant.core.forecast_record import ForecastRecord, read_forecast
from calibrant.core.groups import in_order
from calibrant.core.guarantee import Record
from calibrant.core.metric import Interval, require_level
from calibrant.core.metric_kinds import (
    RegressionMeanMetric,
    RegressionMetric,
    WholeMetric,
    on_record,
)
from calibrant.errors import InputError

__all__ = [
    "AdversarialGroupCalibration",
    "CoverageWidthCriterion",
    "GapMetric",
    "IntervalCalibrationError",
    "IntervalCoverage",
    "IntervalWidth",
    "MiscalibrationArea",
    "RootMeanSquareIntervalCalibrationError",
    "adversarial_group_calibration",
    "coverage_width_criterion",
    "interval_calibration_error",
    "interval_coverage",
    "interval_width",
    "miscalibration_area",
    "root_mean_square_interval_calibration_error",
]


class GapMetric(
    RegressionMetric,
    estimand=(
        "error at these levels and bins as the number of rows grows, without the sampling noise"
        " in the value"
    ),
    clustered=False,
):
    """Template of gaps over levels; a subclass defines ``_sums`` (rows summed by bin), ``_gaps``
    (sums to averaged gaps) and ``_draws``.

    The interval is not centred on the biased value: it contains the errors that, with this sample's
    noise, would produce the observed one.
    """

    #: Whether the summands are unbounded, so noise grows with the error. The upper end is then at
    #: least that of the observed gaps with noise added.
    long_tails: ClassVar[bool] = False

    @abstractmethod
    def _sums(self, record, index, n_groups) -> np.ndarray:
        """Sums of the rows by their bin ``index``, (n_groups, ...)."""

    @abstractmethod
    def _gaps(self, sums) -> tuple[np.ndarray, np.ndarray]:
        """(weight (..., bins), summed gaps (..., sets, bins)) of sums with any leading axes."""

    @abstractmethod
    def _draws(self, record, sums, n_resamples, random_state) -> np.ndarray:
        """``sums`` on bootstrap resamples of the rows, bins held fixed, (n_resamples, bins,
        ...).
        """

    def _bins(self, totals: np.ndarray) -> np.ndarray:
        """Totals as the sums of the bins."""
        return totals

    def _error(self, weight: np.ndarray, gap: np.ndarray) -> np.ndarray | float:
        """Compute the value from the weight (..., bins) and the summed gaps (..., sets, bins): the
        mean absolute gap, averaged over the sets.
        """
        return binned_errors(weight[..., None, :], gap, 1).mean(axis=-1)

    def _finalise(self, totals: np.ndarray) -> Any:
        return self._error(*self._gaps(self._bins(totals)))

    def _resampled(self, record, n_resamples, random_state):
        return self._error(
            *self._gaps(
                self._draws(record, self._bins(self._all_totals(record)), n_resamples, random_state)
            )
        )

    def _interval(
        self, record: ForecastRecord, level: float, method: str, n_resamples: int, random_state: int
    ) -> Interval:
        if method not in ("auto", "debiased"):
            return super()._interval(record, level, method, n_resamples, random_state)
        totals = self._all_totals(record)
        sums = self._bins(totals)
        weight, gap = self._gaps(sums)
        noise = self._gaps(self._draws(record, sums, n_resamples, random_state))[1]
        noise, n = noise - noise.mean(axis=0), float(record.weights.sum())
        value, low, high = gap_limits(weight, gap, noise, level, self.range[1], self._error, n)
        if self.long_tails:
            each = max(n / gap.shape[-1], 2.0)
            reach = 0.5 + 0.5 * expanded_level(level, each - 1.0)
            high = max(high, float(np.quantile(self._error(weight, gap + noise), reach)))
        return Interval.holding(
            value, (low, high), level, "debiased", n, float(self._finalise(totals))
        )


class IntervalCalibrationError(
    GapMetric,
    name="interval calibration error",
    key="interval_calibration_error",
    direction="minimize",
    range=(0.0, 1.0),
    examples=({"n_levels": 19, "kind": "quantile"},),
):
    r"""Mean gap between nominal and observed coverage of intervals, over all levels.

    .. math:: \frac{1}{L} \sum_l \left| \frac{1}{n} \sum_i [y_i \in I_i(p_l)] - p_l \right|

    Parameters
    ----------
    n_levels : int, default 100
        Number of levels p, evenly spaced from 0 to 1 inclusive.
    kind : {"interval", "quantile"}
        Central intervals, or everything below the quantile at p, which separates a shift from a
        wrong width.

    See Also
    --------
    interval_curve : the gap at each level.
    interval_coverage : the coverage at one level.

    Notes
    -----
    Use it to check the coverage of intervals over all rows. The criterion is weak: a random std can
    satisfy it perfectly after recalibration, so report the ENCE too. It is biased upward in small
    samples; ``.interval`` removes that bias (method "debiased"), and its ``plain`` is the value
    above. In simulations of 300 to 5,000 rows it covered the truth 84 to 98 times of 100.

    Examples
    --------
    >>> round(interval_calibration_error([0.0], [0.0], [1.0]), 6)
    0.5
    """

    n_levels: int = 100
    kind: str = "interval"

    def _check(self) -> None:
        require_count("n_levels", self.n_levels, 2)
        require_option("kind", self.kind, ("interval", "quantile"))

    @property
    def levels(self) -> np.ndarray:
        """(n_levels,) coverages, or probabilities, to compare."""
        return np.linspace(0.0, 1.0, self.n_levels)

    def _sums(self, record: ForecastRecord, index: np.ndarray | int, n_groups: int) -> np.ndarray:
        if self.kind == "interval":
            return level_counts(
                np.abs(record.score),
                special.ndtri(0.5 + 0.5 * self.levels),
                index,
                n_groups,
                record.weight,
            )
        return level_counts(
            record.score, special.ndtri(self.levels), index, n_groups, record.weight
        )

    def _gaps(self, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return level_gaps(sums, self.levels)

    def _draws(
        self, record: ForecastRecord, sums: np.ndarray, n_resamples: int, random_state: int
    ) -> np.ndarray:
        return redrawn_counts(sums, self.levels, n_resamples, random_state)

    def _totals(self, record: ForecastRecord) -> np.ndarray:
        return self._sums(record, 0, 1)

    def _group_totals(self, record: ForecastRecord, group: np.ndarray, n_groups: int) -> np.ndarray:
        return self._sums(record, group, n_groups)[:, None]


interval_calibration_error: IntervalCalibrationError = IntervalCalibrationError()


class RootMeanSquareIntervalCalibrationError(
    IntervalCalibrationError,
    name="RMS interval calibration error",
    key="rms_interval_calibration_error",
):
    r"""Root mean square gap between nominal and observed coverage of intervals, over all levels.

    .. math:: \Big( \frac{1}{L} \sum_l \big( \frac{1}{n} \sum_i [y_i \in I_i(p_l)] - p_l \big)^2
        \Big)^{1/2}

    Parameters
    ----------
    n_levels : int, default 100
        Number of levels p, evenly spaced from 0 to 1 inclusive.
    kind : {"interval", "quantile"}
        Central intervals, or everything below the quantile at p, which separates a shift from a
        wrong width.

    See Also
    --------
    interval_calibration_error : the mean gap.
    miscalibration_area : the area between curve and diagonal.

    Notes
    -----
    It is uncertainty-toolbox's ``root_mean_squared_calibration_error``. It is biased upward in
    small samples; ``.interval`` removes that bias (method "debiased"), and its ``plain`` is the
    value above.

    Examples
    --------
    >>> round(root_mean_square_interval_calibration_error([0.0], [0.0], [1.0]), 6)
    0.578806
    """

    def _combined(self, gap: np.ndarray) -> np.ndarray | float:
        """Compute the value from the gap at each level, (..., L)."""
        return np.sqrt(np.mean(gap * gap, axis=-1))

    def _error(self, weight: np.ndarray, gap: np.ndarray) -> np.ndarray | float:
        whole = np.where(weight > 0.0, weight, np.nan)
        return self._combined((gap / whole[..., None, :])[..., 0])


root_mean_square_interval_calibration_error: RootMeanSquareIntervalCalibrationError = (
    RootMeanSquareIntervalCalibrationError()
)


class MiscalibrationArea(
    RootMeanSquareIntervalCalibrationError, name="miscalibration area", key="miscalibration_area"
):
    r"""Area between the diagonal and the piecewise linear curve of observed over nominal coverage.

    .. math:: \int_0^1 \left| \hat c(p) - p \right| dp

    Parameters
    ----------
    n_levels : int, default 100
        Number of levels p, evenly spaced from 0 to 1 inclusive.
    kind : {"interval", "quantile"}
        Central intervals, or everything below the quantile at p, which separates a shift from a
        wrong width.

    See Also
    --------
    interval_calibration_error : the mean gap.
    interval_curve : the curve.

    Notes
    -----
    It is uncertainty-toolbox's metric of that name, but exact where the curve crosses the diagonal
    between two levels. It is biased upward in small samples; ``.interval`` removes that bias
    (method "debiased"), and its ``plain`` is the value above.

    Examples
    --------
    >>> round(miscalibration_area([0.0], [0.0], [1.0]), 6)
    0.5
    """

    def _combined(self, gap: np.ndarray) -> np.ndarray | float:
        left, right = np.abs(gap[..., :-1]), np.abs(gap[..., 1:])
        crossed = gap[..., :-1] * gap[..., 1:] < 0.0
        # Two triangles where the signs differ, else a trapezium.
        area = np.where(crossed, quotient(left * left + right * right, left + right), left + right)
        return 0.5 * area.sum(axis=-1) / (self.n_levels - 1)


miscalibration_area: MiscalibrationArea = MiscalibrationArea()


NORMS: dict[int, RegressionMetric] = {
    1: interval_calibration_error,
    2: root_mean_square_interval_calibration_error,
}


@dataclass(frozen=True)
class AdversarialGroupCalibration(Record):
    """Worst error by group size, one row per size: its share of the rows, and mean and standard
    error of the worst group's error over trials.
    """

    share: np.ndarray
    error: np.ndarray
    standard_error: np.ndarray


def _of(
    record: ForecastRecord,
    *,
    n_sizes: int = 10,
    n_groups: int = 10,
    n_trials: int = 10,
    norm: int = 1,
    kind: str = "interval",
    random_state: int = 0,
) -> AdversarialGroupCalibration:
    for name, given, least in (
        ("n_sizes", n_sizes, 2),
        ("n_groups", n_groups, 1),
        ("n_trials", n_trials, 2),
    ):
        require_count(name, given, least)
    require_option("norm", norm, NORMS)
    record = in_order(record)
    metric, rng, n = (
        NORMS[norm].with_options(kind=kind),
        np.random.default_rng(random_state),
        len(record),
    )
    share, worst = np.linspace(0.0, 1.0, n_sizes), np.empty((n_sizes, n_trials))
    for s, size in enumerate(np.clip(np.rint(share * n).astype(int), min(2, n), n)):
        for t in range(n_trials):
            rows = np.concatenate([rng.choice(n, size, replace=False) for _ in range(n_groups)])
            totals = metric.group_totals_of(
                record.take(rows), np.repeat(np.arange(n_groups), size), n_groups
            )
            worst[s, t] = np.max(metric.finalise(totals))
    return AdversarialGroupCalibration(
        share, worst.mean(axis=1), worst.std(axis=1, ddof=1) / np.sqrt(n_trials)
    )


@on_record(_of)
def adversarial_group_calibration(
    y_true: ArrayLike,
    P: Any,
    std: ArrayLike | None = None,
    *,
    n_sizes: int = 10,
    n_groups: int = 10,
    n_trials: int = 10,
    norm: Literal[1, 2] = 1,
    kind: Literal["interval", "quantile"] = "interval",
    random_state: int = 0,
) -> AdversarialGroupCalibration:
    """Compute the largest interval calibration error among random groups of rows, by group size.

    Parameters
    ----------
    y_true : (n,)
    P, std : (n,) each, mean and standard deviation, or a forecast instead of the mean
    n_sizes : int, default 10
        Number of group sizes, evenly spaced from two rows to all.
    n_groups : int, default 10
        Number of groups drawn without replacement in a trial; the worst one counts.
    n_trials : int, default 10
    norm : {1, 2}
        The mean (1) or root mean square (2) of the gaps over the levels.
    kind : {"interval", "quantile"}
        As in ``interval_calibration_error``.
    random_state : int, default 0

    Returns
    -------
    AdversarialGroupCalibration
        ``.frame()`` returns a data frame.

    Raises
    ------
    InputError
        When the forecasts or an option are invalid.

    See Also
    --------
    group_coverage : the coverage of meaningful groups.
    interval_calibration_error : the error of all rows.

    Notes
    -----
    Small groups have large errors by chance alone: compare two forecasts of the same rows, or look
    for a curve that falls more slowly than 1 over the root of the size. ``standard_error`` is that
    of the mean over trials; in uncertainty-toolbox it is their standard deviation. It takes no
    weights, since a group of repeated rows is a smaller group.

    References
    ----------
    Zhao, Ma and Ermon, "Individual calibration with randomized forecasting", ICML 2020.

    Examples
    --------
    >>> curve = adversarial_group_calibration(
    ...     [0.0, 1.0, -1.0, 2.0], [0.0] * 4, [1.0] * 4, n_sizes=2
    ... )
    >>> curve.share.tolist(), bool(curve.error[0] > curve.error[1])
    ([0.0, 1.0], True)
    """
    record = read_forecast(P, std, y_true).one_output()
    return adversarial_group_calibration.of(
        record,
        n_sizes=n_sizes,
        n_groups=n_groups,
        n_trials=n_trials,
        norm=norm,
        kind=kind,
        random_state=random_state,
    )


class IntervalCoverage(
    RegressionMeanMetric,
    name="PICP",
    key="coverage",
    estimand="share of new outcomes inside their intervals",
    direction="none",
    range=(0.0, 1.0),
    rate=True,
):
    r"""Share of the outcomes inside the central interval at ``level`` (PICP).

    .. math:: \frac{1}{n} \sum_i [l_i \le y_i \le h_i]

    Parameters
    ----------
    level : float, default 0.9
        The nominal coverage of the central interval.

    See Also
    --------
    interval_width : the width to report with it.
    interval_calibration_error : the error over all levels.

    Notes
    -----
    It should be close to the level; see ``interval_width`` for the price, and ``group_coverage``
    for the coverage in each group.

    Examples
    --------
    >>> interval_coverage([0.0, 3.0], [0.0, 0.0], [1.0, 1.0])
    0.5
    """

    level: float = 0.9

    @property
    def ideal(self) -> float:
        """The level."""
        return self.level

    def _check(self) -> None:
        require_level(self.level, usual=0.9)

    def _losses(self, record: Any) -> np.ndarray:
        return record.held(self.level)[2].astype(np.float64)


interval_coverage: IntervalCoverage = IntervalCoverage()


class IntervalWidth(
    RegressionMeanMetric,
    name="MPIW",
    key="width",
    direction="none",
    range=(0.0, float("inf")),
    degree=1,
):
    r"""Mean width of the central interval at ``level`` (MPIW).

    .. math:: \frac{1}{n} \sum_i (h_i - l_i)

    Parameters
    ----------
    level : float, default 0.9
        The nominal coverage of the central interval.

    See Also
    --------
    interval_coverage : the coverage to report with it.
    sharpness : the same for the variance.

    Notes
    -----
    Among intervals with nominal coverage, narrower ones are better: report it with
    ``interval_coverage``. Infinite intervals make it infinite.

    Examples
    --------
    >>> round(interval_width([0.0], [0.0], [1.0]), 4)
    3.2897
    """

    level: float = 0.9

    def _check(self) -> None:
        require_level(self.level, usual=0.9)

    def _losses(self, record: Any) -> np.ndarray:
        low, high = record.forecast.interval(self.level)
        return high - low


interval_width: IntervalWidth = IntervalWidth()


class CoverageWidthCriterion(
    RegressionMetric,
    WholeMetric,
    name="CWC",
    key="coverage_width_criterion",
    estimand=(
        "value in the population at the range of these outcomes, which itself grows with the rows"
    ),
    direction="maximize",
    range=(float("-inf"), 1.0),
    exceptions={"one_row": "nan: the outcomes have no range"},
):
    r"""Coverage-width criterion: 1 minus the mean width relative to the range of the outcomes,
    times a penalty on wrong coverage (CWC).

    .. math:: \Big( 1 - \frac{\bar w}{\max y - \min y} \Big) \exp\big( -\eta (\hat c - c)^2 \big)

    Parameters
    ----------
    level : float, default 0.9
        The nominal coverage c of the central interval.
    eta : float, default 30.0
        The strength of the penalty on wrong coverage.

    See Also
    --------
    weighted_interval_score : a proper score of intervals.
    interval_coverage, interval_width : the two components.

    Notes
    -----
    Use it to compare with papers that report it. Its weighting is arbitrary, and one outlier
    changes the range, so never select a model by it. It is nan where all outcomes are equal. The
    range is no sum, so it has no state. Its interval treats the range as fixed and combines those
    of the coverage and the mean width. It is MAPIE's ``coverage_width_based``.

    References
    ----------
    Khosravi, Nahavandi and Creighton, "Construction of optimal prediction intervals for load
    forecasting problems", IEEE Transactions on Power Systems 2010.

    Examples
    --------
    >>> round(coverage_width_criterion([-5.0, 0.0, 5.0], [-5.0, 0.0, 5.0], [1.0] * 3), 4)
    0.4971
    """

    level: float = 0.9
    eta: float = 30.0

    def _check(self) -> None:
        require_level(self.level, usual=0.9)
        if not self.eta >= 0.0:
            raise InputError(f"eta must be at least 0; got {self.eta!r}.")

    def _value(self, record: Any) -> float:
        width, held = self._rows(record)
        n = record.weights.sum()
        return float(
            self._at(record.weights @ width / n, record.weights @ held / n, np.ptp(record.y))
        )

    def _rows(self, record: Any) -> tuple[np.ndarray, np.ndarray]:
        """Width of each row's interval, and whether it contains the outcome."""
        low, high, held = record.held(self.level)
        return high - low, held.astype(np.float64)

    def _at(self, width: np.ndarray | float, coverage: float, spread: float) -> float:
        gap = coverage - self.level
        return (1.0 - width / spread) * np.exp(-self.eta * gap * gap) if spread > 0.0 else np.nan

    def _interval(
        self, record: Any, level: float, method: str, n_resamples: int, random_state: int
    ) -> Interval:
        if method not in ("auto", "analytic"):
            return super()._interval(record, level, method, n_resamples, random_state)
        (width, held), weight, spread = self._rows(record), record.weights, np.ptp(record.y)
        n, value = np.float64(weight.sum()), self._value(record)
        sums = np.array([weight @ power for power in powers(width)])
        widths = limits_within((0.0, np.inf), n, sums, unseen_ends(n, sums, (0.0, np.inf)), level)
        rates = np.array([*rate_interval(weight @ held, n, level), weight @ held / n])
        # The best coverage in the interval may be the nominal one.
        best = np.clip(self.level, rates[0], rates[1])
        by_rate = [self._at(sums[0] / n, rate, spread) for rate in (*rates, best)]
        by_width = [self._at(end, rates[2], spread) for end in widths]
        low = value - np.hypot(value - min(by_rate), value - min(by_width))
        high = value + np.hypot(max(by_rate) - value, max(by_width) - value)
        return Interval.holding(value, (low, min(high, self.range[1])), level, "analytic", float(n))


coverage_width_criterion: CoverageWidthCriterion = CoverageWidthCriterion()
