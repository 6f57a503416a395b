"""A few rows of the made problems, rounded to numbers that every float holds, so that narrow floats are the very same data."""

from dataclasses import replace
from functools import cache

import numpy as np

from calibrant.testing.data import Problem, problem, score_problem
from calibrant.testing.regression_data import forecast_problems

__all__ = ["COARSE", "exact_forecasts", "exact_problem", "exact_scores"]

ROWS, TEST_ROWS = 40, 12
#: Numbers are whole multiples of these. Of the coarse ones, none lies as near below an edge of 5, 10 or 15 bins as bfloat16 rounds, which
#: would count it as on the edge.
FINE, COARSE, REAL_STEP = 1.0 / 64.0, 1.0 / 8.0, 1.0 / 8.0


@cache
def exact_problem(n_classes, step=FINE) -> Problem:
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


def exact_scores(domain) -> dict:
    """Scores, outcomes and weights of a map, by argument."""
    data, step = score_problem(domain), FINE if domain == "unit" else REAL_STEP
    test = data.test[:: len(data.test) // TEST_ROWS]
    return {
        "score": _rounded(data.score[:ROWS], step), "correct": data.correct[:ROWS], "sample_weight": 1.0 + np.arange(ROWS) % 3,
        "score_test": _rounded(test, step),
    }  # fmt: skip


def exact_forecasts(j):
    """Means, standard deviations, outcomes and weights, by argument: of one output for j = 0, of two for j = 1."""
    data = forecast_problems()[j]
    few = (data.forecast.take(slice(0, ROWS)), data.y[:ROWS], data.test.take(slice(0, TEST_ROWS)))
    arguments = {
        "mean": _rounded(few[0].mean), "std": np.maximum(_rounded(few[0].std), REAL_STEP), "y": _rounded(few[1]),
        "mean_test": _rounded(few[2].mean), "std_test": np.maximum(_rounded(few[2].std), REAL_STEP),
    }  # fmt: skip
    arguments = {name: values if values.ndim == 1 else values[:, :2] for name, values in arguments.items()}
    return arguments | {"sample_weight": 1.0 + np.arange(ROWS) % 3}
