"""Conversion of lists and of NumPy, pandas, polars, pyarrow and torch objects to validated NumPy
arrays, without importing these libraries.
"""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from calibrant.errors import CalibrationWarning, InputError, warn

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
else:

    class ArrayLike:
        """Numbers in any form that becomes an array: NumPy's type of that name, which ``help``
        would otherwise write out on nine lines.
        """


__all__ = [
    "NO_AND_YES",
    "ArrayLike",
    "binary_outcomes",
    "column_names",
    "new_weights",
    "plain_array",
    "require_pairs",
    "resolution",
    "row_sum_limits",
    "rows_named",
    "scores",
    "text_names",
    "to_array",
    "weights",
    "yes_of",
]

#: Pairs of labels whose second label is the event by convention. For any other pair, alphabetical
#: order could swap the event and its opposite.
NO_AND_YES = (("0", "1"), ("false", "true"), ("no", "yes"))

#: Machine epsilon of floats unknown to NumPy, and of float32, through which float64 probabilities
#: have often passed.
BFLOAT16_EPSILON, FLOAT32_EPSILON = 2.0**-7, 2.0**-23
#: Tolerance of a row's sum, by the machine epsilon of the original dtype: bfloat16, float16,
#: others.
ROW_SUM_TOLERANCE = {BFLOAT16_EPSILON: 1e-2, 2.0**-10: 5e-3}
OTHER_ROW_SUM_TOLERANCE = 1e-5
#: Decimals by which rounded probabilities are recognised, and the largest difference of a row's sum
#: from 1 that rounding explains.
DECIMALS, ROUNDED = range(2, 8), 0.05
#: Totals of weights outside these limits do not count rows, and make computations imprecise.
SMALLEST_TOTAL, LARGEST_TOTAL = 1e-30, 1e12
#: A weight below this share of the total vanishes in the rounding of any sum: it counts as 0.
VANISHING = 2.0**-50
#: Weights with a smaller total per row are usually shares, not repetitions.
FEW_REPETITIONS = 0.1
#: The largest absolute score: its square is finite.
LARGEST_SCORE = 1e100
REPEAT = (
    "weights mean repetition; divide them by their mean, w / w.mean(), if the rows count once on"
    " average"
)


def to_array(values: Any, name: str) -> np.ndarray:
    """A float32 or float64 array; float16, integers and booleans become float64 (see ``resolution``
    for their original rounding).
    """
    out = plain_array(values, name)
    if out.dtype.kind == "O":
        try:
            out = out.astype(np.float64)
        except (TypeError, ValueError):
            odd = _first_odd(out)
            remedy = (
                "drop those rows, or fill them"
                if odd is None or type(odd).__name__ == "NAType"
                else "convert it first"
            )
            raise InputError(f"{name} must hold numbers; got {odd!r} in it; {remedy}.") from None
    if out.dtype.kind not in "fiub":
        raise InputError(
            f"{name} must hold numbers; got an array of dtype {out.dtype}; convert it first."
        )
    return out if out.dtype in (np.float16, np.float32, np.float64) else out.astype(np.float64)


def plain_array(values: Any, name: str) -> np.ndarray:
    """Convert an object to a plain NumPy array, without a copy if it contains one.

    A masked array with nothing masked is its data, and a ``np.matrix`` the array of its numbers:
    both have their own arithmetic.
    """
    if values.__class__ is np.ndarray and not _is_bfloat16(values):
        return values
    if hasattr(values, "detach") and hasattr(values, "cpu"):
        values = values.detach().cpu()
        return (values.float() if _is_bfloat16(values) else values).numpy()
    if hasattr(values, "to_numpy") and not hasattr(values, "__arrow_c_array__"):
        # pyarrow arrays do not allow copies here; NumPy converts them.
        values = values.to_numpy()
    if hasattr(values, "toarray"):
        values = values.toarray()
    try:
        out = values if isinstance(values, np.ndarray) else np.asarray(values)
    except InputError:
        raise
    except ValueError:
        raise InputError(
            f"{name} must be a rectangular array; got rows of different lengths; give each the same"
            " columns."
        ) from None
    return _as_base(out.astype(np.float32) if _is_bfloat16(out) else out, name)


def _as_base(array: np.ndarray, name: str) -> np.ndarray:
    """The numbers of a masked array or matrix; any other array (such as a memory map) is
    unchanged."""
    if np.ma.isMaskedArray(array):
        if np.ma.is_masked(array):
            raise InputError(
                f"{name} is a masked array with masked entries; repair or drop those rows first."
            )
        array = np.ma.getdata(array)
    return np.asarray(array) if isinstance(array, np.matrix) else array


def _is_bfloat16(values: Any) -> bool:
    dtype = getattr(values, "dtype", "")
    # NumPy's own types are told apart without their names, whose making takes microseconds.
    builtin = isinstance(dtype, np.dtype) and dtype.isbuiltin == 1
    return not builtin and str(dtype) in ("bfloat16", "torch.bfloat16")


def resolution(given: Any, values: np.ndarray) -> float:
    """Machine epsilon of the original dtype of the numbers in the array ``values``: twice their
    largest rounding error.

    It is at least that of float32, so that numbers in float32 and the same numbers in float64 fall
    in the same bins.
    """
    return (
        BFLOAT16_EPSILON
        if _is_bfloat16(given)
        else max(FLOAT32_EPSILON, float(np.finfo(values.dtype).eps))
    )


def row_sum_limits(values: np.ndarray, resolution: float) -> np.ndarray:
    """(n,) largest difference from 1 of the sum of each of these (n, K) rows of probabilities.

    It is the tolerance of the original dtype; for a row of numbers rounded to d decimals, K / 2
    units of the last one if that is more, and at most 0.05. Each row is judged alone, so that a row
    is valid or not in any batch.

    Examples
    --------
    >>> P = np.array([[0.3333, 0.3333, 0.3333], [1 / 3, 1 / 3, 0.3]])
    >>> row_sum_limits(P, 2.0**-23).round(7)
    array([1.5e-04, 1.0e-05])
    """
    limits = np.full(len(values), ROW_SUM_TOLERANCE.get(resolution, OTHER_ROW_SUM_TOLERANCE))
    left = np.ones(len(values), dtype=bool)
    for d in DECIMALS:
        scaled = values[left] * 10.0**d
        # A number of d decimals is off by the rounding of its original dtype only.
        off = min(10.0**d * resolution / 2.0 + 1e-3, 0.1)
        of_d = np.flatnonzero(left)[(np.abs(scaled - np.rint(scaled)) <= off).all(axis=1)]
        units = min(values.shape[1] / 2.0 * 10.0**-d, ROUNDED) * (1.0 + 1e-6)
        limits[of_d] = np.maximum(limits[of_d], units)
        left[of_d] = False
    return limits


def _first_odd(array: np.ndarray) -> Any:
    return next((v for v in array.ravel() if not isinstance(v, int | float | np.number)), None)


def column_names(P: Any, name: str = "P") -> list[Any] | None:
    """Column names of a data frame or pyarrow table with columns, else None; they are distinct."""
    if hasattr(P, "column_names") and hasattr(P, "schema"):
        names = list(P.column_names)
    elif hasattr(P, "columns") and hasattr(P, "to_numpy"):
        names = list(P.columns)
    else:
        return None
    if len(set(names)) != len(names):
        twice = next(n for j, n in enumerate(names) if n in names[:j])
        raise InputError(
            f"the columns of {name} must have different names; got {twice!r} more than once; rename"
            " or drop one of them."
        )
    unnamed = all(isinstance(n, str) and n == f"column_{j}" for j, n in enumerate(names))
    return None if unnamed else names


def text_names(values: Any, name: str) -> list[str] | None:
    """``column_names`` if they are texts, as in scikit-learn; numbers and dates are positions."""
    names = column_names(values, name)
    return names if names and all(isinstance(each, str) for each in names) else None


def weights(
    sample_weight: ArrayLike | None, n_rows: int
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """(weights of the rows kept or None, boolean mask of the rows kept or None)."""
    if sample_weight is None:
        return None, None
    out = to_array(sample_weight, "sample_weight").astype(np.float64)
    if out.shape != (n_rows,):
        raise InputError(
            f"sample_weight must have one weight for each of the {n_rows} rows; got shape"
            f" {out.shape}."
        )
    if not np.isfinite(out).all() or (out < 0).any():
        bad = int(np.flatnonzero(~np.isfinite(out) | (out < 0))[0])
        raise InputError(
            f"sample_weight must be finite and not negative; row {bad} is {out[bad]}; use 0 to"
            " leave a row out."
        )
    if not out.any():
        raise InputError("sample_weight is zero in every row; at least one row must count.")
    with np.errstate(over="ignore"):
        total = out.sum()
    if not SMALLEST_TOTAL <= total <= LARGEST_TOTAL:
        raise InputError(
            f"sample_weight must add up to {SMALLEST_TOTAL:g} at least and {LARGEST_TOTAL:g} at"
            f" most; got {total:g}; {REPEAT}."
        )
    kept = out > VANISHING * total
    if total < FEW_REPETITIONS * np.count_nonzero(kept):
        warn(
            f"sample_weight adds up to {total:g}, so that its {n_rows} rows count as {total:g}:"
            f" {REPEAT}.",
            CalibrationWarning,
        )
    return (out, None) if kept.all() else (out[kept], kept)


def new_weights(
    sample_weight: ArrayLike | None, n_rows: int, *, weighted: bool
) -> np.ndarray | None:
    """Weights (n,) of new rows, which are required where those of the fit were sampling weights,
    ``weighted``, and unused elsewhere.
    """
    if weighted != (sample_weight is not None):
        given = "sampling weights; pass those of these rows" if weighted else "none; leave it out"
        raise InputError(f"sample_weight of new rows must be as in fit, which took {given}.")
    if sample_weight is None:
        return None
    out = to_array(sample_weight, "sample_weight").astype(np.float64)
    if out.shape != (n_rows,) or not (np.isfinite(out) & (out > 0.0)).all():
        raise InputError(
            f"sample_weight must hold {n_rows} finite weights above 0; got shape {out.shape}, from"
            f" {out.min(initial=np.inf):g} to {out.max(initial=-np.inf):g}."
        )
    return out


def whole_rows(weight: np.ndarray) -> np.ndarray:
    """Mask of the weights that are whole numbers of rows."""
    return np.abs(weight - np.rint(weight)) <= 1e-9


def require_pairs(weight: np.ndarray | None, what: str) -> None:
    """Raise InputError if the weights of several rows sum to at most one row, as ``what`` compares
    rows.
    """
    if weight is not None and len(weight) > 1 and weight.sum() <= 1.0 + 1e-9:
        raise InputError(
            f"sample_weight must add up to more than 1 for {what}; got {weight.sum():g} over"
            f" {len(weight)} rows; {REPEAT}."
        )


def rows_named(X: Any, name: str, n_rows: int) -> Any:
    """X unchanged, after a check of its number of rows and of masked entries."""
    if X is None:
        return None
    X = X if hasattr(X, "shape") and not isinstance(X, np.ndarray) else plain_array(X, name)
    if len(X.shape) == 0 or X.shape[0] != n_rows:
        raise InputError(
            f"{name} must have {n_rows} rows, as the predictions or labels it belongs to; got shape"
            f" {tuple(X.shape)}."
        )
    return X


def scores(
    score: ArrayLike, name: str = "score", domain: Literal["unit", "real"] = "real"
) -> np.ndarray:
    """(n,) float64 finite scores, inside [0, 1] for the "unit" domain."""
    out = to_array(score, name).astype(np.float64)
    if out.ndim != 1:
        raise InputError(f"{name} must be (n,); got shape {out.shape}.")
    if len(out) == 0:
        raise InputError(f"{name} has no rows; pass at least one.")
    unit = domain == "unit"
    least, most, rule = (
        (0.0, 1.0 + 1e-12, "in [0, 1]")
        if unit
        else (-LARGEST_SCORE, LARGEST_SCORE, "at most 1e100 in size")
    )
    # A NaN is neither above nor below a limit.
    if not (out.min() >= least and out.max() <= most):
        bad = ~np.isfinite(out)
        if bad.any():
            rule = "finite"
        else:
            bad = (out < least) | (out > most)
        first = int(np.flatnonzero(bad)[0])
        raise InputError(
            f"{name} must be {rule}; row {first} is {out[first]} ({int(bad.sum())} in all);"
            " repair or drop them."
        )
    return np.minimum(out, 1.0) if unit else out


def yes_of(labels: np.ndarray) -> np.ndarray | None:
    """(n,) whether each text is the 1, true or yes of a pair of ``NO_AND_YES``, in one spelling;
    None for any other labels.
    """
    seen = set(labels.tolist()) if labels.dtype.kind in "UO" and labels.ndim == 1 else set()
    folded = {text.casefold(): text for text in seen if isinstance(text, str)}
    if not seen or len(folded) < len(seen):
        return None
    yes = next((pair[1] for pair in NO_AND_YES if set(folded) <= set(pair)), None)
    return None if yes is None else np.asarray(labels == folded.get(yes))


def binary_outcomes(correct: ArrayLike, n_rows: int) -> np.ndarray:
    """(n,) float64 of zeros and ones, from these, booleans, or texts such as no and yes."""
    texts = yes_of(plain_array(correct, "correct"))
    out = to_array(correct, "correct") if texts is None else texts
    out = out.astype(np.float64, copy=False)
    if out.shape != (n_rows,):
        raise InputError(
            f"correct must have one outcome for each of the {n_rows} scores; got shape {out.shape}."
        )
    if not np.isin(out, (0.0, 1.0)).all():
        bad = int(np.flatnonzero(~np.isin(out, (0.0, 1.0)))[0])
        raise InputError(
            f"correct must be 0 or 1 (or False, True; no, yes); row {bad} is {out[bad]}."
        )
    return out
