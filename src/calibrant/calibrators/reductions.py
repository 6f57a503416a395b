"""Reductions of points, features and images that speed up neighbour searches, and the conversion of
the user's features to the coordinates of distances.
"""

from abc import abstractmethod
from typing import Any, Self, cast

import numpy as np

from calibrant._numerics.separation import leading_directions
from calibrant.calibrators.stored_points import LARGEST
from calibrant.core.arrays import ArrayLike, text_names, to_array
from calibrant.core.estimators import BaseEstimator, clone, require_count, seeded
from calibrant.core.groups import n_rows
from calibrant.core.saving import Saved
from calibrant.errors import InputError, warn

__all__ = [
    "AveragePool",
    "BilinearResize",
    "ClassCentroids",
    "FeatureSpace",
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
    calibrators.ClassCentroids : means instead of points.
    calibrators.RandomFeatures : fewer features instead of fewer points.

    References
    ----------
    Chouraqui, Cohen, Einziger and Leman, "Uncertainty estimation based on geometric separation",
    2023, section 5.1.

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
    calibrators.RandomSubset : a subset of unchanged points.

    Notes
    -----
    It keeps more information than :class:`RandomSubset` and costs one k-means, in mini-batches from
    random points.

    References
    ----------
    Chouraqui, Cohen, Einziger and Leman, "Uncertainty estimation based on geometric separation",
    2023, section 5.1.

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
        # Imported here, because sklearn.cluster takes long.
        from sklearn.cluster import MiniBatchKMeans

        fit = MiniBatchKMeans(
            n, init="random", n_init=1, max_iter=20, batch_size=1024, random_state=self.random_state
        ).fit(rows)
        return fit.cluster_centers_


def _flat(X: np.ndarray) -> np.ndarray:
    X = np.asarray(X)
    return X.reshape(len(X), -1)


class _Transformer(BaseEstimator):
    """A transformer of scikit-learn's pipelines."""

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """``fit``, then ``transform`` of the same rows."""
        return cast(Any, self).fit(X, y, **fit_params).transform(X)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import TransformerTags

        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags()
        return tags


class PrincipalComponents(Saved, _Transformer):
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
    calibrators.RandomFeatures : a subset of unchanged features.
    calibrators.AveragePool : a reduction of images.

    Notes
    -----
    Try this reduction first: the components that vary most dominate distances. They are found by a
    few power iterations on at most 8,192 evenly spaced rows, in float64.

    References
    ----------
    Chouraqui, Cohen, Einziger and Leman, "Uncertainty estimation based on geometric separation",
    2023, section 5.1.

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


class RandomFeatures(Saved, _Transformer):
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
    calibrators.PrincipalComponents : the directions that vary most.
    calibrators.RandomSubset : fewer points instead of fewer features.

    Notes
    -----
    It is never best in log loss or ranking (the calibration error alone hides that), and is
    included because the paper has it.

    References
    ----------
    Chouraqui, Cohen, Einziger and Leman, "Uncertainty estimation based on geometric separation",
    2023, section 5.1.

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


class _ImageReduction(_Transformer):
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
    calibrators.MaxPool, calibrators.BilinearResize : other ways to shrink images.
    calibrators.PrincipalComponents : a reduction of rows that are not images.

    Notes
    -----
    It is the best image reduction for t = 2; for t = 4, principal components keep more information.

    References
    ----------
    Chouraqui, Cohen, Einziger and Leman, "Uncertainty estimation based on geometric separation",
    2023, section 5.1.

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
    calibrators.AveragePool, calibrators.BilinearResize : other ways to shrink images.

    References
    ----------
    Chouraqui, Cohen, Einziger and Leman, "Uncertainty estimation based on geometric separation",
    2023, section 5.1.

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
    calibrators.AveragePool, calibrators.MaxPool : other ways to shrink images.

    Notes
    -----
    As usual, there is no smoothing first: for t = 2 it is average pooling, and for t = 4 it reads
    only the middle of each tile.

    References
    ----------
    Chouraqui, Cohen, Einziger and Leman, "Uncertainty estimation based on geometric separation",
    2023, section 5.1.

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


class Grayscale(_Transformer):
    """Conversion of colour images to grey, by the usual weights of red, green and blue.

    Parameters
    ----------
    shape : tuple, optional
        (height, width, 3), for flat rows.

    See Also
    --------
    calibrators.AveragePool : fewer pixels instead of fewer colours.

    References
    ----------
    Chouraqui, Cohen, Einziger and Leman, "Uncertainty estimation based on geometric separation",
    2023, section 5.2.

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
            f"X must be {rule}; row {start + int(bad.argmax())} is not ({int(bad.sum())} in"
            " all); repair, scale or drop them."
        )
    return float(size.max())
