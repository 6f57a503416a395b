"""Whether the numbers can be trusted at all: rows, repetitions, the standard deviations, outliers, and rows unlike the calibrated ones."""

from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.reporting.quality import distribution_shift

if TYPE_CHECKING:
    from calibrant.forecasts.read import ForecastRecord

__all__ = ["FEW", "quality"]

#: Rows of a region below which its own numbers may be chance.
FEW = 25
#: A std below this share of the median std is tiny.
TINY = 1e-2
#: An outcome farther from its mean than this many std is an outlier: one normal row in 1.7 million.
FAR = 5.0


def quality(record: "ForecastRecord", calibration: Any = None) -> dict[str, Any]:
    """What the rows of one output are like, as numbers; sentences about them are in ``cautions``.

    Parameters
    ----------
    record : ForecastRecord of one output, the rows measured
    calibration : ForecastRecord, optional
        The rows that the calibrator was fitted on, where they are others.

    Returns
    -------
    dict
        n, repeated (share of rows whose forecast and outcome occur before), std (least, median, most), tiny and tied (shares of rows:
        std below a hundredth of the median; the std that occurs most often), sparse_octaves (doublings of the std with fewer than 25 rows),
        outliers (share of rows beyond 5 std), farthest (in std), scaled_error (root mean square of the errors in std), shift (mean error
        in std, and its interval), and with ``calibration``: shared (share of rows that are among them), std_shift and mean_shift, each
        with distance (Kolmogorov-Smirnov), p_value and named.
    """
    weight, std, z = record.weights, record.std, record.standardised
    total = weight.sum()
    octaves = np.bincount(_octave(std), weights=weight)
    found = {
        "n": float(total), "repeated": 1.0 - len(np.unique(_keys(record))) / len(record),
        "std": {"least": float(std.min()), "median": float(np.median(std)), "most": float(std.max())},
        "tiny": float(weight @ (std < TINY * np.median(std)) / total), "tied": _tied(std, weight),
        "sparse_octaves": int(((octaves > 0) & (octaves < FEW)).sum()), "octaves": int((octaves > 0).sum()),
        "outliers": float(weight @ (np.abs(z) > FAR) / total), "farthest": float(np.abs(z).max()),
        "scaled_error": float(np.sqrt(weight @ np.square(z) / total)), "shift": _shift(record.error, weight),
    }  # fmt: skip
    if calibration is not None:
        found["shared"] = float(np.isin(_keys(record), _keys(calibration)).mean())
        found["std_shift"] = distribution_shift(std, weight, calibration.std, calibration.weights)
        found["mean_shift"] = distribution_shift(record.mean, weight, calibration.mean, calibration.weights)
    return found


def _octave(std):
    octave = np.floor(np.log2(std)).astype(np.int64)
    return octave - octave.min()


def _tied(std, weight):
    _, index = np.unique(std, return_inverse=True)
    return float(np.bincount(index, weights=weight).max() / weight.sum())


def _shift(error, weight):
    """Mean error in units of the root mean square error, with its 95 % interval."""
    total = weight.sum()
    size = float(np.sqrt(weight @ np.square(error) / total)) or 1.0
    mean = float(weight @ error / total) / size
    half = 1.96 * np.sqrt(max(1.0 - mean * mean, 0.0) / max(total - 1.0, 1.0))
    return {"value": mean, "low": float(mean - half), "high": float(mean + half)}


def _keys(record):
    """One number a row, equal for rows of equal mean, std and outcome, (n,)."""
    rows = np.column_stack([record.mean, record.std, record.y]) + 0.0
    return np.fromiter((hash(row.tobytes()) for row in rows), dtype=np.int64, count=len(rows))
