"""The measures of a forecast: the paper's two criteria, how much the std vary, and whether they
have to do with the true ones.
"""

import numpy as np
from benchmarks.papers.regression.methods import METHODS, forecast
from scipy import stats

from calibrant import metrics

#: Rows of the CRPS, which is computed from 400 quantiles a row.
CRPS_ROWS = 5_000


def judge(y, forecast, true_std):
    """Name -> number. The interval error is the mean gap between claimed and seen coverage at
    100 levels; ENCE has ten bins.
    """
    ence, mean, std = metrics.expected_normalized_calibration_error, forecast.mean, forecast.std
    few = slice(0, CRPS_ROWS)
    return {
        "interval error": metrics.interval_calibration_error(y, forecast),
        "ENCE": ence(y, mean, std),
        "null 95 %": ence.null(mean, std, n_draws=400).high,
        "c_v": metrics.coefficient_of_variation(y, mean, std),
        "rank correlation": float(stats.spearmanr(std, true_std).statistic),
        "CRPS": metrics.continuous_ranked_probability_score(y[few], forecast.take(few)),
    }


def judged(problem, methods=METHODS):
    """Method -> measures, for one output; output -> method -> measures, for several."""
    _, _, y, true_std = problem.test
    forecasts = {name: forecast(name, problem) for name in methods}
    if y.ndim == 1:
        return {name: judge(y, f, true_std) for name, f in forecasts.items()}
    return [
        {name: judge(y[:, j], f.column(j), true_std[:, j]) for name, f in forecasts.items()}
        for j in range(y.shape[1])
    ]


def averaged(tables):
    """The mean of several tables of the same form."""
    return {
        name: {k: float(np.mean([t[name][k] for t in tables])) for k in row}
        for name, row in tables[0].items()
    }
