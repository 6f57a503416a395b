"""Templates of maps from a score to the probability of being correct, and of signals: evidence that
a prediction is right.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from calibrant._numerics.clusters import rows_by_group
from calibrant.core import arrays
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import MapTags, SignalTags, of_predictions, require_fitted
from calibrant.core.estimators import (
    BaseEstimator,
    Exampled,
    Listed,
    clone,
    one_blas_thread,
    require_valid,
    trial,
    trial_options,
    trial_rows,
)
from calibrant.core.expression import Expression, SymbolicRecord, source
from calibrant.core.given import Inputs, MapWorkspace
from calibrant.core.labels import SoftLabels, soft_refused
from calibrant.core.predictions import Predictions, read
from calibrant.core.saving import Saved
from calibrant.errors import InputError

__all__ = ["Map", "Signal", "fitted_signal"]


class Map(Exampled, Listed, Saved, BaseEstimator, ABC):
    """Base of all maps. A map implements ``_fit(score, correct, weight)`` and ``_predict(score)``
    on validated float64 arrays.

    See Also
    --------
    Platt, Spline, CenteredIsotonic : three implementations.
    OneVsRest, ConfidenceCalibrator : calibrators based on a map.
    """

    tags: ClassVar[MapTags] = MapTags()
    _workspace: MapWorkspace

    @abstractmethod
    def _fit(self, score: np.ndarray, correct: np.ndarray, weight: np.ndarray) -> None: ...

    @abstractmethod
    def _predict(self, score: np.ndarray) -> np.ndarray: ...

    @of_predictions
    def fit(
        self,
        score: ArrayLike,
        correct: ArrayLike | SoftLabels,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit on scores (n,) and outcomes (n,) of 0 and 1.

        A weight of 2 means the row twice, a weight of 0 no row. With the tag ``soft_labels``,
        outcomes may be ``SoftLabels``, (n,) shares.
        """
        score = arrays.scores(score, domain=self.tags.domain)
        soft = isinstance(correct, SoftLabels)
        if soft and not self.tags.soft_labels:
            raise soft_refused(type(self).__name__)
        n = len(score)
        hit = correct.in_order(None, n, 2)[:, 1] if soft else arrays.binary_outcomes(correct, n)
        weight, kept = arrays.weights(sample_weight, n)
        if kept is not None:
            score, hit = score[kept], hit[kept]
        if soft:
            # Each row once without the event and once with it, weighted by the shares.
            mass = np.concatenate([1.0 - hit, hit])
            mass *= 1.0 if weight is None else np.tile(weight, 2)
            some, hit = mass > 0.0, np.repeat([0.0, 1.0], len(hit))
            score, hit, weight = np.tile(score, 2)[some], hit[some], mass[some]
        return self.fit_checked(score, hit, weight)

    def fit_checked(
        self,
        score: np.ndarray,
        correct: np.ndarray,
        weight: np.ndarray | None = None,
        workspace: MapWorkspace | None = None,
    ) -> Self:
        """Fit on validated float64 scores, outcomes of 0 and 1, and positive weights or None.

        A ``workspace`` lets a search start from the last one on nearly the same rows; without one
        the fit creates its own.
        """
        self.n_fit_: float = float(len(score) if weight is None else weight.sum())
        self.status_: str = "exact"
        self._workspace = MapWorkspace() if workspace is None else workspace
        try:
            self._fit(score, correct, np.ones(len(score)) if weight is None else weight)
        finally:
            del self._workspace
        return self

    def fit_groups(
        self,
        score: np.ndarray,
        correct: np.ndarray,
        weight: np.ndarray,
        group: np.ndarray,
        n_groups: int,
    ) -> list["Map"]:
        """One fitted copy for each of the nonempty groups 0..n_groups-1 (such as predicted
        classes); a map may vectorise this.
        """
        rows = rows_by_group(group, n_groups)
        return [clone(self).fit_checked(score[own], correct[own], weight[own]) for own in rows]

    def _expression(self, score: Expression) -> Expression:
        raise InputError(
            f"{type(self).__name__} does not define its prediction as an expression; write"
            " _expression(score) beside _predict."
        )

    def express(self, score: Expression) -> Expression:
        """``predict`` of a score that is itself an expression, of width 1."""
        require_fitted(self, "n_fit_")
        return self._expression(score)

    def expression(self) -> Expression:
        """``predict`` as an expression of the score; InputError if this is impossible."""
        return self.express(source(1))

    def predict(self, score: ArrayLike) -> np.ndarray:
        """Probability of being correct, (n,) float64 in [0, 1]."""
        require_fitted(self, "n_fit_")
        score = arrays.scores(score, domain=self.tags.domain)
        with one_blas_thread(len(score)):
            return self._predict(score)

    def predict_proba(self, score: ArrayLike) -> np.ndarray:
        """Probabilities of being wrong and of being correct, (n, 2), as from every calibrator of
        two classes: ``[1 - p, p]`` with p from ``predict``.
        """
        p = self.predict(score)
        return np.column_stack([1.0 - p, p])


@trial.register
def _(map: Map) -> None:
    score = np.linspace(0.0, 1.0, 12)
    require_valid(map.predict(score), score.shape, 0.0, 1.0)


# -- Signals ---------------------------------------------------------------------------------------


class Signal(Exampled, Saved, BaseEstimator, ABC):
    """Base of all signals. A signal implements ``_score(record)``, and ``_fit(record)`` if it
    learns anything.

    See Also
    --------
    TopProbability, Margin : two implementations.
    ConfidenceCalibrator : takes a signal and a map.
    """

    tags: ClassVar[SignalTags] = SignalTags()

    def __init__(self, *, inputs: Inputs = "probability", classes: ArrayLike | None = None) -> None:
        self.inputs: Inputs = inputs
        self.classes: ArrayLike | None = classes

    def _fit(self, record: Predictions) -> None:
        """Most signals learn nothing."""

    @abstractmethod
    def _score(self, record: Predictions) -> np.ndarray: ...

    def fit(
        self,
        P: ArrayLike,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        X: Any = None,
        reference: Any = None,
    ) -> Self:
        """Fit the signal (often without parameters) on predictions, labels, features and the
        training set.
        """
        record = read(
            P,
            y,
            inputs=self.inputs,
            classes=self.classes,
            sample_weight=sample_weight,
            X=X,
            reference=reference,
        )
        return self.fit_record(record)

    def fit_record(self, record: Predictions) -> Self:
        """Fit on a record."""
        self.classes_: np.ndarray = record.classes
        self._fit(record)
        return self

    def score_record(self, record: Predictions) -> np.ndarray:
        """Score the rows of a record."""
        return self._score(record)

    def _expression(self, record: SymbolicRecord) -> Expression:
        raise InputError(
            f"{type(self).__name__} cannot be exported as an expression of the predictions; keep it"
            " in Python."
        )

    def express(self, record: SymbolicRecord) -> Expression:
        """``score`` as an expression of width 1; InputError if this is impossible."""
        return self._expression(record)

    def score(self, P: ArrayLike, *, X: Any = None) -> np.ndarray:
        """One score per row, (n,) float64; larger means more evidence that the predicted label is
        right.
        """
        return self._score(
            read(P, inputs=self.inputs, classes=getattr(self, "classes_", self.classes), X=X)
        )


@trial.register
def _(signal: Signal) -> None:
    P = trial_rows(len(signal.classes_), signal.inputs, signal.tags.uses_features)
    require_valid(signal.score(P, **trial_options(signal, len(P))), (len(P),))


def fitted_signal(signal: Signal, record: Predictions) -> Signal:
    """A copy of ``signal`` fitted on the record, for the same kind of input and classes."""
    copy = clone(signal)
    copy.inputs = record.kind
    return copy.fit_record(record)
