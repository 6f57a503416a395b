"""Checks of the contract that are specific to regression metrics."""

from collections.abc import Callable
from typing import Any

import numpy as np

from calibrant.testing.data import forecast_problems, near, valid, value
from calibrant.testing.extremes import extreme_checks

__all__ = ["forecast_metric_checks"]


def forecast_metric_checks(metric: Any) -> list[Callable[..., Any]]:
    """The checks that apply to the metric by its declared facts."""
    return [
        check_outputs_are_independent,
        check_constant_std,
        *extreme_checks("regression metric", "forecasts", "weights"),
        *([] if metric.degree is None else [check_units]),
        *([check_proper] if metric.proper else []),
    ]


def check_outputs_are_independent(metric: Any) -> None:
    """Check that (n, d) forecasts give an array with the value of each output alone."""
    data = forecast_problems()[1]
    together = value(metric, data)
    alone = [metric(data.y[:, j], data.forecast.column(j)) for j in range(data.y.shape[1])]
    assert np.asarray(together).tolist() == alone, (
        f"several outputs: {together}, each alone: {alone}"
    )


def check_constant_std(metric: Any) -> None:
    """Check the values for a constant std, and for outcomes that equal the prediction."""
    data = forecast_problems()[0]
    valid(metric, metric(data.y, data.forecast.mean, np.ones(len(data.y))), "a constant std")
    valid(metric, metric(data.forecast.mean, data.forecast), "no error")


def check_units(metric: Any) -> None:
    """Check that a change of the unit of y scales the value by the declared power."""
    data = forecast_problems()[0]
    other = metric(1000.0 * data.y, 1000.0 * data.forecast.mean, 1000.0 * data.forecast.std)
    near(
        metric,
        other / 1000.0**metric.degree,
        value(metric, data),
        "units",
        1e-6 if getattr(metric, "cells", 0) == 0 else 0.05,
    )


def check_proper(metric: Any) -> None:
    """Check that no other normal forecast has a better expected value than the true one."""
    rng = np.random.default_rng(3)
    y = rng.normal(size=20_000)
    best = metric(y, np.full(20_000, y.mean()), np.full(20_000, y.std()))
    for shift, factor in ((0.0, 0.8), (0.0, 1.25), (0.3, 1.0), (-0.3, 1.2)):
        other = metric(y, np.full(20_000, y.mean() + shift), np.full(20_000, y.std() * factor))
        assert other > best, (
            f"declared proper, but N({shift}, {factor}) scores better than the truth: {other}"
            f" and {best}"
        )
