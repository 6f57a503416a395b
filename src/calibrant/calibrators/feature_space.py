"""Conversion of the user's features to the coordinates of distances."""

from typing import Any

import numpy as np
from sklearn.base import clone

from calibrant.calibrators.stored_points import LARGEST
from calibrant.core.arrays import text_names, to_array
from calibrant.core.groups import n_rows
from calibrant.core.saving import Saved
from calibrant.errors import InputError, warn

__all__ = ["FeatureSpace"]

SCALES = ("auto", "standard", "none")
BLOCK_ROWS = 8_192
#: Columns are on one scale if more than half of them span at least half of the widest column, and
#: almost none (borders of pictures) are orders of magnitude narrower.
SAME_SPAN, SHARE, NARROW_SHARE = 0.5, 0.5, 0.05
#: Ratio of standard deviations or spans that counts as orders of magnitude.
ORDERS = 100.0
#: Squares of numbers below this are too close to 0 for float64.
SMALLEST = 1e-152


class FeatureSpace(Saved):
    """Converter of features of any shape to (n, d) numbers on one scale.

    ``features`` is None, a callable X -> array (a network's hidden layer), or a scikit-learn
    transformer, which is fitted on the training points. ``scale`` "standard" divides every column
    by its standard deviation, "none" leaves it, and "auto" leaves images (more than two
    dimensions), 8-bit integers and columns on one scale, and standardises other columns. Columns of
    a data frame are matched by name.
    """

    names_: list[str] | None

    def __init__(self, features: Any = None, scale: str = "auto") -> None:
        self.features: Any = features
        self.scale: str = scale

    def fit(self, X: Any, group: np.ndarray | None = None) -> np.ndarray:
        """Fit the transformer and the scale; return the (n, d) unscaled training points."""
        self._option("scale", *SCALES)
        self.features_, self.names_ = self.features, text_names(X, "X")
        if not (
            self.features is None or callable(self.features) or hasattr(self.features, "transform")
        ):
            raise InputError(
                f"features must be a function of X or a transformer; got {self.features!r}."
            )
        if hasattr(self.features, "fit") and hasattr(self.features, "transform"):
            self.features_: Any = clone(self.features).fit(X, group)
        image = len(getattr(X, "shape", ())) > 2 or getattr(X, "dtype", None) == np.uint8
        points, largest = self._numbers(X)
        if 0.0 < largest < SMALLEST:
            raise InputError(
                f"X must not be smaller than {SMALLEST:.0e} in size, because distances are"
                f" squared; got at most {largest:.2g}; scale it up."
            )
        self.n_features_: int = points.shape[1]
        self.column_scale_: np.ndarray | None = (
            None
            if self.scale == "none" or (self.scale == "auto" and image)
            else self._column_scale(points)
        )
        return points

    def transform(self, X: Any) -> np.ndarray:
        """Return (n, d) numbers; without a transformer, a memory-mapped array stays one."""
        out, _ = self._numbers(X)
        if out.shape[1] != self.n_features_:
            raise InputError(
                f"X must have the {self.n_features_} features of the training data; got"
                f" {out.shape[1]}."
            )
        return out

    def _numbers(self, X: Any) -> tuple[np.ndarray, float]:
        """Return the result of ``transform`` and its largest absolute number (0 for integers, which
        are not checked).
        """
        n, X = n_rows(X), self._ordered(X)
        if self.features_ is not None:
            X = self._featured(X)
        plain = isinstance(X, np.ndarray) and X.dtype.kind in "uif" and not np.ma.isMaskedArray(X)
        out = X if plain else to_array(X, "X")
        if out.dtype == np.float16:
            out = out.astype(np.float64)
        out = out.reshape(len(out), -1)
        if len(out) != n:
            raise InputError(
                f"features must return one row for each of the {n} rows of X; got {len(out)}."
            )
        starts = range(0, len(out), BLOCK_ROWS) if out.dtype.kind == "f" else ()
        return out, max(
            (_largest(out[start : start + BLOCK_ROWS], start) for start in starts), default=0.0
        )

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays in a fitted transformer and the scale; those of a callable are
        unknown.
        """
        held = [self.column_scale_, *getattr(self.features_, "__dict__", {}).values()]
        return sum(a.nbytes for a in held if isinstance(a, np.ndarray))

    def _featured(self, X: np.ndarray) -> Any:
        """Compute the features of X; a long array is read in blocks, so that no transformer expands
        all of it at once.
        """
        function = getattr(self.features_, "transform", self.features_)
        if not isinstance(X, np.ndarray) or len(X) <= BLOCK_ROWS:
            return function(X)
        return np.concatenate(
            [
                to_array(function(X[start : start + BLOCK_ROWS]), "features")
                for start in range(0, len(X), BLOCK_ROWS)
            ]
        )

    def _ordered(self, X: Any) -> Any:
        """Reorder a data frame's columns as in the training data."""
        names = text_names(X, "X")
        if self.names_ is None or names is None or names == self.names_:
            return X
        odd = sorted(map(str, set(names) ^ set(self.names_)))
        if odd or len(names) != len(self.names_):
            raise InputError(
                "X must have the columns of the training data; only one of the two has"
                f" {odd[:6]}; rename or drop them."
            )
        return X.select(self.names_) if hasattr(X, "select") else X[self.names_]

    def _column_scale(self, points: np.ndarray) -> Any:
        """(d,) factors of the columns, or None if they are on one scale already."""
        low, high, mean, square = _column_sums(points)
        span = high - low
        varying = span > 0.0
        if not varying.any():
            return None
        wide, narrow = (
            (span[varying] >= SAME_SPAN * span.max()).mean(),
            (span[varying] * ORDERS < span.max()).mean(),
        )
        if self.scale == "auto" and wide > SHARE and narrow <= NARROW_SHARE:
            return None
        spread = np.sqrt(np.maximum(square - mean**2, 0.0))
        varying &= spread > 1e-9 * span
        if self.scale == "auto" and spread[varying].max() > ORDERS * spread[varying].min():
            ratio = spread[varying].max() / spread[varying].min()
            warn(
                f"the columns of X differ by a factor of {ratio:.0e} in standard deviation, so"
                ' they are standardised before computing distances; pass scale="standard" to do'
                ' so silently, or scale="none" for the raw columns.',
            )
        return np.where(varying, 1.0 / np.where(varying, spread, 1.0), 1.0)


def _column_sums(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Minimum, maximum, mean and mean square of each column about the first row, in blocks; (d,)
    each.
    """
    shift = points[0].astype(np.float64)
    low, high = np.full(points.shape[1], np.inf), np.full(points.shape[1], -np.inf)
    total, square = np.zeros(points.shape[1]), np.zeros(points.shape[1])
    for start in range(0, len(points), BLOCK_ROWS):
        block = points[start : start + BLOCK_ROWS] - shift
        low, high = np.minimum(low, block.min(axis=0)), np.maximum(high, block.max(axis=0))
        total += block.sum(axis=0)
        square += np.einsum("ij,ij->j", block, block)
    return low, high, total / len(points), square / len(points)


def _largest(block: np.ndarray, start: int) -> float:
    """Largest absolute number of a block that follows ``start`` rows; raises an error where one
    cannot be squared.
    """
    size = np.abs(block).max(axis=1, initial=0.0)
    # This form of the comparison counts nan as bad.
    bad = ~(size <= LARGEST)
    if bad.any():
        rule = f"finite and at most {LARGEST:.0e} in size"
        raise InputError(
            f"X must be {rule}; row {start + int(bad.argmax())} is not ({int(bad.sum())} such"
            " rows); repair, scale or drop them."
        )
    return float(size.max())
