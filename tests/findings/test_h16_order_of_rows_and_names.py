"""H16: no result depends on the order of rows or columns, or on the names of clusters."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import calibrant as cb

Data = dict[str, np.ndarray]


def drawn(n: int, seed: int) -> Data:
    """Rows with rounded numbers, so that many are tied."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)).round(1)
    z = X[:, 0] + 0.5 * X[:, 1]
    p = np.clip((1.0 / (1.0 + np.exp(-1.7 * z))).round(2), 0.01, 0.99)
    logits = np.column_stack([z, -z, X[:, 1]]).round(1)
    P = np.exp(1.5 * logits) / np.exp(1.5 * logits).sum(axis=1, keepdims=True)
    return {
        "X": X,
        "p": p,
        "y": (rng.random(n) < 1.0 / (1.0 + np.exp(-z))).astype(int),
        "P": P,
        "label": np.array([rng.choice(3, p=row) for row in P]),
        "group": rng.choice(list("abc"), n),
        "cluster": rng.integers(0, 40, n),
        "mean": z.round(1),
        "std": (np.exp(0.3 * X[:, 1]) + 0.1).round(1),
        "outcome": (z + 1.5 * rng.normal(size=n)).round(1),
    }


OLD, NEW, TEST = drawn(220, 0), drawn(90, 1), drawn(30, 2)
QUICK = cb.ImportanceWeights(model=make_pipeline(StandardScaler(), LogisticRegression()))


def importance(d: Data) -> Any:
    made = cb.ImportanceWeights(model=QUICK.model).fit(d["X"], NEW["X"])
    return made.predict(TEST["X"])


def estimated(d: Data) -> Any:
    reference, X = (d["p"], d["y"]), (d["X"], NEW["X"])
    found = cb.estimate_performance(
        NEW["p"], reference=reference, X=X, metric="log_loss", importance=QUICK
    )
    return found.value, found.low, found.high, found.shift_p_value


def classifier(d: Data) -> Any:
    made = cb.CalibratedClassifier(LogisticRegression(), cb.Platt(), ensemble=True)
    return made.fit(d["X"], d["y"]).predict_proba(TEST["X"])


def regressor(d: Data) -> Any:
    made = cb.CalibratedRegressor(LinearRegression(), cb.StdScaling()).fit(d["X"], d["outcome"])
    return made.predict(TEST["X"], return_std=True)[1]


def cross_fitted(d: Data) -> Any:
    Q = cb.calibrators.cross_fitted(cb.TemperatureScaling(), d["P"], d["label"])
    return cb.metrics.log_loss(d["label"], Q)


def validated(d: Data) -> Any:
    found = cb.metrics.validate(LogisticRegression(), d["X"], d["y"], n_resamples=10, n_outer=0)
    return [row.corrected for row in found.metrics]


def interval(metric: Any, **options: Any) -> Callable[[Data], Any]:
    def found(d: Data) -> Any:
        given = {name: d[value] for name, value in options.items()}
        one = metric.interval(d["y"], d["p"], method="bootstrap", n_resamples=50, **given)
        return one.low, one.high

    return found


def debiased(d: Data) -> Any:
    found = cb.metrics.expected_calibration_error.interval(d["y"], d["p"], n_resamples=100)
    return found.low, found.high


def compared(d: Data) -> Any:
    found = cb.compare(
        d["y"],
        {"a": d["p"], "b": d["p"] ** 1.5},
        metrics=[cb.metrics.expected_calibration_error],
        n_resamples=50,
    )
    return [(row.low, row.high, row.p_value) for row in found.rows]


RESULTS: dict[str, Callable[[Data], Any]] = {
    "importance": importance,
    "estimated": estimated,
    "classifier": classifier,
    "regressor": regressor,
    "cross_fitted": cross_fitted,
    "validated": validated,
    "bootstrap": interval(cb.metrics.log_loss),
    "clustered bootstrap": interval(cb.metrics.log_loss, cluster="cluster"),
    "debiased": debiased,
    "compared": compared,
}


def taken(d: Data, rows: np.ndarray) -> Data:
    return {name: column[rows] for name, column in d.items()}


@pytest.mark.parametrize("name", RESULTS)
def test_the_order_of_rows_changes_no_result(name: str):
    once = np.asarray(RESULTS[name](OLD), dtype=float)
    for seed in (1, 2):
        rows = np.random.default_rng(seed).permutation(len(OLD["p"]))
        again = np.asarray(RESULTS[name](taken(OLD, rows)), dtype=float)
        np.testing.assert_allclose(again, once, rtol=1e-9, atol=1e-12)


def test_the_order_of_rows_changes_no_automatic_choice_with_groups():
    few = taken(OLD, np.arange(150))
    rows = np.random.default_rng(1).permutation(150)
    made = [
        cb.AutoCalibrator(max_cost=1.0).fit(d["p"], d["y"], groups=d["group"])
        for d in (few, taken(few, rows))
    ]
    given = TEST["p"]
    one, other = (m.predict_proba(given, groups=TEST["group"]) for m in made)
    np.testing.assert_allclose(other, one, rtol=1e-9)


@pytest.mark.parametrize("objective", ["log_loss", "brier"])
def test_the_order_of_the_columns_changes_no_automatic_choice(objective: Any):
    order, names = [2, 0, 1], np.array(["x", "y", "z"])
    methods = ["temperature scaling", "structured vector scaling", "spline"]
    options: dict[str, Any] = {"objective": objective, "methods": methods}
    y = names[OLD["label"]]
    one = cb.AutoCalibrator(classes=names, **options).fit(OLD["P"], y)
    other = cb.AutoCalibrator(classes=names[order], **options).fit(OLD["P"][:, order], y)
    np.testing.assert_allclose(
        other.predict_proba(TEST["P"][:, order]),
        one.predict_proba(TEST["P"])[:, order],
        rtol=1e-9,
    )


def test_the_names_of_clusters_change_no_folds():
    renamed = np.random.default_rng(3).permutation(40)[OLD["cluster"]]
    options: dict[str, Any] = {"cv": 5, "random_state": 0}
    one, other = (
        cb.calibrators.cross_fitted(cb.Platt(), OLD["p"], OLD["y"], groups=groups, **options)
        for groups in (OLD["cluster"], renamed)
    )
    np.testing.assert_allclose(other, one, rtol=1e-12)
