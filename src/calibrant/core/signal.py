"""Template of signals: evidence that a prediction is right."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant.core.estimators import BaseEstimator, Exampled, clone
from calibrant.core.expression import Expression
from calibrant.core.given import Inputs
from calibrant.core.predictions_read import read
from calibrant.core.predictions_record import Predictions
from calibrant.core.saving import Saved
from calibrant.core.symbolic import SymbolicRecord
from calibrant.core.tags import SignalTags
from calibrant.core.trial import require_valid, trial, trial_options, trial_rows
from calibrant.errors import InputError

__all__ = ["Signal", "fitted_signal"]


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
