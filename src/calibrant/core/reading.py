"""Validation of predictions and outcomes for metrics: probabilities for classification, forecasts
for regression.
"""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from calibrant.core.arrays import ArrayLike, to_array
from calibrant.core.domain import Domain, Record
from calibrant.core.forecast_record import ForecastRecord, is_forecast, read_forecast
from calibrant.core.given import Inputs
from calibrant.core.groups import WeightKind, clustered
from calibrant.core.labels import SoftLabels, soft_refused
from calibrant.core.metric import BaseMetric
from calibrant.core.predictions import Predictions, read
from calibrant.errors import InputError

__all__ = [
    "CLASSIFICATION",
    "REGRESSION",
    "read_clustered",
    "read_for",
    "read_labelled",
    "require_own_options",
    "shared_option",
]


def read_for(
    metrics: Sequence[BaseMetric],
    y_true: ArrayLike | None,
    P: Any,
    std: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
    check_values: bool = True,
) -> Record:
    """The record for all these metrics.

    Parameters
    ----------
    metrics : list of Metric, all of one domain
    y_true, P, std, sample_weight, classes, inputs
        As for a metric.
    check_values : bool, default True
        False defers the check of probabilities to the first pass over the record's blocks.

    Returns
    -------
    Predictions or ForecastRecord

    Raises
    ------
    InputError
        For metrics of several domains, arguments of another domain, and invalid data.
    """
    domains = {metric.domain for metric in metrics}
    if len(domains) != 1:
        found = sorted(one.name for one in domains) or "none"
        raise InputError(f"metrics must be of one task; got {found}; call once for each task.")
    domain = domains.pop()
    given: dict[str, Any] = {"std": std, "classes": classes, "inputs": inputs}
    require_own_options(domain, **given)
    options = {**given, "sample_weight": sample_weight}
    options["check_values"] = check_values
    own = {name: value for name, value in options.items() if name in domain.options}
    return domain.read(metrics, y_true, P, **own)


def require_own_options(domain: Domain, *, inputs: Inputs, **options: Any) -> None:
    """Refuse options that do not apply to a kind of prediction; those that are None are left
    out.
    """
    # An option that is an array has no truth value; reading refuses it.
    options["inputs"] = None if str(inputs) == "probability" else inputs
    for name, value in options.items():
        if value is not None and name not in domain.options:
            raise InputError(f"{name}= does not apply to {domain.predictions}; leave it out.")


def shared_option(metrics: Sequence[BaseMetric], name: str) -> Any:
    """The option that a record holds for all its metrics; those that have it must agree."""
    values = [getattr(metric, name) for metric in metrics if hasattr(metric, name)]
    if any(value is not values[0] for value in values):
        raise InputError(
            f"metrics read together must have the same {name}; got others; call once for each."
        )
    return values[0] if values else None


def read_labelled(
    y_true: ArrayLike | None,
    P: Any,
    *,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
    X: Any = None,
    reference: Any = None,
    check_values: bool = True,
    called: str = "y_true",
    soft: bool = False,
) -> Predictions:
    """A record of labelled predictions of classes, in the argument order of metrics; ``called``
    names the labels in errors.
    """
    options = {"X": X, "reference": reference, "check_values": check_values, "soft": soft}
    record = read(P, y_true, sample_weight=sample_weight, classes=classes, inputs=inputs, **options)
    if record.labels is None and record.shares is None:
        raise InputError(f"{called} must be the true labels, one per row; got None.")
    return record


def read_clustered(
    y_true: ArrayLike,
    P: Any,
    cluster: ArrayLike | None,
    weight_kind: WeightKind,
    **options: Any,
) -> Predictions:
    """A record as ``read_labelled`` reads it, with its clusters and the kind of its weights."""
    return clustered(read_labelled(y_true, P, **options), cluster, weight_kind)


def _classes(
    metrics: Sequence[BaseMetric],
    y_true: ArrayLike | None,
    P: Any,
    *,
    sample_weight: ArrayLike | None,
    classes: ArrayLike | None,
    inputs: Inputs,
    check_values: bool,
) -> Predictions:
    hard = [metric.name for metric in metrics if not metric.soft_labels]
    if isinstance(y_true, SoftLabels) and hard:
        raise soft_refused(hard[0])
    return read_labelled(
        y_true,
        P,
        sample_weight=sample_weight,
        classes=classes,
        inputs=inputs,
        check_values=check_values,
        soft=True,
    )


def _numbers(
    metrics: Sequence[BaseMetric],
    y_true: ArrayLike | None,
    P: Any,
    *,
    std: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> ForecastRecord:
    pair = isinstance(cast(object, P), tuple) and len(P) == 2 and np.ndim(P[0]) > 0
    if (
        std is None
        and not pair
        and not is_forecast(P)
        and not any(metric.needs_std for metric in metrics)
    ):
        # No metric depends on the spread: use any.
        std = np.ones(to_array(P, "mean").shape)
    if y_true is None:
        raise InputError("y_true must be the outcomes, of the shape of the forecast; got None.")
    return read_forecast(P, std, y_true, sample_weight=sample_weight)


CLASSIFICATION = Domain(
    "classification",
    "predictions of classes",
    Predictions,
    _classes,
    takes=lambda P, std: False,
    strata=True,
    seen_labels=True,
)
REGRESSION = Domain(
    "regression",
    "forecasts of a number",
    ForecastRecord,
    _numbers,
    takes=lambda P, std: std is not None or is_forecast(P),
)
