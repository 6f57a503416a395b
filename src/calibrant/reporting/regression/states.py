"""States that a report on forecasts computes from the rows of one output. They add up over parts,
in two passes.

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
from dataclasses import dataclass, fields
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from calibrant._numerics.bins import Cut, Distinct, enough_bins, grouped_sums
from calibrant.core.forecast_record import ForecastRecord
from calibrant.metrics.curves.forecasts import interval_sums
from calibrant.metrics.forecast_calibration import (
    interval_calibration_error,
    interval_coverage,
    interval_width,
)
from calibrant.metrics.forecast_pit import pit_sums

__all__ = ["CLAIMED", "LEVELS", "ForecastCounts", "ForecastSeen"]

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
