"""The training data of one fit of a wrapper, by rows."""

import numpy as np

from calibrant import arrays
from calibrant.rows import n_rows, take_optional, take_rows

__all__ = ["TrainingRows"]


class TrainingRows:
    """Features, outcomes and weights that are cut to rows together; rows of weight 0 are no rows.

    Attributes
    ----------
    X : (n, ...) features of any kind
    y : (n,) or (n, d)
    weight : (n,) float64, or None
    """

    def __init__(self, X, y, sample_weight=None):
        self.X, self.y, self.weight = X, y, None
        weight, kept = arrays.weights(sample_weight, len(y))
        if weight is not None:
            self.weight = np.zeros(len(y))
            self.weight[slice(None) if kept is None else kept] = weight

    def counted(self, rows=None):
        """Those of the rows (default: all) that have a weight."""
        rows = np.arange(len(self.y)) if rows is None else rows
        return rows if self.weight is None else rows[self.weight[rows] > 0.0]

    def X_of(self, rows):
        """Features of some rows; the very object given where they are all rows in order."""
        return self.X if len(rows) == n_rows(self.X) and (rows == np.arange(len(rows))).all() else take_rows(self.X, rows)

    def weight_of(self, rows):
        """Weights of some rows, or None."""
        return None if self.weight is None else self.weight[rows]

    def params_of(self, rows, params):
        """Fit arguments for some rows: those with one entry a row are cut."""
        return take_optional(params, rows, len(self.y))
