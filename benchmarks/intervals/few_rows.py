"""Few rows and a model to be fitted: rows set aside, or every row used by jackknife+ and CV+."""

import time
from typing import Any

import numpy as np
from benchmarks.intervals.cases import rows_of
from sklearn.base import clone
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import calibrant as cb

ROWS, LEVEL, RUNS_A_SEED = 100, 0.9, 2
#: Name: options of ConformalRegressor.
METHODS: dict[str, dict[str, Any]] = {
    "CV+": {},
    "CV-minmax": {"method": "minmax"},
    "jackknife+": {"cv": LeaveOneOut()},
    "jackknife-minmax": {"cv": LeaveOneOut(), "method": "minmax"},
}


def few_rows(names: list[str], seeds: int, n: int = ROWS) -> str:
    """A table of coverage, promise, width and interval score relative to the half and half
    split, and CPU seconds.
    """
    found: dict[str, list[tuple[float, ...]]] = {}
    for name in names:
        for seed in range(RUNS_A_SEED * seeds):
            X, y = rows_of(name, 1000 + seed)
            for method, values in _run(X[:n], y[:n], X[n : n + 1000], y[n : n + 1000]).items():
                found.setdefault(method, []).append(values)
    base = np.array(found["split, half and half"])
    lines = [f"{n:3d} rows{'':46s}|  cover promise  width  score |  CPU s"]
    for method, rows in found.items():
        values = np.array(rows)
        width, score = np.exp(np.log(values[:, 2:4] / base[:, 2:4]).mean(axis=0))
        lines.append(
            f"{method:54s}|  {values[:, 0].mean():.3f}   {values[0, 1]:.3f}  {width:.3f} "
            f" {score:.3f} |{values[:, 4].mean():7.3f}"
        )
    return "\n".join(lines)


def _run(X, y, X_new, y_new):
    model, half = (
        make_pipeline(StandardScaler(), PolynomialFeatures(2), RidgeCV(np.logspace(-2, 4, 13))),
        len(y) // 2,
    )
    start = time.process_time()
    fitted = clone(model).fit(X[:half], y[:half])
    split = cb.CalibratedRegressor(fitted, cb.ConformalIntervals(score="absolute")).fit(
        X[half:], y[half:]
    )
    ends = split.predict_distribution(X_new).interval(LEVEL)
    out = {
        "split, half and half": _judged(
            ends, y_new, split.calibrator_.guarantee(LEVEL), time.process_time() - start
        )
    }
    for name, options in METHODS.items():
        start = time.process_time()
        reg = cb.ConformalRegressor(model, **options).fit(X, y)
        out[name] = _judged(
            reg.predict_interval(X_new, LEVEL),
            y_new,
            reg.guarantee(LEVEL),
            time.process_time() - start,
        )
    return out


def _judged(ends, y, said, seconds):
    low, high = ends
    miss = np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0)
    score = np.mean(high - low + 2.0 / (1.0 - LEVEL) * miss)
    return (
        float(np.mean(miss == 0.0)),
        float(said.least),
        float(np.mean(high - low)),
        float(score),
        seconds,
    )
