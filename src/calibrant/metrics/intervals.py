"""Metrics of central intervals at one level: coverage, width, and both in one number."""

from typing import Any

import numpy as np

from calibrant._numerics.intervals import limits_within, powers, rate_interval, unseen_ends
from calibrant.core.metric import require_level
from calibrant.core.metric_kinds import (
    Interval,
    RegressionMeanMetric,
    RegressionMetric,
    WholeMetric,
)
from calibrant.errors import InputError

__all__ = [
    "CoverageWidthCriterion",
    "IntervalCoverage",
    "IntervalWidth",
    "coverage_width_criterion",
    "interval_coverage",
    "interval_width",
]


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
