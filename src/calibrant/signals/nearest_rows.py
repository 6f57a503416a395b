"""Template of the separation signals, and the nearest training rows of each row."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant.contracts.calibrator import require_fitted
from calibrant.contracts.columns import Record
from calibrant.contracts.signal import Signal
from calibrant.contracts.tags import SignalTags
from calibrant.errors import InputError
from calibrant.labels import encode_labels
from calibrant.neighbors.exact import Nearest
from calibrant.neighbors.feature_space import FeatureSpace
from calibrant.predictions import Inputs, read

__all__ = ["NearestRows", "Separation"]


@dataclass(frozen=True)
class NearestRows(Record):
    """Separation of each row, its zone, "safe" or "dangerous", and its nearest training rows: of
    the predicted class (``same``) and of any other (``other``, with its class).

    A row is the position of a training row in ``reference``, or of a point to which a reduction
    (``points``) reduced them. Without such a row the distance is infinite, the row -1 and the
    class None. ``confidence`` is that of the model, or of the calibrator that explains it.
    """

    separation: np.ndarray
    zone: np.ndarray
    same_distance: np.ndarray
    same_row: np.ndarray
    other_distance: np.ndarray
    other_row: np.ndarray
    other_class: np.ndarray
    confidence: np.ndarray

    @classmethod
    def of(cls, separation: np.ndarray, near: Any, signal: Any, record: Any) -> "NearestRows":
        """Make it from the nearest points of the index of a fitted ``signal``."""
        offsets = signal.index_.points_.offsets
        there = near.other_row >= 0
        group = np.searchsorted(offsets, near.other_row, side="right") - 1
        other = signal.classes_[np.where(there, group, 0)]
        return cls(
            separation,
            np.where(separation > 0.0, "safe", "dangerous"),
            near.same,
            np.where(near.same_row >= 0, signal.rows_[near.same_row], -1),
            near.other,
            np.where(there, signal.rows_[near.other_row], -1),
            other if there.all() else np.where(there, other.astype(object), None),
            record.confidence,
        )


class Separation(Signal):
    """Base class of the separation signals; a subclass defines ``_make_index()`` and
    ``_separation(queries, group)``.

    F(x) are the training points whose label, in ``reference``, is the label predicted for x.
    """

    tags: ClassVar[SignalTags] = SignalTags(domain="real", uses_features=True, needs_reference=True)

    def __init__(
        self,
        *,
        features: Any = None,
        points: Any = None,
        scale: str = "auto",
        progress: Callable[..., Any] | None = None,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.features: Any = features
        self.points: Any = points
        self.scale: str = scale
        self.progress: Callable[..., Any] | None = progress

    def __sklearn_clone__(self) -> Self:
        """Return a clone that keeps the fitted model or transformer, which scikit-learn's own
        cloning would reset.
        """
        return type(self)(**self.get_params(deep=False))

    @abstractmethod
    def _make_index(self) -> Any: ...

    @abstractmethod
    def _separation(self, queries, group): ...

    def _fit(self, record: Any) -> None:
        if record.reference is None:
            raise InputError(
                f"{type(self).__name__} needs reference=(X_train, y_train), the model's own"
                " training data; got None."
            )
        X, labels = record.reference
        if len(labels) == 0:
            raise InputError("reference must hold at least one training row; got none.")
        if self.points is not None:
            if not hasattr(self.points, "reduce"):
                raise InputError(
                    "points must be a reduction of the training set, such as RandomSubset(2); got"
                    f" {self.points!r}."
                )
            X, labels = self.points.reduce(X, labels)
        self.space_: FeatureSpace = FeatureSpace(self.features, self.scale)
        rows = self.space_.fit(X, labels)
        self.index_: Any = self._make_index().fit(
            rows, labels, record.n_classes, self.space_.column_scale_
        )
        self.rows_: np.ndarray = np.argsort(labels, kind="stable")

    def add(self, X: Any, y: ArrayLike) -> Self:
        """Add training points to a fitted signal.

        Parameters
        ----------
        X : (n, ...) features
        y : (n,) their labels, of the classes known at fit

        Returns
        -------
        self
        """
        require_fitted(self, "index_")
        rows = self.space_.transform(X)
        labels, _ = encode_labels(y, self.classes_, len(rows), len(self.classes_))
        if len(rows):
            every = np.concatenate([self.index_.points_.groups, labels])
            self.index_.add(rows, labels)
            new = np.arange(len(self.rows_), len(every))
            self.rows_ = np.append(self.rows_, new)[np.argsort(every, kind="stable")]
        return self

    @property
    def nbytes_(self) -> int:
        """Bytes of the stored training set and a transformer's arrays, in memory or saved with the
        calibrator.
        """
        require_fitted(self, "index_")
        return self.index_.nbytes + self.space_.nbytes + self.rows_.nbytes

    def _queries(self, record: Any) -> np.ndarray:
        require_fitted(self, "index_")
        if record.X is None:
            raise InputError(
                f"{type(self).__name__} needs X=, the features of the rows of P; got None."
            )
        return self.space_.transform(record.X)

    def _score(self, record: Any) -> Any:
        return self._separation(self._queries(record), record.predicted)

    def nearest_record(self, record: Any) -> Nearest:
        """Find the nearest training point of the predicted class, and of any other, for the rows of
        a record; positions are those of ``index_``.
        """
        return self.index_.nearest(self._queries(record), record.predicted)

    def explain_rows(self, P: ArrayLike, *, X: Any) -> NearestRows:
        """Explain the score of each row by its nearest training rows.

        Parameters
        ----------
        P : (n, K), or (n,) for binary
        X : (n, ...) features

        Returns
        -------
        NearestRows
            The separation and zone of each row, and the distance and position of the nearest
            training row of the predicted class and of any other; ``frame()`` is a table.

        Examples
        --------
        >>> from calibrant.signals.separation import FastSeparation
        >>> reference = [[0.0], [1.0], [4.0]], [0, 0, 1]
        >>> signal = FastSeparation().fit([[0.9, 0.1]], [0], X=[[0.0]], reference=reference)
        >>> found = signal.explain_rows([[0.9, 0.1], [0.2, 0.8]], X=[[2.0], [2.0]])
        >>> found.zone.tolist(), found.other_row.tolist(), found.other_class.tolist()
        (['safe', 'dangerous'], [2, 1], [1, 0])
        """
        require_fitted(self, "index_")
        return self.explain_record(read(P, inputs=self.inputs, classes=self.classes_, X=X))

    def explain_record(self, record: Any) -> NearestRows:
        """Explain the score of each row of a record."""
        near = self.nearest_record(record)
        return NearestRows.of(self._of_nearest(near, record), near, self, record)

    def _of_nearest(self, near: Nearest, record: Any) -> np.ndarray:
        return self._score(record)
