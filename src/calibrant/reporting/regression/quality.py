"""Whether the numbers can be trusted at all: rows, repetitions, the standard deviations, outliers, and rows unlike the calibrated ones."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibrant._kernels.clusters import mean_worth
from calibrant.contracts.columns import Known
from calibrant.reporting.quality import Shift, distribution_shift

if TYPE_CHECKING:
    from calibrant.reporting.regression.states import ForecastSeen

__all__ = ["FEW", "ForecastQuality", "quality"]

#: Rows of a region below which its own numbers may be chance.
FEW = 25


@dataclass(frozen=True)
class Spread:
    """Of the standard deviations."""

    least: float
    median: float
    most: float


@dataclass(frozen=True)
class MeanError:
    """The mean error in units of the root mean square error, with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class ForecastQuality(Known):
    """What the rows of one output are like.

    Attributes
    ----------
    repeated, shared : share of rows whose forecast and outcome occur before, and among the rows calibrated on
    tiny, tied : shares of rows: std below a hundredth of the median; the std that occurs most often
    sparse_octaves, octaves : doublings of the std with fewer than 25 rows, and with any
    outliers, farthest : share of rows beyond 5 std, and the farthest in std
    scaled_error : root mean square of the errors in std
    std_shift, mean_shift : from the rows calibrated on, by Kolmogorov-Smirnov
    """

    n: float
    repeated: float
    std: Spread
    tiny: float
    tied: float
    sparse_octaves: int
    octaves: int
    outliers: float
    farthest: float
    scaled_error: float
    shift: MeanError
    shared: float | None = None
    std_shift: Shift | None = None
    mean_shift: Shift | None = None


def quality(seen: "ForecastSeen", calibration: "ForecastSeen | None" = None) -> ForecastQuality:
    """What the rows measured, of one output, are like, and how they differ from those that the calibrator was fitted on, if others.

    Sentences about them are in ``cautions``.
    """
    counts, std, keys = seen.counts, seen.counts.std, _keys(seen.rows)
    total, outliers, squares, *errors = counts.total
    others = () if calibration is None else (
        float(np.isin(keys, _keys(calibration.rows)).mean()), distribution_shift(std, calibration.counts.std, seen.rows),
        distribution_shift(counts.mean, calibration.counts.mean, seen.rows),
    )  # fmt: skip
    return ForecastQuality(
        float(total), 1.0 - len(np.unique(keys)) / len(keys),
        Spread(float(std.values[0]), counts.median_std, float(std.values[-1])),
        float(seen.tiny / total), float(std.sums[:, 0].max() / total),
        int(((counts.octaves > 0) & (counts.octaves < FEW)).sum()), int((counts.octaves > 0).sum()), float(outliers / total),
        counts.farthest, float(np.sqrt(squares / total)), _shift(seen.rows, total, *errors), *others,
    )  # fmt: skip


def _shift(rows, total, squares, error):
    size = float(np.sqrt(squares / total)) or 1.0
    mean = float(error / total) / size
    n = max(total - 1.0, 1.0) * (1.0 if rows.cluster is None else mean_worth(rows.error, rows.weights, rows.cluster, 0.95))
    half = float(1.96 * np.sqrt(max(1.0 - mean * mean, 0.0) / n))
    return MeanError(mean, float(mean - half), float(mean + half))


def _keys(record):
    """One number a row, equal for rows of equal mean, std and outcome, (n,)."""
    rows = np.column_stack([record.mean, record.std, record.y]) + 0.0
    return np.fromiter((hash(row.tobytes()) for row in rows), dtype=np.int64, count=len(rows))
