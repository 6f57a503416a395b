"""What was said and what was true, read as the metrics ask: probabilities for classification, forecasts for regression."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant.arrays import to_array
from calibrant.errors import InputError
from calibrant.forecasts.read import ForecastRecord, is_forecast, read_forecast
from calibrant.predictions import Predictions, read

__all__ = ["read_for", "read_labelled"]


def read_for(
    metrics: Sequence[Any], y_true: Any, P: Any, std: Any = None, sample_weight: Any = None, classes: Any = None,
    inputs: str = "probability", check_values: bool = True,
) -> Any:  # fmt: skip
    """The one record that all these metrics read.

    Parameters
    ----------
    metrics : list of Metric, all of one task
    y_true, P, std, sample_weight, classes, inputs
        As for a metric.
    check_values : bool, default True
        False leaves the check of probabilities to the first pass over the record's blocks.

    Returns
    -------
    Predictions or ForecastRecord

    Raises
    ------
    InputError
        For metrics of several tasks, arguments of another task, and what the doors refuse.
    """
    tasks = {metric.task for metric in metrics}
    if len(tasks) != 1:
        raise InputError(f"metrics must be of one task; got {sorted(tasks) or 'none'}; call once for each task.")
    return READERS[tasks.pop()](metrics, y_true, P, std, sample_weight, classes, inputs, check_values)


def read_labelled(
    y_true: ArrayLike, P: Any, *, sample_weight: ArrayLike | None = None, classes: ArrayLike | None = None, inputs: str = "probability",
    check_values: bool = True,
) -> Predictions:  # fmt: skip
    """A record of predictions of classes that must have their labels; arguments in the order of metrics."""
    record = read(P, y_true, sample_weight=sample_weight, classes=classes, inputs=inputs, check_values=check_values)
    if record.labels is None:
        raise InputError("y_true must be the true labels, one a row; got None.")
    return record


def _classes(metrics, y_true, P, std, sample_weight, classes, inputs, check_values) -> Predictions:
    if std is not None:
        raise InputError("std is of regression; leave it out for classification metrics.")
    return read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs, check_values=check_values)


def _numbers(metrics, y_true, P, std, sample_weight, classes, inputs, check_values) -> ForecastRecord:
    if classes is not None or inputs != "probability":
        raise InputError("classes= and inputs= are of classification; leave them out for regression metrics.")
    pair = isinstance(P, tuple) and len(P) == 2 and np.ndim(P[0]) > 0
    if std is None and not pair and not is_forecast(P) and not any(metric.needs_std for metric in metrics):
        # No number depends on the spread: any will do.
        std = np.ones(to_array(P, "mean").shape)
    if y_true is None:
        raise InputError("y_true must be the outcomes, of the shape of the forecast; got None.")
    return read_forecast(P, std, y_true, sample_weight=sample_weight)


READERS: dict[Any, Any] = {"classification": _classes, "regression": _numbers}
