"""The kernel of regression: Arrow batches of (mean, std, outcome), or of quantiles and outcome, in, sums by slice out."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from calibrant.forecasts.normal import NormalForecast
from calibrant.forecasts.pit_counts import PIT_LEVELS, pit_counts
from calibrant.forecasts.quantiles import QuantileForecast
from calibrant.forecasts.read import read_forecast
from calibrant.frames.batching import gathered
from calibrant.frames.coding import combinations, mixed, present
from calibrant.frames.columns import Layout, numbers
from calibrant.frames.state import GroupState
from calibrant.metrics.regression.intervals import interval_coverage, interval_width
from calibrant.metrics.regression.levels import interval_calibration_error
from calibrant.metrics.regression.scores import continuous_ranked_probability_score, negative_log_likelihood
from calibrant.metrics.regression.sizes import coefficient_of_variation, mean_absolute_error, root_mean_squared_error, sharpness
from calibrant.metrics.regression.spread import ExpectedNormalizedCalibrationError

__all__ = ["SUMMED", "ForecastKernel", "sketched"]

#: By column, the metrics that are functions of sums over rows, whose state after the weight is kept side by side with the others'.
SUMMED = {metric.key: metric for metric in (
    negative_log_likelihood, continuous_ranked_probability_score, root_mean_squared_error, mean_absolute_error, sharpness,
    coefficient_of_variation, interval_coverage, interval_width,
)}  # fmt: skip
#: Cells per doubling of the std: 4,096 in all, 0.1 MB a slice; edges of bins are off by at most 2 %.
CELLS = 32


def sketched(n_bins: int) -> ExpectedNormalizedCalibrationError:
    """The ENCE from cells of predicted std."""
    return ExpectedNormalizedCalibrationError(n_bins=n_bins, cells=CELLS)


class ForecastKernel:
    """What is done with a batch of forecasts; pickled whole to the workers of a cluster.

    Parameters
    ----------
    layout : Layout
        Of the mode "forecast".
    n_bins : int
        Of the ENCE; the state does not depend on it.
    """

    grid = "std"
    layout: Layout
    n_bins: int

    def __init__(self, layout: Layout, n_bins: int) -> None:
        self.layout, self.n_bins = layout, n_bins

    def empty(self) -> GroupState:
        """The state of no rows: bins are the ENCE's cells; sums the weight, each metric's own, rows by level of interval, and by PIT."""
        record = read_forecast([0.0], [1.0], [0.0])
        widths = sum(len(metric.columns_of(record)) for metric in SUMMED.values())
        settings = {
            "mode": "forecast", "by": list(self.layout.group_names), "grid": self.grid, "cells": CELLS, "levels": self.levels.tolist(),
        }  # fmt: skip
        cells, levels = len(sketched(1).totals_of(record)), interval_calibration_error.totals_of(record).shape[1]
        return GroupState(settings, cells, 1 + widths + levels + (len(self.levels) + 1) ** 2)

    @property
    def levels(self) -> np.ndarray:
        """Between which levels outcomes are counted: those of the quantiles, or ``PIT_LEVELS``."""
        return np.array(PIT_LEVELS if self.layout.levels is None else self.layout.levels)

    def over(self, batches: Sequence[Any]) -> GroupState:
        """The state of all Arrow record batches."""
        state = self.empty()
        for batch in gathered(batches):
            self._add(state, batch)
        return state

    def _add(self, state, batch):
        weight = None if self.layout.weight is None else numbers(batch, self.layout.weight)
        if weight is not None and not weight.any():
            return
        *values, y = (numbers(batch, name) for name in (*self.layout.values, self.layout.label))
        forecast = NormalForecast(*values) if self.layout.levels is None else QuantileForecast(self.levels, np.stack(values, axis=1))
        record = read_forecast(forecast, None, y, sample_weight=weight)
        slices = [(values, record.per_row(code)) for values, code in self.layout.slices(batch)]
        values = [named for named, _ in slices]
        seen, group = present(mixed(slices), prod(map(len, values))) if slices else (np.zeros(1, np.intp), np.zeros(len(record), np.intp))
        n = len(seen)
        sums = [metric.group_totals_of(record, group, n) for metric in SUMMED.values()]
        levels = interval_calibration_error.group_totals_of(record, group, n)[:, 0]
        ence = sketched(1)
        bins = ence._sums(record, group * state.bins.shape[1] + ence._cell(record), n * state.bins.shape[1])
        places = pit_counts(record, self.levels, group, n).reshape(n, -1)
        whole = [sums[0][:, :1], *(each[:, 1:] for each in sums), levels, places]
        groups = combinations(values, seen) if slices else [()]
        state.add(groups, bins.reshape(n, -1, 3), np.concatenate(whole, axis=1))
