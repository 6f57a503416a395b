"""Fewer training points: a random subset, or centroids of each class."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.cluster import MiniBatchKMeans

from calibrant._support.estimators import BaseEstimator
from calibrant._support.options import require_count
from calibrant._support.saving import Saved

__all__ = ["ClassCentroids", "RandomSubset"]


class RandomSubset(Saved, BaseEstimator):
    """A random n / t^2 of the points of each class, at least one.

    Parameters
    ----------
    t : int, default 2
    random_state : int or None, default 0

    See Also
    --------
    neighbors.ClassCentroids : means in place of points.
    neighbors.RandomFeatures : fewer features in place of fewer points.

    Examples
    --------
    >>> X, y = RandomSubset(2).reduce(np.arange(16.0).reshape(8, 2), np.repeat([0, 1], 4))
    >>> X.shape, y.tolist()
    ((2, 2), [0, 1])
    """

    def __init__(self, t: int = 2, *, random_state: int = 0) -> None:
        self.t: int = t
        self.random_state: int = random_state

    def reduce(self, X: Any, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """(some rows of X, their labels)."""
        require_count("t", self.t)
        rng, y = np.random.default_rng(self.random_state), np.asarray(y)
        classes = [np.flatnonzero(y == k) for k in np.unique(y)]
        kept = np.sort(np.concatenate([rng.choice(rows, max(1, len(rows) // self.t**2), replace=False) for rows in classes]))
        return (X.iloc[kept] if hasattr(X, "iloc") else np.asarray(X)[kept]), y[kept]


class ClassCentroids(Saved, BaseEstimator):
    """Each class as its n / t^2 k-means centroids, at least one; class by class, so that a centroid has a label.

    Parameters
    ----------
    t : int, default 2
    random_state : int or None, default 0

    See Also
    --------
    neighbors.RandomSubset : points as they are.

    Notes
    -----
    Keeps more than :class:`RandomSubset` and costs a k-means once, here in mini-batches started from random points.

    Examples
    --------
    >>> X, y = ClassCentroids(2).reduce(np.repeat([[0.0], [10.0]], 4, axis=0), np.repeat([0, 1], 4))
    >>> X.round(6).tolist(), y.tolist()
    ([[0.0], [10.0]], [0, 1])
    """

    def __init__(self, t: int = 2, *, random_state: int = 0) -> None:
        self.t: int = t
        self.random_state: int = random_state

    def reduce(self, X: Any, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """(centroids, their labels); float32 where X holds 8-bit integers."""
        require_count("t", self.t)
        X, y = np.asarray(X), np.asarray(y)
        X, precision = X.reshape(len(X), -1), np.float32 if X.dtype in (np.uint8, np.float32) else np.float64
        centres, labels = [], []
        for k in np.unique(y):
            rows = X[y == k].astype(precision)
            n = max(1, len(rows) // self.t**2)
            centres.append(self._centroids(rows, n))
            labels.append(np.full(len(centres[-1]), k))
        return np.concatenate(centres), np.concatenate(labels)

    def _centroids(self, rows, n):
        distinct = len(np.unique(rows, axis=0)) if len(rows) < 1000 else len(rows)
        n = min(n, distinct)
        fit = MiniBatchKMeans(n, init="random", n_init=1, max_iter=20, batch_size=1024, random_state=self.random_state).fit(rows)
        return fit.cluster_centers_
