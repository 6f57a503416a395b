"""States that a report on forecasts computes from the rows of one output, curves of forecasts, and
their errors under perfect calibration.

States add up over parts, in two passes.

- ``ForecastCounts``, the first pass (totals, fixed bins and levels, distinct std and mean): the
  data's quality, cautions, PIT, coverage by level, interval calibration error, and the cuts of the
  bins and regions.
- Sums in bins cut by std, the second pass: reliability, and the ENCE.
- Sums by region and group, and a monitor's sums: regions, groups, and calibration over time.
- States of the metrics (``totals_of``): values of the scores that are sums, and their analytic
  intervals.
- Rows, which do not add up: copies among rows, draws (the band of the reliability, the ENCE by
  chance, bootstraps of scores), how far errors reach, widths by outcome and intervals in order, and
  the calibration itself.

What is said of ``calibrant.reporting.states`` of parts and their whole holds here too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from calibrant import metrics
from calibrant._numerics.bins import Cut, Distinct, enough_bins, grouped_sums
from calibrant._numerics.bootstrap import score_drawer
from calibrant.core.forecast import NormalForecast
from calibrant.core.forecast_record import ForecastRecord
from calibrant.metrics.curves.forecasts import (
    IntervalCurve,
    IntervalWidthCurve,
    OrderedIntervals,
    RealStdCurve,
    RmseRmvCurve,
    interval_curve,
    interval_curve_of_sums,
    interval_sums,
    interval_width_curve,
    ordered_intervals,
    real_std_curve,
    rmse_band,
)
from calibrant.metrics.forecast_calibration import (
    interval_calibration_error,
    interval_coverage,
    interval_width,
)
from calibrant.metrics.forecast_pit import (
    PitHistogram,
    pit_histogram,
    pit_histogram_of_sums,
    pit_sums,
)
from calibrant.reporting.summary import Chance

__all__ = [
    "CLAIMED",
    "LEVELS",
    "Curves",
    "ForecastCounts",
    "ForecastSeen",
    "chance_errors",
    "curves",
    "drawn_outcomes",
]


#: The coverage that the intervals looked at claim.
CLAIMED = 0.9
#: Of the intervals in the table of coverage.
LEVELS = (0.5, 0.8, 0.9, 0.95)
#: An outcome farther from its mean than this many std is an outlier: one normal row in 1.7 million.
FAR = 5.0
#: A std below this share of the median std is tiny.
TINY = 1e-2
#: Every power of two that a std can lie above, from 2^-1074 to 2^1024.
LEAST_OCTAVE, OCTAVES = -1074, 2099


@dataclass(frozen=True)
class ForecastCounts:
    """The first pass.

    Attributes
    ----------
    farthest : the largest error in std
    total : (5,) weight, outliers, squares of errors in std, squares of errors, errors
    std : Distinct, with the number of rows
    mean : Distinct
    octaves : (2099,) weight by doubling of the std
    pit : (20,) weight by bin of F(y)
    intervals : (21,) weight by the first of the levels whose interval holds the outcome
    interval_error : totals of the interval calibration error
    coverage, width : (4, c) totals of these metrics at ``LEVELS``
    """

    farthest: float
    total: np.ndarray
    std: Distinct
    mean: Distinct
    octaves: np.ndarray
    pit: np.ndarray
    intervals: np.ndarray
    interval_error: np.ndarray
    coverage: np.ndarray
    width: np.ndarray

    @classmethod
    def of(cls, record: ForecastRecord) -> "ForecastCounts":
        """Compute the counts of a record of one output, or of a part of it."""
        weight, error, z = record.weights, record.error, record.standardised
        values, index = np.unique(record.std, return_inverse=True)
        octave = np.floor(np.log2(record.std)).astype(np.intp) - LEAST_OCTAVE
        return cls(
            float(np.abs(z).max()),
            np.array(
                [
                    weight.sum(),
                    weight @ (np.abs(z) > FAR),
                    weight @ np.square(z),
                    weight @ np.square(error),
                    weight @ error,
                ]
            ),
            Distinct(
                values, np.column_stack([np.bincount(index, weights=weight), np.bincount(index)])
            ),
            Distinct.of(record.mean, (), weight),
            np.bincount(octave, weights=weight, minlength=OCTAVES),
            pit_sums(record),
            interval_sums(record),
            interval_calibration_error.totals_of(record),
            *(_at_levels(metric, record) for metric in (interval_coverage, interval_width)),
        )

    def __add__(self, other: "ForecastCounts") -> "ForecastCounts":
        sums = (getattr(self, f.name) + getattr(other, f.name) for f in fields(self)[1:])
        return ForecastCounts(max(self.farthest, other.farthest), *sums)

    @property
    def median_std(self) -> float:
        """The median std of the rows without weights."""
        rows = self.std.sums[:, 1].cumsum()
        middle = (rows[-1] - 1.0) // 2.0, rows[-1] // 2.0
        return float(self.std.values[np.searchsorted(rows, middle, side="right")].mean())


def _at_levels(metric: Any, record: ForecastRecord) -> np.ndarray:
    return np.array([metric.with_options(level=level).totals_of(record) for level in LEVELS])


@dataclass(frozen=True)
class ForecastSeen:
    """All that is read: the counts, and of the second pass the sums by bins of std and the weight
    of the rows whose std is tiny.

    ``mass`` has by number of bins, fewer where they would hold few rows, the bins and their (B, 3)
    sums of weight, predicted variance and squared error; ``rows`` is the record, for what does not
    add up.
    """

    rows: ForecastRecord
    counts: ForecastCounts
    mass: dict[int, tuple[Cut, np.ndarray]]
    tiny: float

    @classmethod
    def of(
        cls,
        parts: Sequence[ForecastRecord],
        mass_bins: Sequence[int],
        rows: ForecastRecord | None = None,
    ) -> "ForecastSeen":
        """Read each part of a record twice; ``rows`` is the whole record of several parts."""
        counts = reduce(add, map(ForecastCounts.of, parts))
        cuts = {count: counts.std.cut(enough_bins(count, counts.total[0])) for count in mass_bins}
        each = zip(
            *(_second(part, [*cuts.values()], TINY * counts.median_std) for part in parts),
            strict=True,
        )
        tiny, *sums = (reduce(add, one) for one in each)
        mass = {count: (cut, own) for (count, cut), own in zip(cuts.items(), sums, strict=True)}
        return cls(parts[0] if rows is None else rows, counts, mass, float(tiny))


def _second(record: ForecastRecord, cuts: Sequence[Cut], tiny: float) -> list[np.ndarray]:
    columns = [np.square(record.std), np.square(record.error)]
    in_mass = [
        grouped_sums(cut.index(record.std), len(cut), columns, record.weights) for cut in cuts
    ]
    return [record.weights @ (record.std < tiny), *in_mass]


#: Draws of outcomes from forecasts that are not normal, and rows times draws that they may cost.
DRAWS, BUDGET = 200, 2e7
LEVELS_DRAWS = 2000


def chance_errors(
    seen: "ForecastSeen", *, level: float = 0.975, random_state: int = 0, draws: int = DRAWS
) -> dict[str, Chance]:
    """ENCE and interval calibration error where every outcome is drawn from its own forecast, by
    key; "high" is the ``level`` quantile.

    Outcomes of a cluster of rows are drawn as alike as their normal scores are. ``draws`` is the
    largest number of draws where the ENCE has no faster law.
    """
    found = {
        "ence": _ence(seen, level, random_state, draws),
        "interval_calibration_error": _interval_error(seen, level, random_state),
    }
    return {
        key: Chance(value, mean, high, beyond=bool(value > high))
        for key, (value, mean, high) in found.items()
    }


def _ence(
    seen: "ForecastSeen", level: float, random_state: int, draws: int
) -> tuple[float, float, float]:
    metric, record = metrics.expected_normalized_calibration_error, seen.rows
    observed = float(metric.finalise(seen.mass[metric.n_bins][1]))
    if isinstance(record.forecast, NormalForecast) and record.cluster is None:
        null = metric.null_of(record, level=level, random_state=random_state)
        return observed, null.value, null.high
    drawn = [
        metric.of(replace(record, y=drawn_outcomes(record, z)))
        for z in _scores(record, draws, random_state)
    ]
    return observed, float(np.mean(drawn)), float(np.quantile(drawn, level))


def drawn_outcomes(record: Any, z: np.ndarray) -> np.ndarray:
    """Outcomes (n,) at the normal scores ``z`` of their own forecasts; an infinite one, as from
    conformal intervals, is replaced by the outcome observed.
    """
    drawn: np.ndarray = record.forecast.at(z[:, None])[:, 0]
    return np.where(np.isfinite(drawn), drawn, record.y)


def _scores(record: Any, draws: int, random_state: int) -> Any:
    """Normal scores (n,) of outcomes of honest forecasts, as often as the rows allow; in a
    cluster as alike as those seen.
    """
    rng = np.random.default_rng(random_state)
    draw = score_drawer(record.score, record.cluster)
    return (draw(rng) for _ in range(int(np.clip(BUDGET / len(record), 40, draws))))


def _interval_error(
    seen: "ForecastSeen", level: float, random_state: int
) -> tuple[float, float, float]:
    """Draw the error under perfect calibration: F(y) is then uniform, so counts between the levels
    are multinomial.
    """
    metric, counts = metrics.interval_calibration_error, seen.counts
    if seen.rows.cluster is not None:
        shown = replace(
            seen.rows, forecast=NormalForecast(np.zeros(len(seen.rows)), np.ones(len(seen.rows)))
        )
        drawn = np.array(
            [metric.of(replace(shown, y=z)) for z in _scores(seen.rows, DRAWS, random_state)]
        )
        return (
            float(metric.finalise(counts.interval_error)),
            float(drawn.mean()),
            float(np.quantile(drawn, level)),
        )
    n, cells = max(round(float(counts.total[0])), 1), metric.n_levels - 1
    fell = np.random.default_rng(random_state).multinomial(
        n, np.full(cells, 1.0 / cells), size=LEVELS_DRAWS
    )
    held = np.concatenate([np.zeros((LEVELS_DRAWS, 1)), fell.cumsum(axis=1) / n], axis=1)
    drawn = np.abs(held - metric.levels).mean(axis=1)
    return (
        float(metric.finalise(counts.interval_error)),
        float(drawn.mean()),
        float(np.quantile(drawn, level)),
    )


#: Rows whose intervals are shown in order.
ORDERED = 100


@dataclass(frozen=True)
class Coverage:
    """The share of outcomes that intervals hold, with its interval, against what they claim, and
    their mean width.
    """

    claimed: float
    seen: float
    low: float
    high: float
    width: float


@dataclass(frozen=True)
class Curves:
    """Error against predicted std, coverage seen against claimed (low and high: of the band that
    holds the whole curve), the real std, PIT,
    coverage at four levels, and of 90 % intervals their width by outcome and some of them in the
    order of the predicted value."""

    reliability: RmseRmvCurve
    intervals: IntervalCurve
    real_std: RealStdCurve
    pit: PitHistogram
    coverage: list[Coverage]
    widths: IntervalWidthCurve
    ordered: OrderedIntervals


def curves(
    seen: ForecastSeen, *, n_bins: int = 10, level: float = 0.95, random_state: int = 0
) -> Curves:
    """Compute the curves of one output; ``seen`` must have ``n_bins`` bins of equal mass."""
    counts, total = seen.counts, seen.counts.total[0]
    rows, n_real = seen.rows, enough_bins(n_bins, total)
    held = interval_curve_of_sums(counts.intervals, total, level, simultaneous=True)
    pit = pit_histogram_of_sums(counts.pit, total, level)
    if rows.cluster is not None:
        held, pit = (
            interval_curve.of(rows, band=level, simultaneous=True),
            pit_histogram.of(rows, level=level),
        )
    at_levels = zip(LEVELS, counts.coverage, counts.width, strict=True)
    return Curves(
        _reliability(seen, n_bins, level, random_state),
        held,
        real_std_curve.of(rows, n_bins=n_real, band=level),
        pit,
        [_coverage(rows, *each, level) for each in at_levels],
        interval_width_curve.of(rows, level=CLAIMED, band=level),
        ordered_intervals.of(rows, level=CLAIMED, by="mean", n_rows=ORDERED),
    )


def _reliability(
    seen: "ForecastSeen", n_bins: int, level: float, random_state: int
) -> RmseRmvCurve:
    cut, sums = seen.mass[n_bins]
    n, variance, error = sums.T
    band = rmse_band(seen.rows, cut.index(seen.rows.std), n, level, random_state=random_state)
    return RmseRmvCurve(n, np.sqrt(variance / n), np.sqrt(error / n), *band)


def _coverage(
    rows: Any, claimed: float, held: np.ndarray, width: np.ndarray, level: float
) -> Coverage:
    low, high = interval_coverage.limits(held, level)
    if rows.cluster is not None:
        found = interval_coverage.with_options(level=claimed).interval_of(rows, level=level)
        low, high = found.low, found.high
    return Coverage(
        claimed,
        float(interval_coverage.finalise(held)),
        float(low),
        float(high),
        float(interval_width.finalise(width)),
    )
