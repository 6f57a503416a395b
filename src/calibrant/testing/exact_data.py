"""A few rows of the made problems, rounded to numbers that every float holds, so that narrow floats are the very same data."""

from dataclasses import replace
from functools import cache

import numpy as np

from calibrant.forecasts.normal import NormalForecast
from calibrant.testing.data import ForecastProblem, Problem, ScoreProblem, forecast_problems, problem, score_problem

__all__ = ["COARSE", "exact_forecasts", "exact_problem", "exact_scores"]

ROWS, TEST_ROWS = 40, 12
#: Numbers are whole multiples of these. Of the coarse ones, none lies as near below an edge of 5, 10 or 15 bins as bfloat16 rounds, which
#: would count it as on the edge.
FINE, COARSE, REAL_STEP = 1.0 / 64.0, 1.0 / 8.0, 1.0 / 8.0


@cache
def exact_problem(n_classes: int, step: float = FINE) -> Problem:
    """The ordinary problem, with weights from 1 to 3."""
    data = problem(n_classes).take(slice(0, ROWS))
    P, P_test = _exact(data.P, step), _exact(data.P_test[:TEST_ROWS], step)
    rounded = {name: _rounded(getattr(data, name)) for name in ("X", "X_test")}
    logits = {"logits": _rounded(np.log(P)), "logits_test": _rounded(np.log(P_test))}
    reference = _rounded(data.reference[0][:ROWS]), data.reference[1][:ROWS]
    rounded["X_test"] = rounded["X_test"][:TEST_ROWS]
    return replace(data, P_override=P, P_test_override=P_test, reference=reference, weight=1.0 + np.arange(ROWS) % 3, **rounded, **logits)


def _rounded(values, step=REAL_STEP):
    return np.round(values / step) * step


def _exact(P, step):
    steps = round(1.0 / step)
    counts = 1.0 + np.floor(P * (steps - P.shape[1]))
    counts[np.arange(len(P)), P.argmax(axis=1)] += steps - counts.sum(axis=1)
    return counts / steps


def exact_scores(domain: str) -> ScoreProblem:
    """The scores for maps, with weights from 1 to 3."""
    data, step = score_problem(domain), FINE if domain == "unit" else REAL_STEP
    test = _rounded(data.test[:: len(data.test) // TEST_ROWS], step)
    return replace(data.take(slice(0, ROWS)), score=_rounded(data.score[:ROWS], step), weight=1.0 + np.arange(ROWS) % 3, test=test)


def exact_forecasts(j: int) -> ForecastProblem:
    """Normal forecasts, with weights from 1 to 3: of one output for j = 0, of two for j = 1; the outcomes to predict are 0."""
    data = forecast_problems()[j].take(slice(0, ROWS)).only(slice(0, TEST_ROWS))
    forecast, test = (_exact_forecast(each) for each in (data.forecast, data.test))
    y, weight = _rounded(data.y)[..., :2] if j else _rounded(data.y), 1.0 + np.arange(ROWS) % 3
    return replace(data, forecast=forecast, test=test, y=y, weight=weight, y_test=np.zeros(test.shape))


def _exact_forecast(forecast):
    mean, std = _rounded(forecast.mean), np.maximum(_rounded(forecast.std), REAL_STEP)
    return NormalForecast(mean, std) if mean.ndim == 1 else NormalForecast(mean[:, :2], std[:, :2])
