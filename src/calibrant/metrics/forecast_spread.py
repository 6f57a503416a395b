"""Standard deviations predicted, against observed errors, in bins of rows with similar std;
coverage of intervals in groups of rows and at each width; and its dependence on the width (HSIC).
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from calibrant._numerics.bins import (
    chi_square_draws,
    enough_bins,
    equal_mass_groups,
    grouped_sums,
    level_counts,
    level_gaps,
    normalised_gap,
    redrawn_counts,
    spread_bins,
)
from calibrant._numerics.bootstrap import null_generator, resampled_sums
from calibrant._numerics.intervals import powers, rate_interval, unseen_ends, unseen_share, wilson
from calibrant.core.arrays import ArrayLike
from calibrant.core.estimators import require_count
from calibrant.core.forecast import Forecast
from calibrant.core.forecast_record import read_forecast
from calibrant.core.groups import Groups, in_order, read_groups
from calibrant.core.guarantee import Record
from calibrant.core.metric import Interval, require_level
from calibrant.core.metric_kinds import RegressionMetric, WholeMetric
from calibrant.errors import InputError
from calibrant.metrics.forecast_calibration import GapMetric

__all__ = [
    "ExpectedNormalizedCalibrationError",
    "GroupCoverage",
    "QuantileCalibrationError",
    "SizeStratifiedCoverage",
    "SpreadMetric",
    "UncertaintyCalibrationError",
    "WidthDependence",
    "expected_normalized_calibration_error",
    "group_coverage",
    "held_by_group",
    "quantile_calibration_error",
    "size_stratified_coverage",
    "uncertainty_calibration_error",
    "width_dependence",
]


#: The cells of a sketch cover standard deviations from 2^-64 to 2^64; values beyond go to the
#: outermost cells.
OCTAVES = 64


class SpreadMetric(
    GapMetric,
    direction="minimize",
    range=(0.0, float("inf")),
    examples=({"n_bins": 3}, {"cells": 256}),
):
    """Template of metrics over bins of equal weight by predicted std; a subclass defines ``_gaps``
    and ``_columns`` (the summands).

    Parameters
    ----------
    n_bins : int, default 10
    cells : int, default 0
        0 sorts all rows. A number of cells per doubling of the std keeps only sums by cell, a state
        of fixed size.
    """

    n_bins: int = 10
    cells: int = 0

    @property
    def mergeable(self) -> bool:
        """Whether ``state`` works with these options; it requires ``cells``."""
        return self.cells > 0

    def _check(self) -> None:
        require_count("n_bins", self.n_bins)
        require_count("cells", self.cells, 0, most=4096)

    @abstractmethod
    def _columns(self, record) -> list[np.ndarray]:
        """Summands of each bin besides the weight; the last increases with the squared error."""

    def _sums(self, record: Any, index: np.ndarray, n_groups: int) -> np.ndarray:
        return grouped_sums(index, n_groups, self._columns(record), record.weight)

    def _draws(
        self, record: Any, sums: np.ndarray, n_resamples: int, random_state: int
    ) -> np.ndarray:
        group, columns, weight = self._bin(record), self._columns(record), record.weights
        draws = resampled_sums([(group, columns)], len(sums), weight, n_resamples, random_state)[
            :, 0
        ]
        # Each bin gains an unseen row, drawn as often as any other. It equals the bin's mean,
        # except for an error as large as the observed ones suggest.
        powered = grouped_sums(group, len(sums), powers(np.square(record.error)), weight)
        row = sums / sums[:, :1]
        row[:, -1] += (
            unseen_ends(powered[:, 0], powered[:, 1:], (0.0, np.inf))[1]
            - powered[:, 1] / powered[:, 0]
        )
        return (
            draws
            + np.random.default_rng([random_state, 1]).poisson(1.0, draws.shape[:2])[..., None]
            * row
        )

    def _cell(self, record: Any) -> np.ndarray:
        cell = np.floor(np.log2(record.std) * self.cells).astype(np.int64) + OCTAVES * self.cells
        return np.clip(cell, 0, 2 * OCTAVES * self.cells - 1)

    def _bin(self, record: Any) -> np.ndarray:
        """Bin of each row, of equal weight by std; tied std (or cells) stay together."""
        score = self._cell(record) if self.cells else record.std
        return equal_mass_groups(
            score, enough_bins(self.n_bins, record.weights.sum()), record.weights
        )

    def _totals(self, record: Any) -> np.ndarray:
        return self._sums(record, self._cell(record), 2 * OCTAVES * self.cells)

    def _all_totals(self, record: Any) -> np.ndarray:
        if self.cells:
            return super()._all_totals(record)
        index = self._bin(record)
        return self._sums(record, index, int(index.max()) + 1)

    def _bins(self, totals: np.ndarray) -> np.ndarray:
        if not self.cells:
            return totals
        weight = self._weight(totals)
        used = np.flatnonzero(weight)
        group = equal_mass_groups(used, enough_bins(self.n_bins, weight.sum()), weight[used])
        return np.add.reduceat(totals[used], np.searchsorted(group, np.arange(group[-1] + 1)))

    def _weight(self, totals: np.ndarray) -> np.ndarray:
        """Weight of each cell."""
        return totals[:, 0]

    def _finalise(self, totals: np.ndarray) -> Any:
        if self.cells and totals.ndim > 2:
            # Each leading entry has its own bins.
            return np.array([self._finalise(each) for each in totals])
        return super()._finalise(totals)


class ExpectedNormalizedCalibrationError(SpreadMetric, name="ENCE", key="ence", long_tails=True):
    r"""Mean relative gap between predicted and observed error over bins of equal weight by
    predicted std (ENCE).

    .. math:: \frac{1}{N} \sum_j \frac{|RMV_j - RMSE_j|}{RMV_j}, \qquad
        RMV_j = \sqrt{\overline{\sigma^2}}, \quad RMSE_j = \sqrt{\overline{(y - \mu)^2}}

    Parameters
    ----------
    n_bins : int, default 10
        Number of bins; fewer where a bin would have fewer than 30 rows, on which the paper has no
        limit. Tied std are never split, so there may be fewer still: one if all are equal.
    cells : int, default 0
        0 sorts all rows. A number of cells per doubling of the std (256 is plenty) keeps only sums
        by cell. The metric then has a state of fixed size, and the edges of the bins are wrong by
        at most a factor of 2^(1 / cells), 0.3 % for 256.

    See Also
    --------
    uncertainty_calibration_error : the absolute gaps of the variance.
    rmse_rmv_curve : the gap in each bin.

    Notes
    -----
    Use it to check whether error bars are calibrated at each size. The interval calibration error
    does not show that: it can be perfect for a random std. It is biased upward in small samples: a
    perfect normal model has about sqrt(N / (pi n)), so compare it with ``null``. Do not select
    models by it (a constant std equal to the overall error has ENCE 0), and report c_v with it.
    ``.interval`` removes the bias (method "debiased"): its ``value`` is the error that, with this
    sample's noise, would produce the observed one; ``plain`` is the value above. Each bin gains one
    row with a large error, so that outliers which happen to be missing do not count as
    miscalibration.

    References
    ----------
    Levi et al., "Evaluating and calibrating uncertainty prediction in regression tasks", 2019,
    equation 8.

    Examples
    --------
    >>> y, mean = [2.0, -2.0, 4.0, -4.0], [0.0, 0.0, 0.0, 0.0]
    >>> expected_normalized_calibration_error(y, mean, [1.0, 1.0, 2.0, 2.0])
    1.0
    """

    def null(
        self,
        mean: np.ndarray | Forecast,
        std: np.ndarray | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        level: float = 0.95,
        n_draws: int = 1000,
        random_state: int = 0,
        **options: Any,
    ) -> Interval:
        """Compute the null distribution: mean and upper quantile of the ENCE of a perfect model
        N(mean, std).

        Parameters
        ----------
        mean, std, sample_weight
            As for the metric; one output.
        level : float, default 0.95
            ``high`` is the quantile of this level: a larger ENCE is evidence of miscalibration.
        n_draws : int, default 1000
        random_state : int

        Returns
        -------
        Interval
            An interval with method "null".
        """
        require_level(level)
        record = read_forecast(mean, std, sample_weight=sample_weight)
        if record.several:
            raise InputError(
                f"null takes one output; got forecasts of shape {record.forecast.shape}; call it"
                " for each column."
            )
        return self.with_options(**options).null_of(
            record, level=level, n_draws=n_draws, random_state=random_state
        )

    def null_of(
        self, record: Any, *, level: float = 0.95, n_draws: int = 1000, random_state: int = 0
    ) -> Interval:
        """Compute ``null`` for the forecasts of an existing record."""
        record = in_order(record)
        weight, spread = record.weights, record.std
        group, mass, variance, _ = spread_bins(
            spread, spread * spread, weight, enough_bins(self.n_bins, weight.sum())
        )
        part = spread * spread / (mass * variance)[group]
        draws = chi_square_draws(
            group, part, weight, len(mass), n_draws, null_generator(random_state)
        )
        values = normalised_gap(1.0, draws)
        return Interval(
            float(values.mean()),
            0.0,
            float(np.quantile(values, level)),
            level,
            "null",
            float(weight.sum()),
        )

    def _columns(self, record: Any) -> list[np.ndarray]:
        return [np.square(record.std), np.square(record.error)]

    def _gaps(self, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # Every bin counts equally, whatever its weight.
        gap = 1.0 - np.sqrt(sums[..., 2] / sums[..., 1])
        return np.ones(gap.shape), gap[..., None, :]


expected_normalized_calibration_error: ExpectedNormalizedCalibrationError = (
    ExpectedNormalizedCalibrationError()
)


class UncertaintyCalibrationError(SpreadMetric, name="UCE", key="uce", long_tails=True, degree=2):
    r"""Gap between predicted variance and mean squared error, averaged over bins by weight (UCE).

    .. math:: \sum_j \frac{n_j}{n} \left| \overline{(y - \mu)^2}_j - \overline{\sigma^2}_j \right|

    Parameters
    ----------
    n_bins : int, default 10
        Bins of equal weight by predicted std; fewer where a bin would have fewer than 30 rows. Tied
        std are never split.
    cells : int, default 0
        0 sorts all rows. A number of cells per doubling of the std (256 is plenty) keeps only sums
        by cell. The metric then has a state of fixed size, and the edges of the bins are wrong by
        at most a factor of 2^(1 / cells), 0.3 % for 256.

    See Also
    --------
    expected_normalized_calibration_error : the relative gaps of the std.
    rmse_rmv_curve : the gap in each bin.

    Notes
    -----
    It is in squared units of y, so bins of large variance dominate it; the ENCE, which is relative,
    weights all bins equally. It is biased upward in small samples; ``.interval`` removes that bias
    (method "debiased"), and its ``plain`` is the value above.

    Examples
    --------
    >>> uncertainty_calibration_error([2.0, -2.0], [0.0, 0.0], [1.0, 1.0])
    3.0
    """

    def _columns(self, record: Any) -> list[np.ndarray]:
        return [np.square(record.error) - np.square(record.std)]

    def _gaps(self, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return sums[..., 0], sums[..., None, :, 1]


uncertainty_calibration_error: UncertaintyCalibrationError = UncertaintyCalibrationError()


class QuantileCalibrationError(SpreadMetric, name="QCE", key="qce", range=(0.0, 1.0)):
    r"""Gap between quantile level and share of outcomes below that quantile, averaged over levels
    and bins of predicted std (QCE).

    .. math:: \frac{1}{L} \sum_l \sum_j \frac{n_j}{n} \left| \frac{1}{n_j} \sum_{i \in j} [y_i \le
        q_i(\tau_l)] - \tau_l \right|

    Parameters
    ----------
    n_bins : int, default 10
        Bins of equal weight by predicted std; fewer where a bin would have fewer than 30 rows. Tied
        std are never split.
    cells : int, default 0
        0 sorts all rows. A number of cells per doubling of the std (256 is plenty) keeps only sums
        by cell. The metric then has a state of fixed size, and the edges of the bins are wrong by
        at most a factor of 2^(1 / cells), 0.3 % for 256.
    n_levels : int, default 9
        Levels 1 / (L + 1), ..., L / (L + 1).

    See Also
    --------
    interval_calibration_error : the error of central intervals.
    pit_histogram : all levels, as a plot.

    Notes
    -----
    Use it for quantiles that should be calibrated at every size of the predicted std, which the
    interval calibration error does not check. It is biased upward in small samples; ``.interval``
    removes that bias (method "debiased"), and its ``plain`` is the value above. The quantiles are
    one-sided; netcal's QCE counts outcomes in central regions, a different value.

    Examples
    --------
    >>> quantile_calibration_error([-1.0, 1.0], [0.0, 0.0], [1.0, 1.0], n_levels=1)
    0.0
    """

    n_levels: int = 9

    def _check(self) -> None:
        super()._check()
        require_count("n_levels", self.n_levels)

    @property
    def _levels(self) -> np.ndarray:
        return (np.arange(self.n_levels) + 1.0) / (self.n_levels + 1.0)

    def _sums(self, record: Any, index: np.ndarray, n_groups: int) -> np.ndarray:
        return level_counts(
            record.score, special.ndtri(self._levels), index, n_groups, record.weight
        )

    def _gaps(self, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return level_gaps(sums, self._levels)

    def _draws(
        self, record: Any, sums: np.ndarray, n_resamples: int, random_state: int
    ) -> np.ndarray:
        return redrawn_counts(sums, self._levels, n_resamples, random_state)

    def _weight(self, totals: np.ndarray) -> np.ndarray:
        return totals.sum(axis=-1)


quantile_calibration_error: QuantileCalibrationError = QuantileCalibrationError()


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


#: Number of permutations of the rows for the null distribution.
ORDERS = 200
#: Number of pairs of rows at a time.
CELLS = 4_000_000


class WidthDependence(
    RegressionMetric,
    WholeMetric,
    name="HSIC",
    key="width_dependence",
    estimand="dependence as the number of rows grows, without the sampling noise in the value",
    direction="minimize",
    range=(0.0, 1.0),
    degree=None,
    compares_rows=True,
    exceptions={"one_row": "it is a mean over pairs of rows"},
):
    r"""Dependence between an interval's width and its coverage: root of the Hilbert-Schmidt
    independence criterion (HSIC).

    .. math:: \frac{1}{n - 1} \sqrt{\mathrm{tr}(L H K H)}, \quad K_{ij} = e^{-(w_i - w_j)^2 / a},
        \quad L_{ij} = e^{-(c_i - c_j)^2 / b},
        \quad H = I - \tfrac1n 1 1^\top

    Parameters
    ----------
    level : float, default 0.9
        The nominal coverage of the central interval.
    width_scale : float, default 1.0
        The scale a, in squared units of y: choose it near the variance of the widths.
    held_scale : float, default 1.0
        The scale b.

    See Also
    --------
    size_stratified_coverage : the widths that undercover.

    Notes
    -----
    It is 0 where coverage does not depend on the width, and above 0 by chance. Its scale has no
    fixed meaning: the interval reaches 0 where permuted rows show as much. It uses all pairs of
    rows, so it has no state and suits at most some ten thousand rows. It is MAPIE's ``hsic``.

    References
    ----------
    Feldman, Bates and Romano, "Improving conditional coverage via orthogonal quantile regression",
    NeurIPS 2021.

    Examples
    --------
    >>> round(width_dependence([0.0, 0.0, 9.0, 9.0], [0.0] * 4, [1.0, 1.0, 2.0, 2.0]), 4)
    0.53
    """

    level: float = 0.9
    width_scale: float = 1.0
    held_scale: float = 1.0

    def _check(self) -> None:
        require_level(self.level, usual=0.9)
        if not (self.width_scale > 0.0 and self.held_scale > 0.0):
            raise InputError(
                f"width_scale and held_scale must be positive; got {self.width_scale!r} and"
                f" {self.held_scale!r}."
            )

    def _value(self, record: Any) -> float:
        width, held = self._rows(record)
        return self._of(width, held[:, None], record.weights)[0]

    def _rows(self, record: Any) -> tuple[np.ndarray, np.ndarray]:
        """Width of each row's interval, and whether it contains the outcome."""
        low, high, held = record.held(self.level)
        return high - low, held.astype(np.float64)

    def _of(self, width: np.ndarray, held: np.ndarray, weight: np.ndarray) -> list[float]:
        """Compute the value for each column of ``held`` (n, m)."""
        n = weight.sum()
        # L is 1 or e^(-1/b), so only its part along the centred coverages remains between the two
        # H.
        pull = weight[:, None] * (held - weight @ held / n)
        step = max(CELLS // len(width), 1)
        smoothed = np.concatenate(
            [
                np.exp(-((width[i : i + step, None] - width) ** 2) / self.width_scale) @ pull
                for i in range(0, len(width), step)
            ]
        )
        squares = self._most**2 * np.einsum("nm,nm->m", pull, smoothed)
        return [float(value) for value in np.sqrt(np.maximum(squares, 0.0)) / (n - 1.0)]

    @property
    def _most(self) -> float:
        return np.sqrt(-2.0 * np.expm1(-1.0 / self.held_scale))

    def _interval(
        self, record: Any, level: float, method: str, n_resamples: int, random_state: int
    ) -> Interval:
        if method not in ("auto", "debiased"):
            return super()._interval(record, level, method, n_resamples, random_state)
        (width, held), n, value = (
            self._rows(record),
            float(record.weights.sum()),
            self._value(record),
        )
        found = super()._interval(
            record, level, "bootstrap", min(n_resamples, ORDERS), random_state
        )
        rng = null_generator(random_state)
        orders = np.argsort(rng.random((len(width), ORDERS)), axis=0)
        null = self._of(width, held[orders], record.weights)
        chance = np.median(null)
        low = (
            0.0
            if value <= np.quantile(null, 0.5 + 0.5 * level) + 1e-12
            else np.sqrt(max(found.low**2 - chance**2, 0.0))
        )
        # Where nothing varies, the limit comes from one uncovered row of another width, which so
        # few rows may miss.
        share = unseen_share(n, level)
        high = max(found.high, self._most * share * (1.0 - share))
        return Interval.holding(
            np.sqrt(max(value**2 - chance**2, 0.0)),
            (low, min(high, 1.0)),
            level,
            "debiased",
            n,
            value,
        )


width_dependence: WidthDependence = WidthDependence()
