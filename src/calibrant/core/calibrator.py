"""Templates of calibrators: the base for every kind of prediction, which learns from a record and
recalibrates its rows, and that of class probabilities with its validation, fit, prediction and
export. Properties of methods are data, which tests, documentation tables and the command line read.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, ClassVar, Literal, Self, TypeVar, cast

import numpy as np

from calibrant._numerics.logistic import ZERO_FLOOR, share_rest
from calibrant.core.arrays import ArrayLike, column_names, text_names
from calibrant.core.compiled import Compiled
from calibrant.core.domain import Domain
from calibrant.core.estimators import (
    BaseEstimator,
    Exampled,
    Explained,
    Listed,
    one_blas_thread,
    require_valid,
    trial,
    trial_options,
    trial_rows,
)
from calibrant.core.expression import Expression, SymbolicRecord, symbolic
from calibrant.core.given import Inputs
from calibrant.core.group_levels import GroupLevels
from calibrant.core.labels import soft_refused
from calibrant.core.predictions import PLURALS, Predictions, read
from calibrant.core.reading import CLASSIFICATION
from calibrant.core.saving import Saved
from calibrant.errors import InputError, NotFittedError

__all__ = [
    "Calibrator",
    "DomainCalibrator",
    "MapTags",
    "Promises",
    "SignalTags",
    "Tags",
    "of_predictions",
    "require_fitted",
]


@dataclass(frozen=True)
class Tags:
    """Properties of a calibrator.

    Attributes
    ----------
    output : "probability" calibrates whole vectors, "confidence" the top label, "distribution" is
        regression.
    keeps_argmax : the predicted label never changes.
    random : depends on ``random_state``.
    uses_features, needs_reference : takes ``X=``; cannot fit without ``reference=``.
    may_use_features : takes optional ``X=`` and ``reference=``.
    uses_groups : requires ``groups=``; an automatic choice tries it only if they are passed.
    may_use_groups : takes optional ``groups=``.
    for_features_or_groups : needs neither, but is useful only with one of them: lists and automatic
        choices offer it only then.
    binary_only : accepts two classes only.
    soft_labels : its weighted fit takes soft labels.
    label : the name shown in tables.
    row_tolerance : how far the prediction of a row may depend on the other rows; 0 means bitwise
        independence.
    exceptions : contract checks that do not apply, each with the reason.

    See Also
    --------
    MapTags, SignalTags : the same for maps and signals.
    """

    output: Literal["probability", "confidence", "distribution"] = "probability"
    keeps_argmax: bool = False
    random: bool = False
    uses_features: bool = False
    needs_reference: bool = False
    may_use_features: bool = False
    uses_groups: bool = False
    may_use_groups: bool = False
    for_features_or_groups: bool = False
    binary_only: bool = False
    soft_labels: bool = False
    label: str = ""
    row_tolerance: float = 0.0
    exceptions: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def takes_features(self) -> bool:
        """Whether it accepts ``X=``, required or not."""
        return self.uses_features or self.may_use_features

    @property
    def takes_groups(self) -> bool:
        """Whether it accepts ``groups=``, required or not."""
        return self.uses_groups or self.may_use_groups

    def suits(self, given: Collection[str]) -> bool:
        """Whether it suits rows with these arguments, of "X", "reference" and "groups".

        Examples
        --------
        >>> Tags(uses_groups=True).suits(["X"]), Tags(for_features_or_groups=True).suits(["X"])
        (False, True)
        """
        needs = {
            "X": self.uses_features,
            "reference": self.needs_reference,
            "groups": self.uses_groups,
        }
        either = not self.for_features_or_groups or "X" in given or "groups" in given
        return either and all(name in given for name, needed in needs.items() if needed)


@dataclass(frozen=True)
class MapTags:
    """Properties of a map.

    Attributes
    ----------
    domain : "unit" takes scores in [0, 1] only, "real" takes any finite score.
    monotone : P(correct) never falls as the score rises.
    smooth : a curve of a few coefficients, for which near scores may be merged.
    soft_labels : its fit takes shares of raters (:class:`SoftLabels`) for outcomes.
    random : depends on ``random_state``.
    label : the name shown in tables.
    exceptions : contract checks that do not apply, each with the reason.

    See Also
    --------
    Tags, SignalTags : the same for calibrators and signals.
    """

    domain: Literal["unit", "real"] = "real"
    monotone: bool = False
    smooth: bool = False
    soft_labels: bool = False
    random: bool = False
    label: str = ""
    exceptions: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class SignalTags:
    """Properties of a signal.

    Attributes
    ----------
    domain : range of its scores, "unit" [0, 1] or "real".
    random : depends on ``random_state``.
    uses_features, needs_reference : takes ``X=``; cannot be fitted without ``reference=``.
    exceptions : contract checks that do not apply, each with the reason.

    See Also
    --------
    Tags, MapTags : the same for calibrators and maps.
    """

    domain: Literal["unit", "real"] = "unit"
    random: bool = False
    uses_features: bool = False
    needs_reference: bool = False
    exceptions: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Promises:
    """Properties of a measure of calibration, each "yes", "no" or "partly".

    Attributes
    ----------
    truthful : in expectation no forecaster gains by reporting anything but the true probabilities.
    testable : it can be estimated from a sample, however many distinct probabilities there are.
    actionable : a small value bounds what decision makers lose by trusting the probabilities.
    regret : the bound, in a few words.

    See Also
    --------
    Tags, MapTags, SignalTags : the facts of calibrators, maps and signals.
    """

    truthful: Literal["yes", "no", "partly"]
    testable: Literal["yes", "no", "partly"]
    actionable: Literal["yes", "no", "partly"]
    regret: str


# -- Calibrators of any kind of prediction ---------------------------------------------------------

Fit = TypeVar("Fit", bound=Callable[..., Any])


def of_predictions(fit: Fit) -> Fit:
    """Decorate ``fit``, so that a model or a third argument is refused in one sentence."""

    @wraps(fit)
    def checked(self: Any, *arguments: Any, **options: Any) -> Any:
        of_model = bool(arguments) and hasattr(arguments[0], "predict")
        if of_model or len(arguments) > 2:
            raise InputError(
                f"{type(self).__name__}.fit takes predictions and outcomes, and other arguments by"
                f" name; got {', '.join(type(one).__name__ for one in arguments)}; "
                + (
                    "pass the model's predictions of held-out rows, or use CalibratedClassifier."
                    if of_model
                    else "name the others."
                )
            )
        return fit(self, *arguments, **options)

    return cast(Fit, checked)


class DomainCalibrator(Exampled, Listed, Explained, Saved, BaseEstimator, ABC):
    """Base of the calibrators of a domain.

    ``fit`` and ``predict`` validate their input into a record of the domain. A constructor only
    stores its arguments; ``fit_record`` stores learned parameters in attributes that end in ``_``,
    including ``status_``.

    See Also
    --------
    Calibrator, RegressionCalibrator : those of classes and of forecasts.
    """

    domain: ClassVar[Domain]
    tags: ClassVar[Tags] = Tags()
    status_: str
    #: Names of the columns of groups, if they had names in the fit.
    group_names_: list[str] | None = None
    #: Names of the features, if they had names in the fit.
    feature_names_: list[str] | None = None

    @abstractmethod
    def fit_record(self, record: Any) -> Self:
        """Fit on a record."""

    def fit_out_of_fold(self, record: Any) -> Any:
        """Fit on a record, and return the predictions of its rows out of the folds of this fit,
        with the rows' folds (n,) and the origin of the predictions; None without such folds.
        """
        return None

    @abstractmethod
    def predict_record(self, record: Any) -> Any:
        """Predictions for the rows of a record, in the form that its ``recalibrated`` takes."""


# -- Calibrators of class probabilities ------------------------------------------------------------


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
