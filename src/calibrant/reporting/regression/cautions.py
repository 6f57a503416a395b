"""What a reader should know before trusting the numbers on error bars, in plain words."""

from calibrant.reporting.cautions import copied, doubtful, shifted, small
from calibrant.reporting.regression.quality import FEW, ForecastQuality

__all__ = ["cautions", "vetoes"]

SHIFTS = {"std_shift": "The error bars are of other sizes", "mean_shift": "The predicted values are spread otherwise"}
#: Shares of rows, and sizes, from which a word is due.
TIED, OUTLIERS, SHIFTED = 0.5, 1e-3, 0.1


def vetoes(found: ForecastQuality) -> list[str]:
    """The cautions that forbid any advice."""
    return [*_leaks(found), *doubtful(found, "forecast and outcome", SHIFTS)]


def cautions(found: ForecastQuality) -> list[str]:
    """One sentence for each thing that makes the numbers on one output weaker than they look; ``found`` is from ``quality``."""
    return [
        *_leaks(found), *copied(found, "forecast and outcome"), *shifted(found, SHIFTS), *small(found.n), *_sparse(found),
        *_spread(found), *_errors(found),
    ]  # fmt: skip


def _leaks(found):
    if found.scaled_error < 0.2 and found.n >= 50:
        yield (
            f"The errors are only {found.scaled_error:.2g} of what the std says: check that the model was not trained on these rows, "
            "as its errors there would mean nothing."
        )


def _sparse(found):
    if found.sparse_octaves:
        yield (
            f"{found.sparse_octaves} of {found.octaves} doublings of the std hold fewer than {FEW} rows: little can be said of "
            "error bars of these sizes."
        )


def _spread(found):
    if found.tied == 1.0:
        yield "All rows have the same std: it says nothing of a single row, and the ENCE only whether it is right on the whole."
    elif found.tied > TIED:
        yield f"{found.tied:.0%} of the rows share one value of the std, perhaps a bound that the model was given."
    if found.tiny > 0.0:
        least, median = found.std.least, found.std.median
        yield (
            f"{found.tiny:.2%} of the rows have a std below a hundredth of the median (down to {least:.3g}, median {median:.3g}): "
            "where such a row is wrong it rules the NLL and the scale; give the model a floor."
        )


def _errors(found):
    if found.outliers > OUTLIERS:
        yield (
            f"{found.outliers:.2%} of the outcomes lie more than 5 std from the mean (the farthest {found.farthest:.3g}), where a "
            "normal forecast expects none: heavy tails or outliers; look at coverage beside the ENCE."
        )
    shift = found.shift
    if min(abs(shift.low), abs(shift.high)) > SHIFTED and shift.low * shift.high > 0.0:
        side = "above" if shift.value > 0 else "below"
        yield (
            f"The outcomes lie {side} the predicted values by {abs(shift.value):.2g} of the error on average: the model is biased, "
            "which a wider error bar hides and does not repair."
        )
