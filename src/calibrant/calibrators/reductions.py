"""Reductions of points, features and images that speed up neighbour searches."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.cluster import MiniBatchKMeans

from calibrant._numerics.separation import leading_directions
from calibrant.core.estimators import BaseEstimator, TransformerMixin, require_count, seeded
from calibrant.core.saving import Saved
from calibrant.errors import InputError

__all__ = [
    "AveragePool",
    "BilinearResize",
    "ClassCentroids",
    "Grayscale",
    "MaxPool",
    "PrincipalComponents",
    "RandomFeatures",
    "RandomSubset",
]


class RandomSubset(Saved, BaseEstimator):
    """Random subset of n / t^2 points of each class, at least one.

    Parameters
    ----------
    t : int, default 2
    random_state : int or None, default 0

    See Also
    --------
    neighbors.ClassCentroids : means instead of points.
    neighbors.RandomFeatures : fewer features instead of fewer points.

    Examples
    --------
    >>> X, y = RandomSubset(2).reduce(np.arange(16.0).reshape(8, 2), np.repeat([0, 1], 4))
    >>> X.shape, y.tolist()
    ((2, 2), [0, 1])
    """

    def __init__(self, t: int = 2, *, random_state: int = 0) -> None:
        self.t: int = t
        self.random_state: int = random_state

    @seeded
    def reduce(self, X: Any, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return (subset of the rows of X, their labels)."""
        require_count("t", self.t)
        rng, y = np.random.default_rng(self.random_state), np.asarray(y)
        classes = [np.flatnonzero(y == k) for k in np.unique(y)]
        kept = np.sort(
            np.concatenate(
                [
                    rng.choice(rows, max(1, len(rows) // self.t**2), replace=False)
                    for rows in classes
                ]
            )
        )
        return (X.iloc[kept] if hasattr(X, "iloc") else np.asarray(X)[kept]), y[kept]


class ClassCentroids(Saved, BaseEstimator):
    """k-means centroids of each class, n / t^2 and at least one, fitted by class so that a centroid
    has a label.

    Parameters
    ----------
    t : int, default 2
    random_state : int or None, default 0

    See Also
    --------
    neighbors.RandomSubset : a subset of unchanged points.

    Notes
    -----
    It keeps more information than :class:`RandomSubset` and costs one k-means, in mini-batches from
    random points.

    Examples
    --------
    >>> X, y = ClassCentroids(2).reduce(np.repeat([[0.0], [10.0]], 4, axis=0), np.repeat([0, 1], 4))
    >>> X.round(6).tolist(), y.tolist()
    ([[0.0], [10.0]], [0, 1])
    """

    def __init__(self, t: int = 2, *, random_state: int = 0) -> None:
        self.t: int = t
        self.random_state: int = random_state

    @seeded
    def reduce(self, X: Any, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return (centroids, their labels); float32 for X of 8-bit integers."""
        require_count("t", self.t)
        X, y = np.asarray(X), np.asarray(y)
        X, precision = (
            X.reshape(len(X), -1),
            np.float32 if X.dtype in (np.uint8, np.float32) else np.float64,
        )
        centres, labels = [], []
        for k in np.unique(y):
            rows = X[y == k].astype(precision)
            n = max(1, len(rows) // self.t**2)
            centres.append(self._centroids(rows, n))
            labels.append(np.full(len(centres[-1]), k))
        return np.concatenate(centres), np.concatenate(labels)

    def _centroids(self, rows: np.ndarray, n: int) -> np.ndarray:
        distinct = len(np.unique(rows, axis=0)) if len(rows) < 1000 else len(rows)
        n = min(n, distinct)
        fit = MiniBatchKMeans(
            n, init="random", n_init=1, max_iter=20, batch_size=1024, random_state=self.random_state
        ).fit(rows)
        return fit.cluster_centers_


def _flat(X: np.ndarray) -> np.ndarray:
    X = np.asarray(X)
    return X.reshape(len(X), -1)


class PrincipalComponents(TransformerMixin, Saved, BaseEstimator):
    """Projection on the leading d / t^2 principal components.

    Parameters
    ----------
    t : int, default 2

    Attributes
    ----------
    mean_ : (d,)
    components_ : (d, k)

    See Also
    --------
    neighbors.RandomFeatures : a subset of unchanged features.
    neighbors.AveragePool : a reduction of images.

    Notes
    -----
    Try this reduction first: the components that vary most dominate distances. They are found by a
    few power iterations on at most 8,192 evenly spaced rows, in float64.

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
        basis = leading_directions(
            lambda rows: X[rows].astype(np.float64),
            len(X),
            self.mean_,
            max(1, X.shape[1] // self.t**2),
        )
        self.components_: np.ndarray = np.eye(X.shape[1]) if basis is None else basis
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return (n, k) float32 coordinates."""
        return ((_flat(X) - self.mean_) @ self.components_).astype(np.float32)


class RandomFeatures(TransformerMixin, Saved, BaseEstimator):
    """Random subset of d / t^2 features ("random pixels").

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
    neighbors.RandomSubset : fewer points instead of fewer features.

    Notes
    -----
    It is never best in log loss or ranking (the calibration error alone hides that), and is
    included because the paper has it.

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
        self.chosen_: np.ndarray = np.sort(
            rng.choice(self.n_features_in_, max(1, self.n_features_in_ // self.t**2), replace=False)
        )
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the chosen columns, (n, k)."""
        return _flat(X)[:, self.chosen_]


#: Weights of red, green and blue (ITU-R BT.601).
LUMA = np.array([0.299, 0.587, 0.114])


def as_images(X: Any, shape: tuple[int, int] | None) -> np.ndarray:
    """Return images or flat rows as (n, height, width, channels); ``shape`` is required for flat
    rows that are not square and grey.
    """
    X = np.asarray(X)
    if shape is not None:
        size = int(np.prod(shape))
        if int(np.prod(X.shape[1:])) != size:
            raise InputError(
                f"shape must be that of one image; got {tuple(shape)} and rows of"
                f" {int(np.prod(X.shape[1:]))} numbers."
            )
        X = X.reshape(len(X), *shape)
    elif X.ndim == 2:
        side = round(X.shape[1] ** 0.5)
        if side * side != X.shape[1]:
            raise InputError(
                f"flat rows of {X.shape[1]} numbers are not square grey images; pass"
                " shape=(height, width), or with channels."
            )
        X = X.reshape(len(X), side, side)
    return X if X.ndim == 4 else X[..., None]


class _ImageReduction(TransformerMixin, BaseEstimator):
    """Template of stateless image reductions; partial tiles at the right and bottom edges are
    padded by repeating the edge.
    """

    def __init__(self, t: int = 2, *, shape: tuple[int, ...] | None = None) -> None:
        self.t: int = t
        self.shape: tuple[int, ...] | None = shape

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the options."""
        require_count("t", self.t)
        self.n_features_in_: int = int(np.prod(np.shape(X)[1:]))
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return flat rows of the smaller images."""
        images = as_images(X, self.shape)
        small = self._shrunk(images)
        return small.reshape(len(images), -1)

    @abstractmethod
    def _shrunk(self, images: np.ndarray) -> np.ndarray: ...

    def _tiles(self, images: np.ndarray) -> np.ndarray:
        """Return tiles, (n, rows, t, columns, t, channels)."""
        n, height, width, channels = images.shape
        t = self.t
        padded = np.pad(images, ((0, 0), (0, -height % t), (0, -width % t), (0, 0)), mode="edge")
        return padded.reshape(n, padded.shape[1] // t, t, padded.shape[2] // t, t, channels)


class AveragePool(_ImageReduction):
    """Average pooling: the mean of each tile of t x t pixels.

    Parameters
    ----------
    t : int, default 2
    shape : tuple, optional
        Shape of one image, (height, width) or (height, width, channels), for flat rows.

    See Also
    --------
    neighbors.MaxPool, neighbors.BilinearResize : other ways to shrink images.
    neighbors.PrincipalComponents : a reduction of rows that are not images.

    Notes
    -----
    It is the best image reduction for t = 2; for t = 4, principal components keep more information.

    Examples
    --------
    >>> AveragePool(2).fit_transform(np.arange(16.0).reshape(1, 4, 4)).tolist()
    [[2.5, 4.5, 10.5, 12.5]]
    """

    def _shrunk(self, images: np.ndarray) -> np.ndarray:
        return self._tiles(images).mean(
            axis=(2, 4), dtype=np.float32 if images.dtype == np.uint8 else np.float64
        )


class MaxPool(_ImageReduction):
    """Max pooling: the largest pixel of each tile of t x t.

    Parameters
    ----------
    t, shape : as in :class:`AveragePool`.

    See Also
    --------
    neighbors.AveragePool, neighbors.BilinearResize : other ways to shrink images.

    Examples
    --------
    >>> MaxPool(2).fit_transform(np.arange(16.0).reshape(1, 4, 4)).tolist()
    [[5.0, 7.0, 13.0, 15.0]]
    """

    def _shrunk(self, images: np.ndarray) -> np.ndarray:
        return self._tiles(images).max(axis=(2, 4))


class BilinearResize(_ImageReduction):
    """Bilinear resizing to 1/t of each side: each new pixel is interpolated from the four old ones
    around its centre.

    Parameters
    ----------
    t, shape : as in :class:`AveragePool`.

    See Also
    --------
    neighbors.AveragePool, neighbors.MaxPool : other ways to shrink images.

    Notes
    -----
    As usual, there is no smoothing first: for t = 2 it is average pooling, and for t = 4 it reads
    only the middle of each tile.

    Examples
    --------
    >>> BilinearResize(2).fit_transform(np.arange(16.0).reshape(1, 4, 4)).tolist()
    [[2.5, 4.5, 10.5, 12.5]]
    """

    def _shrunk(self, images: np.ndarray) -> np.ndarray:
        kind = np.float32 if images.dtype == np.uint8 else np.float64
        for axis in (1, 2):
            old, new = images.shape[axis], max(1, images.shape[axis] // self.t)
            at = np.clip((np.arange(new) + 0.5) * old / new - 0.5, 0.0, old - 1.0)
            below = np.floor(at).astype(int)
            share = (at - below).astype(kind).reshape([-1 if a == axis else 1 for a in range(4)])
            above = np.minimum(below + 1, old - 1)
            images = images.take(below, axis) * (1 - share) + images.take(above, axis) * share
        return images.astype(kind)


class Grayscale(TransformerMixin, BaseEstimator):
    """Conversion of colour images to grey, by the usual weights of red, green and blue.

    Parameters
    ----------
    shape : tuple, optional
        (height, width, 3), for flat rows.

    See Also
    --------
    neighbors.AveragePool : fewer pixels instead of fewer colours.

    Examples
    --------
    >>> Grayscale().fit_transform(np.full((1, 2, 2, 3), 10.0)).round(6).tolist()
    [[[10.0, 10.0], [10.0, 10.0]]]
    """

    def __init__(self, *, shape: tuple[int, ...] | None = None) -> None:
        self.shape: tuple[int, ...] | None = shape

    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Return self; nothing is fitted."""
        self.n_features_in_: int = int(np.prod(np.shape(X)[1:]))
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return grey images, (n, height, width)."""
        images = as_images(X, self.shape)
        if images.shape[-1] != 3:
            raise InputError(f"Grayscale needs three colours per pixel; got {images.shape[-1]}.")
        return images @ (LUMA.astype(np.float32) if images.dtype == np.uint8 else LUMA)
