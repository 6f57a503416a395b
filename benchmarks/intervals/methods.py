"""Our methods on given forecasts: each gives the ends of the test rows at every level."""

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from benchmarks.intervals.cases import LEVELS, QUANTILES, Case

import calibrant as cb
from calibrant.errors import SparseDataWarning

#: Name: (which forecast, the method).
METHODS: dict[str, tuple[str, Any]] = {
    "forest as it is": ("std", cb.regression.ForecastIdentity()),
    "IntervalCalibration": ("std", cb.regression.IntervalCalibration()),
    "absolute": ("std", cb.ConformalIntervals(score="absolute")),
    "scaled": ("std", cb.ConformalIntervals()),
    "scaled, ends of their own": ("std", cb.ConformalIntervals(symmetric=False)),
    "scaled, after isotonic variance": (
        "std",
        cb.ConformalIntervals(calibrator=cb.regression.IsotonicVariance()),
    ),
    "distributional, after quantile recalibration": (
        "std",
        cb.ConformalIntervals(
            score="distributional", calibrator=cb.regression.QuantileRecalibration()
        ),
    ),
    "Mondrian by std": ("std", cb.regression.MondrianIntervals()),
    "quantiles as they are": ("quantiles", cb.regression.ForecastIdentity()),
    "quantile (CQR)": ("quantiles", cb.ConformalIntervals(score="quantile", levels=LEVELS)),
    "quantile (CQR), ends of their own": (
        "quantiles",
        cb.ConformalIntervals(score="quantile", levels=LEVELS, symmetric=False),
    ),
    "distributional": ("quantiles", cb.ConformalIntervals(score="distributional")),
    "distributional, ends of their own": (
        "quantiles",
        cb.ConformalIntervals(score="distributional", symmetric=False),
    ),
}


def forecast_of(case: Case, kind: str, part: str) -> Any:
    """A forecast of one part of the rows."""
    if kind == "quantiles":
        return cb.QuantileForecast(QUANTILES, case.held[f"quantiles_{part}"])
    return cb.NormalForecast(case.held[f"mean_{part}"], case.held[f"std_{part}"])


def ours(case: Case) -> Iterator[tuple[str, np.ndarray, float]]:
    """(method, (levels, 2, n) ends, CPU seconds) of each of our methods."""
    for name, (kind, method) in METHODS.items():
        cal, test = (forecast_of(case, kind, part) for part in ("cal", "test"))
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SparseDataWarning)
            out = method.fit(cal, case.held["y_cal"]).predict(test)
            ends = np.stack([out.interval(level) for level in LEVELS])
        yield f"calibrant {name}", ends, time.process_time() - start
