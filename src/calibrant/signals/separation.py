"""What the separation signals share: the training points by class, in one space."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike

from calibrant.contracts.calibrator import require_fitted
from calibrant.contracts.signal import Signal
from calibrant.contracts.tags import SignalTags
from calibrant.errors import InputError
from calibrant.labels import encode_labels
from calibrant.neighbors.feature_space import FeatureSpace
from calibrant.predictions import Inputs

__all__ = ["Separation"]


class Separation(Signal):
    """Base of the separation signals: one writes ``_make_index()`` and
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
        """A copy that keeps the model or transformer it was given, which scikit-learn's own
        cloning would return unfitted.
        """
        return type(self)(**self.get_params(deep=False))

    @abstractmethod
    def _make_index(self) -> Any: ...

    @abstractmethod
    def _separation(self, queries, group): ...

    def _fit(self, record):
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
            self.index_.add(rows, labels)
        return self

    @property
    def nbytes_(self) -> int:
        """Bytes of the training set as kept, and of a transformer's arrays: what must be in
        memory, or shipped with the calibrator.
        """
        require_fitted(self, "index_")
        return self.index_.nbytes + self.space_.nbytes

    def _score(self, record):
        require_fitted(self, "index_")
        if record.X is None:
            raise InputError(
                f"{type(self).__name__} needs X=, the features of the rows of P; got None."
            )
        return self._separation(self.space_.transform(record.X), record.predicted)
