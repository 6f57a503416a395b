"""Fewer features of any kind: principal components, random ones."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.separation import leading_directions
from calibrant._support.estimators import BaseEstimator, TransformerMixin
from calibrant._support.options import require_count
from calibrant._support.saving import Saved

__all__ = ["PrincipalComponents", "RandomFeatures"]


def _flat(X):
    X = np.asarray(X)
    return X.reshape(len(X), -1)


class PrincipalComponents(TransformerMixin, Saved, BaseEstimator):
    """The leading d / t^2 principal components.

    Parameters
    ----------
    t : int, default 2

    Attributes
    ----------
    mean_ : (d,)
    components_ : (d, k)

    See Also
    --------
    neighbors.RandomFeatures : a choice of features as they are.
    neighbors.AveragePool : for images.

    Notes
    -----
    The reduction to try first: for distances, the components that vary most are what counts. They are found by a few power steps on at
    most 8,192 evenly spaced rows, in float64.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(50, 8))
    >>> PrincipalComponents(2).fit_transform(X).shape
    (50, 2)
    """

    def __init__(self, t: int = 2) -> None:
        self.t: int = t

    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Find the components."""
        require_count("t", self.t)
        X = _flat(X)
        self.n_features_in_: int = X.shape[1]
        self.mean_: np.ndarray = X.mean(axis=0, dtype=np.float64)
        basis = leading_directions(lambda rows: X[rows].astype(np.float64), len(X), self.mean_, max(1, X.shape[1] // self.t**2))
        self.components_: np.ndarray = np.eye(X.shape[1]) if basis is None else basis
        return self

    def transform(self, X: Any) -> np.ndarray:
        """(n, k) float32 coordinates."""
        return ((_flat(X) - self.mean_) @ self.components_).astype(np.float32)


class RandomFeatures(TransformerMixin, Saved, BaseEstimator):
    """A random choice of d / t^2 features ("random pixels").

    Parameters
    ----------
    t : int, default 2
    random_state : int or None, default 0

    Attributes
    ----------
    chosen_ : (k,) columns, ascending.

    See Also
    --------
    neighbors.PrincipalComponents : the directions that vary most.
    neighbors.RandomSubset : fewer points in place of fewer features.

    Notes
    -----
    Never the best choice in log loss or ranking (the calibration error alone hides it); here because the paper has it.

    Examples
    --------
    >>> RandomFeatures(2).fit_transform(np.arange(16.0).reshape(2, 8)).shape
    (2, 2)
    """

    def __init__(self, t: int = 2, *, random_state: int = 0) -> None:
        self.t: int = t
        self.random_state: int = random_state

    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Draw the columns."""
        require_count("t", self.t)
        self.n_features_in_: int = _flat(X).shape[1]
        rng = np.random.default_rng(self.random_state)
        self.chosen_: np.ndarray = np.sort(rng.choice(self.n_features_in_, max(1, self.n_features_in_ // self.t**2), replace=False))
        return self

    def transform(self, X: Any) -> np.ndarray:
        """(n, k)."""
        return _flat(X)[:, self.chosen_]
