"""Coverage of intervals in groups of rows and at each width."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant._numerics.bins import equal_mass_groups, grouped_sums
from calibrant._numerics.intervals import rate_interval, wilson
from calibrant.core.estimators import require_count
from calibrant.core.forecast_record import read_forecast
from calibrant.core.groups import Groups, read_groups
from calibrant.core.guarantee import Record
from calibrant.core.metric import require_level
from calibrant.core.metric_kinds import Interval, RegressionMetric, WholeMetric

__all__ = [
    "GroupCoverage",
    "SizeStratifiedCoverage",
    "group_coverage",
    "held_by_group",
    "size_stratified_coverage",
]


@dataclass(frozen=True)
class GroupCoverage(Record):
    """Coverage by group, one row per group: label, n (sum of weights), coverage, its interval, and
    mean width (mean size for sets).
    """

    group: np.ndarray
    n: np.ndarray
    coverage: np.ndarray
    low: np.ndarray
    high: np.ndarray
    width: np.ndarray


def group_coverage(
    y_true: ArrayLike,
    mean: Any,
    std: ArrayLike | None = None,
    *,
    groups: Sequence[str],
    level: float = 0.9,
    band: float = 0.95,
    sample_weight: ArrayLike | None = None,
) -> GroupCoverage:
    """Compute the share of the outcomes inside their central intervals in each group.

    Parameters
    ----------
    y_true : (n,)
    mean, std : (n,) each, or a forecast instead of mean
    groups : (n,) labels of any kind, or a frame of several columns, whose combinations are the
        groups
    level : float, default 0.9
        The nominal coverage of the intervals.
    band : float, default 0.95
        The level of the Wilson interval of each group's coverage.
    sample_weight : (n,), optional

    Returns
    -------
    GroupCoverage
        Groups in sorted order; None (rows without a label) is last. ``.frame()`` returns a data
        frame.

    Raises
    ------
    InputError
        When ``groups`` does not match the rows.

    See Also
    --------
    interval_coverage : the coverage of all rows.
    per_group : any metric by group.

    Examples
    --------
    >>> out = group_coverage([0.0, 3.0, 0.0], [0.0] * 3, [1.0] * 3, groups=["a", "b", "a"])
    >>> out.group.tolist(), out.coverage.tolist()
    (['a', 'b'], [1.0, 0.0])
    """
    require_level(level)
    require_level(band, "band")
    record = read_forecast(mean, std, y_true, sample_weight=sample_weight).one_output()
    found = read_groups(groups, record)
    low, high, held = record.held(level)
    return held_by_group(found, held, high - low, record.weights, band)


def held_by_group(
    found: Groups, held: np.ndarray, width: np.ndarray, weight: np.ndarray, band: float
) -> GroupCoverage:
    """Compute coverage by group from whether each interval or set ``held`` its outcome and its
    width, (n,) each.
    """
    n = np.bincount(found.index, weights=weight)
    inside = np.bincount(found.index, weights=weight * held)
    return GroupCoverage(
        found.names,
        n,
        inside / n,
        *wilson(inside, n, band),
        np.bincount(found.index, weights=weight * width) / n,
    )


class SizeStratifiedCoverage(
    RegressionMetric,
    WholeMetric,
    name="SSC",
    key="size_stratified_coverage",
    estimand="lowest share of new outcomes inside their intervals, over these bins",
    direction="none",
    range=(0.0, 1.0),
):
    r"""Lowest share of outcomes inside their central interval, over bins of equal weight by
    interval width (SSC).

    .. math:: \min_b \frac{1}{n_b} \sum_{i \in b} [l_i \le y_i \le h_i]

    Parameters
    ----------
    level : float, default 0.9
        The nominal coverage of the central interval.
    n_bins : int, default 3
        Intervals of equal width are never split, so there may be fewer.

    See Also
    --------
    interval_coverage : the coverage of all rows.
    group_coverage : the coverage of known groups, each with its interval.

    Notes
    -----
    Intervals with correct overall coverage may be too narrow where they are narrowest. The lowest
    of several noisy shares is below the level even for a perfect forecast; its interval, from those
    of the bins' shares, accounts for that. Bins need all rows, so it has no state. It is MAPIE's
    ``regression_ssc_score``.

    References
    ----------
    Angelopoulos, Bates, Malik and Jordan, "Uncertainty sets for image classifiers using conformal
    prediction", ICLR 2021.

    Examples
    --------
    >>> size_stratified_coverage([0.0, 0.0, 9.0, 0.0], [0.0] * 4, [1.0, 1.0, 2.0, 2.0], n_bins=2)
    0.5
    """

    level: float = 0.9
    n_bins: int = 3

    def _check(self) -> None:
        require_level(self.level, usual=0.9)
        require_count("n_bins", self.n_bins)

    def _value(self, record: Any) -> float:
        mass, inside = self._bins(record)
        return float(np.min(inside / mass))

    def _bins(self, record: Any) -> np.ndarray:
        """Weight of each bin's rows, and of its covered rows."""
        low, high, held = record.held(self.level)
        # Widths that differ only by rounding count as equal.
        width = np.round(high - low, 12)
        group = equal_mass_groups(width, self.n_bins, record.weights)
        return grouped_sums(group, group.max() + 1, [held * 1.0], record.weight).T

    def _interval(
        self, record: Any, level: float, method: str, n_resamples: int, random_state: int
    ) -> Interval:
        if method not in ("auto", "analytic"):
            return super()._interval(record, level, method, n_resamples, random_state)
        mass, inside = self._bins(record)
        # The truly lowest bin is rarely below its own lower end; the error at the upper ends is
        # shared among the bins.
        low = rate_interval(inside, mass, level)[0].min()
        high = rate_interval(inside, mass, 1.0 - (1.0 - level) / len(mass))[1].min()
        return Interval.holding(
            float(np.min(inside / mass)), (low, high), level, "analytic", float(mass.sum())
        )


size_stratified_coverage: SizeStratifiedCoverage = SizeStratifiedCoverage()
