"""What perfect error bars would show on the same rows, by chance alone."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from calibrant import metrics
from calibrant._kernels.bootstrap import score_drawer
from calibrant.forecasts.normal import NormalForecast
from calibrant.reporting.chance import Chance

if TYPE_CHECKING:
    from calibrant.reporting.regression.states import ForecastSeen

__all__ = ["chance_errors"]

#: Draws of outcomes from forecasts that are not normal, and rows times draws that they may cost.
DRAWS, BUDGET = 200, 2e7
LEVELS_DRAWS = 2000


def chance_errors(seen: "ForecastSeen", *, level: float = 0.975, random_state: int = 0) -> dict[str, Chance]:
    """ENCE and interval calibration error where every outcome is drawn from its own forecast, by key; "high" is the ``level`` quantile.

    Outcomes of a cluster of rows are drawn as alike as their normal scores are.
    """
    found = {"ence": _ence(seen, level, random_state), "interval_calibration_error": _interval_error(seen, level, random_state)}
    return {key: Chance(value, mean, high, beyond=bool(value > high)) for key, (value, mean, high) in found.items()}


def _ence(seen, level, random_state):
    metric, record = metrics.expected_normalized_calibration_error, seen.rows
    observed = float(metric.finalise(seen.mass[metric.n_bins][1]))
    if isinstance(record.forecast, NormalForecast) and record.cluster is None:
        null = metric.null_of(record, level=level, random_state=random_state)
        return observed, null.value, null.high
    drawn = [metric.of(replace(record, y=record.forecast.at(z[:, None])[:, 0])) for z in _scores(record, DRAWS, random_state)]
    return observed, float(np.mean(drawn)), float(np.quantile(drawn, level))


def _scores(record, draws, random_state):
    """Normal scores (n,) of outcomes of honest forecasts, as often as the rows allow; in a cluster as alike as those seen."""
    rng = np.random.default_rng(random_state)
    draw = score_drawer(record.score, record.cluster)
    return (draw(rng) for _ in range(int(np.clip(BUDGET / len(record), 40, draws))))


def _interval_error(seen, level, random_state):
    """The probabilities of honest forecasts are uniform, whatever their form: counts between the levels are multinomial."""
    metric, counts = metrics.interval_calibration_error, seen.counts
    if seen.rows.cluster is not None:
        shown = replace(seen.rows, forecast=NormalForecast(np.zeros(len(seen.rows)), np.ones(len(seen.rows))))
        drawn = np.array([metric.of(replace(shown, y=z)) for z in _scores(seen.rows, DRAWS, random_state)])
        return float(metric.finalise(counts.interval_error)), float(drawn.mean()), float(np.quantile(drawn, level))
    n, cells = max(round(float(counts.total[0])), 1), metric.n_levels - 1
    fell = np.random.default_rng(random_state).multinomial(n, np.full(cells, 1.0 / cells), size=LEVELS_DRAWS)
    held = np.concatenate([np.zeros((LEVELS_DRAWS, 1)), fell.cumsum(axis=1) / n], axis=1)
    drawn = np.abs(held - metric.levels).mean(axis=1)
    return float(metric.finalise(counts.interval_error)), float(drawn.mean()), float(np.quantile(drawn, level))
