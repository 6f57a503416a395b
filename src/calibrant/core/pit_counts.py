"""Counts of probability integral transforms (PIT) of outcomes between levels."""

import numpy as np
from scipy import special

from calibrant.core.forecasts_read import ForecastRecord
from calibrant.core.quantiles import QuantileForecast, SampleForecast
from calibrant.errors import InputError

__all__ = ["PIT_LEVELS", "levels_of", "pit_counts"]

#: Levels of the PIT: the median, and the ends of central intervals of 50, 80 and 95 %.
PIT_LEVELS = (0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975)


def levels_of(forecast: object) -> np.ndarray:
    """Return the levels that separate the PIT of outcomes: those of quantile forecasts, else
    ``PIT_LEVELS``.
    """
    if isinstance(forecast, QuantileForecast) and not isinstance(forecast, SampleForecast):
        return forecast.levels
    return np.array(PIT_LEVELS)


def pit_counts(
    record: ForecastRecord, levels: np.ndarray, group: np.ndarray | None = None, n_groups: int = 1
) -> np.ndarray:
    """Count the rows of each group by the cells between levels that hold the PIT of their outcomes,
    (n_groups, C, C) with C = L + 1.

    Entry (a, b) is the weight of rows whose PIT is in cells a to b. The two differ where an outcome
    equals some of the quantiles of a :class:`QuantileForecast`, which do not determine the
    probability below it.
    probability is below it.

    Parameters
    ----------
    record : ForecastRecord of one output, with outcomes
    levels : (L,) ascending, above 0 and below 1; of a QuantileForecast its own
    group : (n,) numbers of groups, optional

    Returns
    -------
    (n_groups, C, C) float64
        Ties of samples with the outcome are split evenly, in fractions of rows.

    Examples
    --------
    >>> from calibrant.core.forecasts_read import read_forecast
    >>> levels = np.array([0.1, 0.5, 0.9])
    >>> pit_counts(read_forecast([0.0, 0.0], [1.0, 1.0], [0.5, 3.0]), levels)[0].diagonal().tolist()
    [0.0, 0.0, 1.0, 1.0]
    """
    group = np.zeros(len(record), dtype=np.intp) if group is None else group
    forecast, y, n = record.forecast, np.asarray(record.y), len(levels) + 1
    if isinstance(forecast, SampleForecast):
        return _of_samples(forecast.values, y, levels, group, n_groups, record.weights)
    if isinstance(forecast, QuantileForecast):
        if not np.array_equal(forecast.levels, levels):
            found, wanted = forecast.levels.tolist(), levels.tolist()
            raise InputError(
                f"all quantiles must be at the same levels, {wanted}; got {found}; monitor other"
                " levels separately."
            )
        below, upto = forecast.values < y[:, None], forecast.values <= y[:, None]
        first, last = below.sum(axis=-1), upto.sum(axis=-1)
    else:
        first = last = np.searchsorted(special.ndtri(levels), record.score, side="left")
    counts = np.bincount(
        (group * n + first) * n + last, weights=record.weights, minlength=n_groups * n * n
    )
    return counts.reshape(n_groups, n, n).astype(np.float64)


def _of_samples(
    samples: np.ndarray,
    y: np.ndarray,
    levels: np.ndarray,
    group: np.ndarray,
    n_groups: int,
    weight: np.ndarray,
) -> np.ndarray:
    """An outcome from the distribution of its S samples has each of S + 1 ranks with equal
    probability, and so each rank that it shares with tied samples.
    """
    ranks = np.arange(1, samples.shape[-1] + 1) / (samples.shape[-1] + 1.0)
    first, last = (samples < y[:, None]).sum(axis=-1), (samples <= y[:, None]).sum(axis=-1)
    ends = np.concatenate([[0.0], ranks, [1.0]])
    low, high = ends[first, None], ends[last + 1, None]
    edges = np.concatenate([[0.0], levels, [1.0]])
    share = np.maximum(np.minimum(high, edges[1:]) - np.maximum(low, edges[:-1]), 0.0) / (
        high - low
    )
    cells = np.zeros((n_groups, len(levels) + 1))
    np.add.at(cells, group, share * weight[:, None])
    return cells[:, None] * np.eye(len(levels) + 1)
