"""How a metric of each task is given a made problem."""

from typing import Any

import numpy as np

from calibrant.testing.data import forecast_problems, problems

__all__ = ["kind_of", "near", "ordinary", "valid", "value"]


def kind_of(metric: Any) -> str:
    """ "metric", or "regression metric"."""
    return "metric" if metric.task == "classification" else "regression metric"


def ordinary(metric: Any) -> list[Any]:
    """The made problems that the metric accepts, of one output."""
    if metric.task == "classification":
        return problems(binary_only=metric.binary_only)
    return [data for data in forecast_problems() if data.y.ndim == 1]


def value(metric: Any, data: Any, weight: np.ndarray | None = None, **options: Any) -> Any:
    """The metric's value on a problem."""
    return metric(data.y, *data.said, sample_weight=weight, **options)


def near(metric: Any, a: Any, b: Any, what: str, tolerance: float = 1e-9) -> None:
    """AssertionError unless two values agree; those of forecasts, which have a unit, relative to their size."""
    scale = 1.0 if metric.task == "classification" else 1.0 + abs(b)
    assert abs(a - b) <= tolerance * scale, f"{what}: {a!r} and {b!r}"


def valid(metric: Any, found: Any, what: str) -> None:
    """AssertionError unless it is a float in the declared range."""
    low, high = metric.range
    assert type(found) is float, f"{what}: the value is a {type(found).__name__}, not a float"
    assert np.isfinite(found), f"{what}: the value is {found}"
    assert low - 1e-12 <= found <= high + 1e-12, f"{what}: {found} is outside the declared range {metric.range}"
