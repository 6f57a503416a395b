"""Template of calibrators of class probabilities: validation, fit, prediction and export."""

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from calibrant._numerics.logistic import ZERO_FLOOR, share_rest
from calibrant.core.arrays import ArrayLike, column_names, text_names
from calibrant.core.blas import one_blas_thread
from calibrant.core.compiled import Compiled
from calibrant.core.domain import Domain
from calibrant.core.domain_calibrator import DomainCalibrator, of_predictions
from calibrant.core.estimators import NotFittedError
from calibrant.core.expression import Expression
from calibrant.core.given import Inputs
from calibrant.core.group_levels import GroupLevels
from calibrant.core.labels import soft_refused
from calibrant.core.predictions_read import PLURALS, read
from calibrant.core.predictions_record import Predictions
from calibrant.core.reading import CLASSIFICATION
from calibrant.core.symbolic import SymbolicRecord, symbolic
from calibrant.core.trial import require_valid, trial, trial_options, trial_rows
from calibrant.errors import InputError

__all__ = ["Calibrator", "require_fitted"]


def require_fitted(estimator: object, attribute: str) -> None:
    """Raise NotFittedError, with the class and the remedy, unless ``attribute`` exists."""
    if not hasattr(estimator, attribute):
        raise NotFittedError(f"this {type(estimator).__name__} is not fitted; call fit first.")


class Calibrator(DomainCalibrator):
    """Base of all calibrators of class probabilities.

    A method implements ``_fit(record)`` and one of ``_predict_proba(record)`` and
    ``_predict_confidence(record)``, by its tag ``output``; the template validates the input and
    derives the other. Constructors only store their arguments, including ``inputs`` and
    ``classes``; ``_fit`` stores learned parameters in attributes that end in ``_``.

    See Also
    --------
    TemperatureScaling, AutoCalibrator : two implementations.
    RegressionCalibrator, Map, Signal : the other templates.
    """

    domain: ClassVar[Domain] = CLASSIFICATION
    #: Floor of probabilities in logarithms, which keeps the order at exact zeros.
    least_: float = ZERO_FLOOR

    def __init__(self, *, inputs: Inputs = "probability", classes: ArrayLike | None = None) -> None:
        self.inputs = inputs
        self.classes: ArrayLike | None = classes

    @abstractmethod
    def _fit(self, record: Predictions) -> None: ...

    @of_predictions
    def fit(
        self,
        P: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        X: Any = None,
        reference: Any = None,
        groups: Any = None,
    ) -> Self:
        """Fit on held-out predictions and the true labels.

        Parameters
        ----------
        P : (n, K), or (n,) for binary: probability of the second class
            Probabilities, or logits with ``inputs="logit"``.
        y : (n,) labels, or SoftLabels with the tag ``soft_labels``
        sample_weight : (n,), optional
            Weight 2 means the row twice, weight 0 no row.
        X : (n, ...) features of the rows, for calibrators that use them.
        reference : (X_train, y_train), for calibrators that need the model's training data.
        groups : (n,) labels, (n, c) of them, or a frame of n rows, for calibrators that use them.

        Returns
        -------
        self
        """
        beside = {"X": X, "reference": reference, "groups": groups}
        self._refuse_unused(**beside)
        options = {"inputs": self.inputs, "classes": self.classes, "sample_weight": sample_weight}
        return self.fit_record(read(P, y, **options, **beside, soft=True))

    @property
    def inputs(self) -> Inputs:
        """Kind of the numbers in P, "probability" or "logit"; plurals mean the same."""
        return vars(self).get("inputs", "probability")

    @inputs.setter
    def inputs(self, value: Any) -> None:
        vars(self)["inputs"] = PLURALS.get(value, value) if isinstance(value, str) else value

    def fit_record(self, record: Predictions) -> Self:
        """Fit on a record.

        Soft labels become rows of one label each, weighted by the shares.
        """
        if record.shares is not None:
            if not self.tags.soft_labels:
                raise soft_refused(type(self).__name__)
            record = record.one_label_each()[0]
        self._begin(record)
        self._fit(record.above(self.least_))
        return self

    def predict_record(self, record: Predictions) -> np.ndarray:
        """Calibrated probabilities of a record, (n, K)."""
        with one_blas_thread(len(record) * record.n_classes):
            return self._proba(self._ready(record))

    def confidence_record(self, record: Predictions) -> np.ndarray:
        """Calibrated confidence of a record, (n,)."""
        with one_blas_thread(len(record) * record.n_classes):
            return self._confidence(self._ready(record))

    def _expression(self, record: SymbolicRecord) -> Expression:
        """``_predict_proba`` (or, by the tag ``output``, ``_predict_confidence``) in symbols."""
        raise InputError(
            f"{type(self).__name__} cannot be exported as an expression of the predictions; keep it"
            " in Python."
        )

    def express(self, record: SymbolicRecord) -> Expression:
        """``predict_record`` of a symbolic record; InputError if this is impossible."""
        require_fitted(self, "classes_")
        own = self._expression(record.above(self.least_))
        return own if self.tags.output == "probability" else record.with_confidence(own)

    def expression(self) -> Expression:
        """``predict_proba`` as an expression of P with shape (n, K), for export; InputError if this
        is impossible.

        With groups the shape is (n, K + c): P is followed by the positions of the rows' levels,
        ``group_levels().codes(groups)``.
        """
        require_fitted(self, "classes_")
        levels = self.group_levels()
        return self.express(
            symbolic(len(self.classes_), self.inputs, 0 if levels is None else len(levels.names))
        )

    def group_levels(self) -> GroupLevels | None:
        """The levels of the columns of groups in its expression; None if it uses none."""
        return None

    def unseen_rows(self, groups: Any) -> dict[str, int]:
        """Count the rows with an unseen level, or an unseen missing value, by column of groups.

        Such a row gets the effects of its other columns, or the overall calibrated risk if there
        are none.

        Parameters
        ----------
        groups : as in predict_proba

        Returns
        -------
        dict
            Number of rows by the name of the column; empty for a calibrator that uses no groups.
        """
        require_fitted(self, "classes_")
        return {}

    def compile(self) -> Compiled:
        """``predict_proba`` without its checks, for serving: a function of P with shape (n, K)."""
        return Compiled(self.expression())

    def _ready(self, record: Predictions) -> Predictions:
        """The record, after checks that this is fitted and that all arguments are present."""
        require_fitted(self, "classes_")
        self._require_given(record)
        return record.above(self.least_)

    def _require_given(self, record: Predictions) -> None:
        name, tags = type(self).__name__, self.tags
        if tags.uses_features and record.X is None:
            raise InputError(f"{name} needs X=, the features of the rows of P; got None.")
        if tags.uses_groups and record.groups is None:
            raise InputError(f"{name} needs groups=, the groups of the rows of P; got None.")

    def _begin(self, record: Predictions) -> None:
        """Checks before ``_fit``."""
        tags, name = self.tags, type(self).__name__
        if tags.needs_reference and record.reference is None:
            raise InputError(
                f"{name} needs reference=(X_train, y_train), the model's own training data; got"
                " None."
            )
        self._require_given(record)
        if record.labels is None:
            raise InputError("y must be the true labels, one per row; got None.")
        if tags.binary_only and record.n_classes != 2:
            raise InputError(
                f"{name} takes two classes; got {record.n_classes}; wrap it: OneVsRest({name}())."
            )
        if tags.takes_groups:
            names = None if record.groups is None else column_names(record.groups, "groups")
            self.group_names_: list[str] | None = (
                None if names is None else [str(name) for name in names]
            )
        if tags.takes_features:
            self.feature_names_: list[str] | None = (
                None if record.X is None else text_names(record.X, "X")
            )
        self.classes_: np.ndarray = record.classes
        self.least_ = record.smallest if record.least is None else record.least
        self.status_: str = "exact"

    def _refuse_unused(self, **given: object) -> None:
        for name, value in given.items():
            if value is not None and not (
                self.tags.takes_groups if name == "groups" else self.tags.takes_features
            ):
                raise InputError(f"{type(self).__name__} does not use {name}; leave it out.")

    def _read(self, P: ArrayLike, X: Any = None, groups: Any = None) -> Predictions:
        require_fitted(self, "classes_")
        self._refuse_unused(X=X, groups=groups)
        return read(P, inputs=self.inputs, classes=self.classes_, X=X, groups=groups)

    def predict_proba(self, P: ArrayLike, *, X: Any = None, groups: Any = None) -> np.ndarray:
        """Calibrated class probabilities, (n, K) float64, rows summing to 1."""
        return self.predict_record(self._read(P, X, groups))

    def predict_confidence(self, P: ArrayLike, *, X: Any = None, groups: Any = None) -> np.ndarray:
        """Probability that the model's own label (argmax of P) is right, (n,) float64."""
        return self.confidence_record(self._read(P, X, groups))

    def predict(self, P: ArrayLike, *, X: Any = None, groups: Any = None) -> np.ndarray:
        """The class of the largest calibrated probability, (n,)."""
        best = self.predict_proba(P, X=X, groups=groups).argmax(axis=1)
        return self.classes_[best]

    def _proba(self, record: Predictions) -> np.ndarray:
        if self.tags.output == "probability":
            return self._predict_proba(record)
        return share_rest(record.probabilities, record.predicted, self._predict_confidence(record))

    def _confidence(self, record: Predictions) -> np.ndarray:
        if self.tags.output == "confidence":
            return self._predict_confidence(record)
        return self._predict_proba(record)[np.arange(len(record)), record.predicted]

    def _predict_proba(self, record: Predictions) -> np.ndarray:
        raise TypeError(
            f"{type(self).__name__} must implement _predict_proba for output='probability'."
        )

    def _predict_confidence(self, record: Predictions) -> np.ndarray:
        raise TypeError(
            f"{type(self).__name__} must implement _predict_confidence for output='confidence'."
        )


@trial.register
def _(calibrator: Calibrator) -> None:
    P = trial_rows(len(calibrator.classes_), calibrator.inputs, calibrator.tags.uses_features)
    features = trial_options(calibrator, len(P))
    require_valid(calibrator.predict_proba(P, **features), P.shape, 0.0, 1.0)
    require_valid(calibrator.predict_confidence(P, **features), (len(P),), 0.0, 1.0)
