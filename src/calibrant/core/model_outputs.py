"""Fitting of scikit-learn models, and their predictions in the column order of all classes."""

import inspect
from typing import Any

import numpy as np

from calibrant._numerics.logistic import log_softmax
from calibrant.core.arrays import ArrayLike, to_array
from calibrant.core.estimators import BaseEstimator, clone
from calibrant.core.forecast import NormalForecast
from calibrant.core.forecast_record import as_forecast
from calibrant.errors import InputError, warn

__all__ = [
    "fit_model",
    "is_fitted",
    "kind_of_output",
    "model_forecast",
    "model_output",
    "one_or_several",
    "takes_in_fit",
    "with_weight",
]


def is_fitted(model: Any) -> bool:
    """Return whether the model can predict now: frozen, fitted, or a predictor with known classes
    that needs no fit.
    """
    if not hasattr(model, "fit"):
        return True
    if isinstance(model, BaseEstimator):
        return any(name.endswith("_") for name in vars(model))
    from sklearn.exceptions import NotFittedError
    from sklearn.frozen import FrozenEstimator
    from sklearn.utils import get_tags
    from sklearn.utils.validation import check_is_fitted

    if isinstance(model, FrozenEstimator):
        return True
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    # A Gaussian process for regression predicts from its prior before any fit, so it counts as
    # fitted only if it has learned something.
    return get_tags(model).requires_fit or any(name.endswith("_") for name in vars(model))


def kind_of_output(model: Any, wanted: str) -> str:
    """Return ("predict_proba", "probability") or ("decision_function", "logit"): the requested one
    if the model has both, else the one it has.
    """
    has = {
        "probability": hasattr(model, "predict_proba"),
        "logit": hasattr(model, "decision_function"),
    }
    kind = wanted if has[wanted] else ("logit" if wanted == "probability" else "probability")
    if not has[kind]:
        raise InputError(
            f"model must have predict_proba or decision_function; {type(model).__name__} has"
            " neither."
        )
    return kind


def takes_in_fit(model: Any, name: str) -> bool:
    """Return whether the model's ``fit`` has an argument of this name."""
    return _takes(getattr(model, "fit", None), name)


def with_weight(
    model: Any, fit_params: dict[str, Any], sample_weight: ArrayLike | None
) -> dict[str, Any]:
    """Return fit arguments with the weights under the name that the model, or the last step of a
    pipeline, reads.
    """
    if sample_weight is None:
        return fit_params
    if takes_in_fit(model, "sample_weight"):
        return {**fit_params, "sample_weight": sample_weight}
    steps = getattr(model, "steps", None)
    if steps and takes_in_fit(steps[-1][1], "sample_weight"):
        return {**fit_params, f"{steps[-1][0]}__sample_weight": sample_weight}
    warn(
        f"{type(model).__name__}.fit has no sample_weight: the model is fitted without the"
        " weights, the calibrator with them.",
    )
    return fit_params


def fit_model(model: Any, X: Any, y: np.ndarray, fit_params: dict[str, Any]) -> Any:
    """Return a fitted clone; if only one class is left in the rows, it is a model that always
    predicts that class.
    """
    if len(np.unique(y)) < 2:
        from sklearn.dummy import DummyClassifier

        return DummyClassifier(strategy="prior").fit(np.zeros((len(y), 1)), y)
    return clone(model).fit(X, y, **fit_params)


def model_output(
    model: Any, X: Any, kind: str, classes: np.ndarray, prior: np.ndarray | None
) -> np.ndarray:
    """Return (n, K) probabilities or logits over ``classes``.

    A class absent from the model's fit keeps its ``prior`` share, and the model's own classes share
    the rest.
    """
    values = model.predict_proba(X) if kind == "probability" else model.decision_function(X)
    if isinstance(values, list):
        raise InputError(
            f"model must predict one label a row; {type(model).__name__} predicts several;"
            " calibrate each output separately."
        )
    values = to_array(values, "the model's output")
    if kind == "logit" and values.ndim == 1:
        values = np.column_stack([np.zeros(len(values)), values])
    position = {c: j for j, c in enumerate(classes.tolist())}
    columns = np.array([position[c] for c in np.asarray(model.classes_).tolist()])
    if values.ndim != 2 or values.shape[1] != len(columns):
        raise InputError(
            f"{type(model).__name__} must return one column for each of its {len(columns)}"
            f" classes; got shape {values.shape}; for support vector machines use"
            ' decision_function_shape="ovr".'
        )
    if len(columns) == len(classes):
        out = np.empty_like(values)
        out[:, columns] = values
        return out
    return _with_prior(values, kind, columns, prior)


def _with_prior(
    values: np.ndarray, kind: str, columns: np.ndarray, prior: np.ndarray
) -> np.ndarray:
    missing = np.setdiff1d(np.arange(len(prior)), columns)
    rest = 1.0 - prior[missing].sum()
    out = np.empty((len(values), len(prior)))
    if kind == "probability":
        out[:, columns] = values * rest
        out[:, missing] = prior[missing]
    else:
        out[:, columns] = log_softmax(values.astype(np.float64)) + np.log(rest)
        out[:, missing] = np.log(prior[missing])
    return out


def model_forecast(model: Any, X: Any) -> Any:
    """Return a fitted regressor's predictions: a Forecast, or plain means, (n,) or (n, d), if it
    has only these.
    """
    if hasattr(model, "predict_distribution"):
        return as_forecast(model.predict_distribution(X))
    if _takes(model.predict, "return_std"):
        return NormalForecast(*model.predict(X, return_std=True))
    out = model.predict(X)
    if isinstance(out, tuple):
        return as_forecast(out)
    return one_or_several(out).astype(np.float64)


def one_or_several(values: np.ndarray, warn: bool = False) -> np.ndarray:
    """Return (n,) for one output (a single column is flattened, optionally with scikit-learn's
    warning), (n, d) for several.
    """
    values = np.asarray(values)
    if values.ndim == 2 and values.shape[1] > 1:
        return values
    from sklearn.utils import column_or_1d

    return column_or_1d(values, warn=warn)


def _takes(function: Any, name: str) -> bool:
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
