"""Rows and arguments of a training run, and comparison of the models of folds."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn import get_config
from sklearn.utils import assert_all_finite, check_consistent_length, get_tags
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing

from calibrant._numerics.logistic import log_probabilities, softmax
from calibrant.core import arrays
from calibrant.core.arrays import ArrayLike
from calibrant.core.estimators import Explained, clone
from calibrant.core.groups import n_rows, take_optional, take_rows
from calibrant.core.model_outputs import with_weight
from calibrant.errors import InputError

__all__ = [
    "REFIT_AGREEMENT",
    "ClassifierMixin",
    "RegressorMixin",
    "TrainingRows",
    "Wrapper",
    "agreement",
    "averaged",
    "checked_rows",
    "chosen_told",
    "exponent_of",
    "fit_before_held_out",
    "fit_router",
    "routed",
]


if TYPE_CHECKING:
    # scikit-learn has no types, and a checker accepts every misspelt name below an untyped base.
    from calibrant.core.estimators import BaseEstimator

    class MetaEstimatorMixin:
        """Mixin of estimators that wrap another."""

    class ClassifierMixin:
        """Mixin of classifiers."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            """The accuracy."""
            ...

        def __sklearn_tags__(self) -> Any: ...

    class RegressorMixin:
        """Mixin of regressors."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            """The coefficient of determination."""
            ...

        def __sklearn_tags__(self) -> Any: ...

else:
    from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin


class Wrapper(Explained, MetaEstimatorMixin, BaseEstimator):
    """Base of the wrappers of a model, whose input is the model's, and whose routing is that of its
    models and of the splitter.
    """

    estimator: Any
    cv: Any
    # Groups belong to the splitter, not to the wrapper.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"groups": UNUSED}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def get_metadata_routing(self) -> Any:
        """Return the routing of fit arguments: to the wrapper itself, to the models fitted here,
        and to the splitter.
        """
        return fit_router(self, self._to_fit(), self.cv)

    def _to_fit(self) -> dict[str, Any]:
        """Return the models that ``fit`` fits, by their parameters' names."""
        return {"estimator": self.estimator}

    def _take_names(self, model: Any) -> None:
        """Store the feature attributes of the fitted model, under scikit-learn's names."""
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))


def fit_router(owner: Any, models: Any, cv: Any) -> Any:
    """Return the MetadataRouter of a wrapper whose ``fit`` fits ``models``, a dict by parameter
    name, and splits by ``cv``.
    """
    from sklearn.model_selection import (
        GroupKFold,
    )  # a local import: it takes a fifth of the import time of calibrant

    splitter = (
        cv if hasattr(cv, "split") else GroupKFold()
    )  # with a number of folds groups stay whole, so it requests them as this does
    router = MetadataRouter(owner=owner).add_self_request(owner)
    router.add(**models, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
    return router.add(
        splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split")
    )


def routed(
    owner: Any,
    models: dict[str, Any],
    weight: np.ndarray | None,
    groups: np.ndarray | None,
    fit_params: dict[str, Any],
) -> tuple[dict[str, dict[str, Any]], dict[str, np.ndarray]]:
    """Return ({parameter name: arguments of that model's fit}, arguments of the splitter's split).

    With routing enabled each receives what it requests, under its own names, and an argument that
    it neither requests nor refuses is an error. Without it, weights go to every model that accepts
    them, groups to the splitter, and all else to ``estimator``.
    """
    given = {
        name: value
        for name, value in {"sample_weight": weight, "groups": groups, **fit_params}.items()
        if value is not None
    }
    if get_config().get("enable_metadata_routing", False):
        sent = process_routing(owner, "fit", **given) if given else {}
        return {name: dict(sent.get(name, {}).get("fit", {})) for name in models}, dict(
            sent.get("splitter", {}).get("split", {})
        )
    to_models = {
        name: with_weight(model, fit_params if name == "estimator" else {}, weight)
        for name, model in models.items()
    }
    return to_models, {} if groups is None else {"groups": groups}


def checked_rows(
    owner: object, X: Any, y: Any, as_targets: Callable[..., np.ndarray]
) -> tuple[Any, np.ndarray]:
    """Return features and outcomes of one length, with at least one row, and finite outcomes read
    by ``as_targets(y, warn=True)``.
    """
    if y is None:
        raise InputError(
            f"{type(owner).__name__} requires y to be passed, but the target y is None."
        )
    X = X if hasattr(X, "__len__") or hasattr(X, "shape") else np.asarray(X)
    y = as_targets(y, warn=True)
    check_consistent_length(X, y)
    if len(y) == 0:
        raise InputError("X and y must hold rows; got 0 samples.")
    try:
        assert_all_finite(y, input_name="y")
    except ValueError as error:
        raise InputError(f"{error} Leave those rows out.") from None
    return X, y


class TrainingRows:
    """Features, outcomes and weights that are subset together; rows of weight 0 are ignored.

    Attributes
    ----------
    X : (n, ...) features of any kind
    y : (n,) or (n, d)
    weight : (n,) float64, or None
    """

    X: Any
    y: Any

    def __init__(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> None:
        self.X, self.y, self.weight = X, y, None
        weight, kept = arrays.weights(sample_weight, len(y))
        if weight is not None:
            self.weight: np.ndarray | None = np.zeros(len(y))
            self.weight[slice(None) if kept is None else kept] = weight

    def counted(self, rows: np.ndarray | None = None) -> np.ndarray:
        """Return those of the rows (default: all) with a positive weight."""
        rows = np.arange(len(self.y)) if rows is None else rows
        return rows if self.weight is None else rows[self.weight[rows] > 0.0]

    def counted_splits(
        self, splits: Sequence[tuple[np.ndarray, np.ndarray]]
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Yield pairs of rows to fit and held out, without rows of weight 0; a split that holds out
        no other row is skipped.
        """
        counted = [
            (self.counted(fit_rows), self.counted(held_out)) for fit_rows, held_out in splits
        ]
        counted = [pair for pair in counted if len(pair[1])]
        if not counted or not all(len(fit_rows) for fit_rows, _ in counted):
            raise InputError(
                "sample_weight must leave each split of cv rows to fit, and some split held-out"
                " rows; pass fewer zeros or folds."
            )
        return counted

    def X_of(self, rows: np.ndarray) -> Any:
        """Return features of some rows; the same object if these are all rows in order."""
        return (
            self.X
            if len(rows) == n_rows(self.X) and (rows == np.arange(len(rows))).all()
            else take_rows(self.X, rows)
        )

    def weight_of(self, rows: np.ndarray) -> np.ndarray | None:
        """Return weights of some rows, or None."""
        return None if self.weight is None else self.weight[rows]

    def params_of(self, rows: np.ndarray, params: dict[str, Any]) -> dict[str, Any]:
        """Return fit arguments for some rows; those with one entry a row are subset."""
        return take_optional(params, rows, len(self.y))

    def of(
        self, rows: np.ndarray, params: dict[str, Any]
    ) -> tuple[Any, np.ndarray, dict[str, Any]]:
        """Return (features, outcomes, fit arguments) of some rows."""
        return self.X_of(rows), self.y[rows], self.params_of(rows, params)

    def fitted(
        self, model: Any, rows: np.ndarray, params: dict[str, Any], target: np.ndarray | None = None
    ) -> Any:
        """Return a clone of a model, fitted to some rows, to the outcomes or to another target."""
        return clone(model).fit(
            self.X_of(rows),
            (self.y if target is None else target)[rows],
            **self.params_of(rows, params),
        )


#: At this agreement or above, the refitted model is as good as the average of the models of the
#: folds. It was chosen on 185 pairs of data and model of ``benchmarks/arena/wrappers.py``, of which
#: 62 reached it: refitting those alone changed the mean log loss over all by -.0001, refitting all
#: by +.0096.
REFIT_AGREEMENT = 0.975


def agreement(
    one: np.ndarray, other: np.ndarray, prior: np.ndarray, weight: np.ndarray | None = None
) -> float:
    r"""Compute the agreement of two models' predictions on the same rows, :math:`2 \sum a b / (\sum
    a^2 + \sum b^2)`, which is 1 if they are equal.

    ``a`` and ``b`` are the evidence of each: their log-probabilities minus those of the class
    rates. ``one`` and ``other`` are (n, K) calibrated probabilities, ``prior`` (K,) the class
    rates.
    """
    a, b = _evidence(one, prior), _evidence(other, prior)
    share = np.ones(len(a)) if weight is None else weight
    both = float(share @ (a * a + b * b).sum(axis=1))
    return 1.0 if both == 0.0 else float(share @ (2.0 * a * b).sum(axis=1)) / both


def exponent_of(agreement: float, n_models: int) -> float:
    """Return the slope of the truth against the mean of several predictions, if it is 1 against
    each of them.

    It is the ratio of two mean squares, of one prediction and of the mean, because both have the
    same product with the truth.
    """
    return n_models / (1.0 + (n_models - 1.0) * min(max(agreement, 0.0), 1.0))


def averaged(answers: Sequence[np.ndarray], prior: np.ndarray, exponent: float) -> np.ndarray:
    """Return the geometric mean (n, K) of calibrated probabilities, with their evidence beside the
    class rates raised to the exponent.
    """
    mean = np.add.reduce([_evidence(Q, prior) for Q in answers]) / len(answers)
    return softmax(np.log(prior) + exponent * mean)


def chosen_told(chosen: str, evidence: dict[str, float], n_models: int) -> str | None:
    """Describe the choice and its reason in a sentence; None if there was no choice."""
    if chosen == "given":
        return None
    if not evidence:
        return (
            "One model, fitted to all rows, because a single split, or splits in time, give no"
            " comparable models."
        )
    found = f"agree by {evidence['agreement']:.3f} on rows that one of them has not seen"
    if chosen == "refit":
        return (
            f"One model, fitted to all rows, because the models of the folds {found}"
            f" ({REFIT_AGREEMENT} or more)."
        )
    how = f"raised to the power {evidence['exponent']:.2f}"
    return (
        f"The average of the {n_models} models of the folds, {how}, because they {found} (less than"
        f" {REFIT_AGREEMENT})."
    )


def fit_before_held_out(splits: Sequence[tuple[np.ndarray, np.ndarray]]) -> bool:
    """Return whether every split fits on rows before those that it holds out, as splits
    in time do.
    """
    return all(fit_rows.max() < held_out.min() for fit_rows, held_out in splits)


def _evidence(Q: np.ndarray, prior: np.ndarray) -> np.ndarray:
    logs = log_probabilities(np.asarray(Q, dtype=np.float64)) - np.log(prior)
    return logs - logs.mean(axis=1, keepdims=True)
