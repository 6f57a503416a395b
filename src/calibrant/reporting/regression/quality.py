"""Whether the numbers can be trusted at all: rows, repetitions, the standard deviations, outliers, and rows unlike the calibrated ones."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibrant.contracts.columns import Known
from calibrant.reporting.quality import Shift, distribution_shift
from calibrant.reporting.states import Distinct

if TYPE_CHECKING:
    from calibrant.forecasts.read import ForecastRecord

__all__ = ["FEW", "ForecastQuality", "quality"]

#: Rows of a region below which its own numbers may be chance.
FEW = 25
#: A std below this share of the median std is tiny.
TINY = 1e-2
#: An outcome farther from its mean than this many std is an outlier: one normal row in 1.7 million.
FAR = 5.0


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


def quality(record: "ForecastRecord", calibration: "ForecastRecord | None" = None) -> ForecastQuality:
    """What the rows measured, of one output, are like, and how they differ from those that the calibrator was fitted on, if others.

    Sentences about them are in ``cautions``.
    """
    weight, std, z = record.weights, record.std, record.standardised
    total = weight.sum()
    octaves = np.bincount(_octave(std), weights=weight)
    others = () if calibration is None else (
        float(np.isin(_keys(record), _keys(calibration)).mean()),
        *(distribution_shift(*(Distinct.of(getattr(r, name), (), r.weight) for r in (record, calibration))) for name in ("std", "mean")),
    )  # fmt: skip
    return ForecastQuality(
        float(total), 1.0 - len(np.unique(_keys(record))) / len(record),
        Spread(float(std.min()), float(np.median(std)), float(std.max())),
        float(weight @ (std < TINY * np.median(std)) / total), _tied(std, weight),
        int(((octaves > 0) & (octaves < FEW)).sum()), int((octaves > 0).sum()),
        float(weight @ (np.abs(z) > FAR) / total), float(np.abs(z).max()),
        float(np.sqrt(weight @ np.square(z) / total)), _shift(record.error, weight), *others,
    )  # fmt: skip


def _octave(std):
    octave = np.floor(np.log2(std)).astype(np.int64)
    return octave - octave.min()


def _tied(std, weight):
    _, index = np.unique(std, return_inverse=True)
    return float(np.bincount(index, weights=weight).max() / weight.sum())


def _shift(error, weight):
    total = weight.sum()
    size = float(np.sqrt(weight @ np.square(error) / total)) or 1.0
    mean = float(weight @ error / total) / size
    half = 1.96 * np.sqrt(max(1.0 - mean * mean, 0.0) / max(total - 1.0, 1.0))
    return MeanError(mean, float(mean - half), float(mean + half))


def _keys(record):
    """One number a row, equal for rows of equal mean, std and outcome, (n,)."""
    rows = np.column_stack([record.mean, record.std, record.y]) + 0.0
    return np.fromiter((hash(row.tobytes()) for row in rows), dtype=np.int64, count=len(rows))
