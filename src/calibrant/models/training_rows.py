"""The training data of one fit of a wrapper, by rows."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import assert_all_finite, check_consistent_length

from calibrant import arrays
from calibrant._support.estimators import clone
from calibrant.errors import InputError
from calibrant.rows import n_rows, take_optional, take_rows

__all__ = ["TrainingRows", "checked_rows"]


def checked_rows(owner: object, X: Any, y: Any, as_targets: Callable[..., np.ndarray]) -> tuple[Any, np.ndarray]:
    """Features and outcomes of one length, at least one row, the outcomes finite and read by ``as_targets(y, warn=True)``."""
    if y is None:
        raise InputError(f"{type(owner).__name__} requires y to be passed, but the target y is None.")
    X = X if hasattr(X, "__len__") or hasattr(X, "shape") else np.asarray(X)
    y = as_targets(y, warn=True)
    check_consistent_length(X, y)
    if len(y) == 0:
        raise InputError("X and y must hold rows; got 0 samples.")
    assert_all_finite(y, input_name="y")
    return X, y


class TrainingRows:
    """Features, outcomes and weights that are cut to rows together; rows of weight 0 are no rows.

    Attributes
    ----------
    X : (n, ...) features of any kind
    y : (n,) or (n, d)
    weight : (n,) float64, or None
    """

    X: Any
    y: Any

    def __init__(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> None:
        self.X, self.y, self.weight = X, y, None
        weight, kept = arrays.weights(sample_weight, len(y))
        if weight is not None:
            self.weight: np.ndarray | None = np.zeros(len(y))
            self.weight[slice(None) if kept is None else kept] = weight

    def counted(self, rows: np.ndarray | None = None) -> np.ndarray:
        """Those of the rows (default: all) that have a weight."""
        rows = np.arange(len(self.y)) if rows is None else rows
        return rows if self.weight is None else rows[self.weight[rows] > 0.0]

    def counted_splits(self, splits: Sequence[tuple[np.ndarray, np.ndarray]]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Pairs of rows to fit and held out, those of weight 0 left out; a split that then holds out no row is none."""
        counted = [(self.counted(fit_rows), self.counted(held_out)) for fit_rows, held_out in splits]
        counted = [pair for pair in counted if len(pair[1])]
        if not counted or not all(len(fit_rows) for fit_rows, _ in counted):
            raise InputError(
                "sample_weight must leave each split of cv rows to fit, and some split rows held out; pass fewer zeros or folds."
            )
        return counted

    def X_of(self, rows: np.ndarray) -> Any:
        """Features of some rows; the very object given where they are all rows in order."""
        return self.X if len(rows) == n_rows(self.X) and (rows == np.arange(len(rows))).all() else take_rows(self.X, rows)

    def weight_of(self, rows: np.ndarray) -> np.ndarray | None:
        """Weights of some rows, or None."""
        return None if self.weight is None else self.weight[rows]

    def params_of(self, rows: np.ndarray, params: dict[str, Any]) -> dict[str, Any]:
        """Fit arguments for some rows: those with one entry a row are cut."""
        return take_optional(params, rows, len(self.y))

    def of(self, rows: np.ndarray, params: dict[str, Any]) -> tuple[Any, np.ndarray, dict[str, Any]]:
        """(features, outcomes, fit arguments) of some rows."""
        return self.X_of(rows), self.y[rows], self.params_of(rows, params)

    def fitted(self, model: Any, rows: np.ndarray, params: dict[str, Any], target: np.ndarray | None = None) -> Any:
        """A clone of a model, fitted to some rows, to the outcomes or to another target."""
        return clone(model).fit(self.X_of(rows), (self.y if target is None else target)[rows], **self.params_of(rows, params))
