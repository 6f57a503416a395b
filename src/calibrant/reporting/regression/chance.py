"""What perfect error bars would show on the same rows, by chance alone."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from calibrant import metrics
from calibrant.forecasts.normal import NormalForecast
from calibrant.reporting.chance import Chance

if TYPE_CHECKING:
    from calibrant.forecasts.read import ForecastRecord

__all__ = ["chance_errors"]

#: Draws of outcomes from forecasts that are not normal, and rows times draws that they may cost.
DRAWS, BUDGET = 200, 2e7
LEVELS_DRAWS = 2000


def chance_errors(record: "ForecastRecord", *, level: float = 0.975, random_state: int = 0) -> dict[str, Chance]:
    """ENCE and interval calibration error where every outcome is drawn from its own forecast, by key; "high" is the ``level`` quantile."""
    found = {"ence": _ence(record, level, random_state), "interval_calibration_error": _interval_error(record, level, random_state)}
    return {key: Chance(seen, mean, high, beyond=bool(seen > high)) for key, (seen, mean, high) in found.items()}


def _ence(record, level, random_state):
    metric = metrics.expected_normalized_calibration_error
    observed = float(metric.of(record))
    if isinstance(record.forecast, NormalForecast):
        null = metric.null_of(record, level=level, random_state=random_state)
        return observed, null.value, null.high
    rng = np.random.default_rng(random_state)
    draws = int(np.clip(BUDGET / len(record), 40, DRAWS))
    drawn = [metric.of(replace(record, y=_outcome(record.forecast, rng))) for _ in range(draws)]
    return observed, float(np.mean(drawn)), float(np.quantile(drawn, level))


def _outcome(forecast, rng):
    return forecast.at(rng.standard_normal((*forecast.shape, 1)))[..., 0]


def _interval_error(record, level, random_state):
    """The probabilities of honest forecasts are uniform, whatever their form: counts between the levels are multinomial."""
    metric = metrics.interval_calibration_error
    n, cells = max(round(float(record.weights.sum())), 1), metric.n_levels - 1
    counts = np.random.default_rng(random_state).multinomial(n, np.full(cells, 1.0 / cells), size=LEVELS_DRAWS)
    seen = np.concatenate([np.zeros((LEVELS_DRAWS, 1)), counts.cumsum(axis=1) / n], axis=1)
    drawn = np.abs(seen - metric.levels).mean(axis=1)
    return float(metric.of(record)), float(drawn.mean()), float(np.quantile(drawn, level))
