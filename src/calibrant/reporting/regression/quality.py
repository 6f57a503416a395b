"""Quality of forecasts beyond calibration, and cautions about them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant._numerics.clusters import mean_worth
from calibrant.core.guarantee import Known
from calibrant.core.text_table import percent
from calibrant.reporting.quality import Shift, copied, distribution_shift, doubtful, shifted, small

if TYPE_CHECKING:
    from calibrant.reporting.regression.states import ForecastSeen

__all__ = ["FEW", "ForecastQuality", "cautions", "quality", "vetoes"]

#: Rows of a region below which its own numbers may be chance.
FEW = 25


@dataclass(frozen=True)
class Spread:
    """Statistics of the standard deviations."""

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
    """Quality of the rows of one output.

    Attributes
    ----------
    repeated, shared : share of rows whose forecast and outcome occur before, and among the rows
        calibrated on
    tiny, tied : shares of rows: std below a hundredth of the median; the std that occurs most often
    sparse_octaves, octaves : ranges from a std to twice it with fewer than 25 rows, and with any
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
    """Describe the rows of one output, and how they differ from those that the calibrator was
    fitted on, if these are others.

    Sentences about them are in ``cautions``.
    """
    counts, std, keys = seen.counts, seen.counts.std, _keys(seen.rows)
    total, outliers, squares, *errors = counts.total
    others = (
        ()
        if calibration is None
        else (
            float(np.isin(keys, _keys(calibration.rows)).mean()),
            distribution_shift(std, calibration.counts.std, seen.rows),
            distribution_shift(counts.mean, calibration.counts.mean, seen.rows),
        )
    )
    return ForecastQuality(
        float(total),
        1.0 - len(np.unique(keys)) / len(keys),
        Spread(float(std.values[0]), counts.median_std, float(std.values[-1])),
        float(seen.tiny / total),
        float(std.sums[:, 0].max() / total),
        int(((counts.octaves > 0) & (counts.octaves < FEW)).sum()),
        int((counts.octaves > 0).sum()),
        float(outliers / total),
        counts.farthest,
        float(np.sqrt(squares / total)),
        _shift(seen.rows, total, *errors),
        *others,
    )


def _shift(rows: Any, total: float, squares: float, error: float) -> MeanError:
    size = float(np.sqrt(squares / total)) or 1.0
    mean = float(error / total) / size
    n = max(total - 1.0, 1.0) * (
        1.0 if rows.cluster is None else mean_worth(rows.error, rows.weights, rows.cluster, 0.95)
    )
    half = float(1.96 * np.sqrt(max(1.0 - mean * mean, 0.0) / n))
    return MeanError(mean, float(mean - half), float(mean + half))


def _keys(record: Any) -> np.ndarray:
    """One number a row, equal for rows of equal mean, std and outcome, (n,)."""
    rows = np.column_stack([record.mean, record.std, record.y]) + 0.0
    return np.fromiter((hash(row.tobytes()) for row in rows), dtype=np.int64, count=len(rows))


SHIFTS = {
    "std_shift": "The error bars are of other sizes",
    "mean_shift": "The predicted values are spread otherwise",
}
#: Shares of rows, and sizes, from which a word is due.
TIED, OUTLIERS, SHIFTED = 0.5, 1e-3, 0.1


def vetoes(seen: "ForecastSeen", found: ForecastQuality) -> list[str]:
    """Return the cautions that rule out any advice."""
    return [*_leaks(found), *doubtful(found, "forecast and outcome", SHIFTS)]


def cautions(seen: "ForecastSeen", found: ForecastQuality) -> list[str]:
    """One sentence for each thing that makes the numbers on one output weaker than they look;
    ``found`` is from ``quality``.
    """
    return [
        *_leaks(found),
        *copied(found, "forecast and outcome"),
        *shifted(found, SHIFTS),
        *small(found.n),
        *_sparse(found),
        *_spread(found),
        *_errors(found),
    ]


def _leaks(found: Any) -> Any:
    if found.scaled_error < 0.2 and found.n >= 50:
        yield (
            f"The errors are only {found.scaled_error:.2g} of what the std says: check that the"
            " model was not trained on these rows, as its errors there would mean nothing."
        )


def _sparse(found: Any) -> Any:
    if found.sparse_octaves:
        yield (
            f"For some sizes of error bars there are fewer than {FEW} rows ({found.sparse_octaves}"
            f" of {found.octaves} ranges from a std to twice it): little can be said of those."
        )


def _spread(found: Any) -> Any:
    if found.tied == 1.0:
        yield (
            "All rows have the same std: it says nothing of a single row, and the ENCE only whether"
            " it is right on the whole."
        )
    elif found.tied > TIED:
        yield (
            f"{percent(found.tied, 0)} of the rows share one value of the std, perhaps a limit"
            " of the model."
        )
    if found.tiny > 0.0:
        least, median = found.std.least, found.std.median
        yield (
            f"{percent(found.tiny, 2)} of the rows have a std below a hundredth of the median"
            " (down to"
            f" {least:.3g}, median {median:.3g}): where such a row is wrong it rules the NLL and"
            " the scale; give the model a floor."
        )


def _errors(found: Any) -> Any:
    if found.outliers > OUTLIERS:
        yield (
            f"{percent(found.outliers, 2)} of the outcomes lie more than 5 std from the mean (the"
            f" farthest {found.farthest:.3g}), where a normal forecast expects none: heavy tails or"
            " outliers; look at coverage beside the ENCE."
        )
    shift = found.shift
    if min(abs(shift.low), abs(shift.high)) > SHIFTED and shift.low * shift.high > 0.0:
        side = "above" if shift.value > 0 else "below"
        yield (
            f"The outcomes lie {side} the predicted values by {abs(shift.value):.2g} of the error"
            " on average: the model is biased, which a wider error bar hides and does not repair."
        )
