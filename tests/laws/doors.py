"""Every public function and method that takes columns, beside the parts that the contract suite
holds, as one table: a call of columns, and the argument that each column is.
"""

import copy
import dataclasses
import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression

import calibrant as cb
from calibrant import calibrators, decisions, metrics, monitoring, questions
from calibrant.core.exports import exports
from calibrant.regression import JointNormalForecast, SampleForecast

__all__ = ["DOORS", "Data", "Door", "Line", "Odds", "drawn", "fitted", "numbers", "taken"]

Data = dict[str, Any]
#: Packages whose functions of these forms are found by themselves.
PACKAGES = ("calibrant.metrics", "calibrant.calibrators")
#: Required arguments -> the columns of the call.
FORMS = {
    ("y_true", "P"): {"y_true": "y", "P": "p"},
    ("y_true", "mean"): {"y_true": "outcome", "mean": "mean", "std": "std"},
    ("y_true", "sets"): {"y_true": "label", "sets": "sets"},
}
WEIGHT = {"sample_weight": "weight"}
BESIDE = {"cluster": "cluster"} | WEIGHT
EVENT = {"y_true": "y", "P": "p"}
FIT = {"P": "p", "y": "y"}
#: Draws are few: no law needs many.
FEW: dict[str, Any] = {"n_draws": 20, "n_resamples": 20, "n_points": 20}


class Line(LinearRegression):
    """A model that takes missing features, as boosted trees do."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        return super().fit(np.nan_to_num(X), y, sample_weight)

    def predict(self, X: Any) -> np.ndarray:
        return super().predict(np.nan_to_num(X))


class Odds(LogisticRegression):
    """A classifier that takes missing features."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        return super().fit(np.nan_to_num(X), y, sample_weight)

    def decision_function(self, X: Any) -> np.ndarray:
        return super().decision_function(np.nan_to_num(X))


@dataclasses.dataclass(frozen=True)
class Door:
    """A call of columns.

    Attributes
    ----------
    function : called with columns by name
    columns : argument -> column
    options : other arguments
    """

    function: Callable[..., Any]
    columns: dict[str, str]
    options: dict[str, Any]

    def __call__(self, d: Data) -> Any:
        columns = {argument: d[column] for argument, column in self.columns.items()}
        return self.function(**columns, **self.options)


def door(function: Callable[..., Any], columns: dict[str, str], **options: Any) -> Door:
    return Door(function, columns, options)


def drawn(n: int = 72, seed: int = 0) -> Data:
    """Rows of every kind of prediction, with whole weights and clusters of three."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    logits = np.column_stack([X, -X[:, 0]])
    P = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    mean = X @ [1.0, 0.5]
    p = 1.0 / (1.0 + np.exp(-mean))
    weight = rng.integers(1, 4, n).astype(float)
    truth = (rng.random(n) < p).astype(float)
    return {
        "X": X,
        "X_new": rng.normal(size=(n, 2)),
        "p": p,
        "other": p**1.5,
        "y": truth.astype(int),
        "P": P,
        "P_use": P[::-1].copy(),
        "label": np.array([rng.choice(3, p=row) for row in P]),
        "sets": P > 0.2,
        "group": rng.integers(0, 3, n),
        "cluster": np.arange(n) // 3,
        "weight": weight,
        "use_weight": weight.copy(),
        "mean": mean,
        "std": np.exp(0.3 * X[:, 1]),
        "outcome": mean + rng.normal(size=n),
        "two": np.column_stack([mean, -mean]),
        "two_outcomes": X,
        "counts": rng.poisson(1.0, (n, 5)) + np.arange(5.0),
        "loss": (rng.random(n) < 0.02).astype(float),
        "losses": rng.random((n, 2)) < [0.01, 0.3],
        "judge": np.where(rng.random(n) < 0.9, truth, 1.0 - truth),
        "some_labels": np.where(np.arange(n) % 3 == 2, np.nan, truth),
        "chance": np.full(n, 0.7),
        "model": np.arange(n) % 2,
        "item": np.arange(n) // 2,
        "time": np.arange(n),
    }


def taken(d: Data, rows: np.ndarray) -> Data:
    """Some rows of every column."""
    return {name: column[rows] for name, column in d.items()}


def numbers(value: Any) -> np.ndarray:
    """Every number that a result holds, in its order; texts are left out."""
    return np.array(list(_each(value)), dtype=np.float64)


def _each(value: Any) -> Iterator[float]:
    if isinstance(value, bool | int | float | np.number | np.bool_):
        yield float(value)
    elif isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        yield from value.ravel().astype(float).tolist()
    elif isinstance(value, str) or value is None:
        return
    else:
        for one in _parts(value):
            yield from _each(one)


def _parts(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    if isinstance(value, list | tuple | np.ndarray):
        return list(value)
    if dataclasses.is_dataclass(value):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    if hasattr(value, "to_dict"):
        return [value.to_dict()]
    return [held for name, held in sorted(vars(value).items()) if name.endswith("_")]


def found() -> dict[str, Door]:
    """A door for each function of the packages that has one of the forms."""
    out = {}
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in exports(package):
            function = getattr(module, name)
            if not inspect.isfunction(function):
                continue
            asked = inspect.signature(function).parameters
            form = tuple(one for one, p in asked.items() if p.default is p.empty)
            if form in FORMS:
                columns = {k: v for k, v in (FORMS[form] | BESIDE).items() if k in asked}
                few = {k: v for k, v in FEW.items() if k in asked}
                out[name] = door(function, columns, **few)
    # The one whose forecasts are given as P.
    del out["adversarial_group_calibration"]
    return out


@cache
def fitted(name: str) -> Any:
    """A rule fitted to rows without a fault."""
    d = drawn(200, seed=1)
    made = {
        "selective": lambda: selective().fit(d["p"], d["y"]),
        "rates": lambda: rates().fit(d["p"], d["y"]),
        "sets": lambda: cb.ConformalSets(by="groups").fit(d["P"], d["label"], groups=d["group"]),
        "weighted sets": lambda: cb.ConformalSets().fit(
            d["P"], d["label"], sample_weight=d["weight"], weight_kind="sampling"
        ),
        "conditional": lambda: decisions.ConditionalSets().fit(d["P"], d["label"], features=d["X"]),
        "risk": lambda: risk().fit(d["p"], d["y"]),
        "shift": lambda: calibrators.LabelShift().fit(d["P"], d["label"], d["P"]),
        "importance": lambda: cb.ImportanceWeights(model=Odds()).fit(d["X"], d["X_new"]),
        "monitor": lambda: monitoring.CalibrationMonitor().fit(d["p"], d["y"]),
        "adaptive intervals": lambda: cb.AdaptiveIntervals().fit(
            d["mean"], d["outcome"], std=d["std"]
        ),
        "adaptive sets": lambda: cb.AdaptiveSets().fit(d["P"], d["label"]),
        "online": lambda: cb.OnlineCalibrator().fit(d["p"], d["y"]),
        "lock": lambda: monitoring.Lock.of(selective().fit(d["p"], d["y"]), model="v1"),
        "platt": lambda: cb.OneVsRest(cb.Platt()).fit(d["p"], d["y"]),
        "std": lambda: cb.StdScaling().fit(d["mean"], d["outcome"], std=d["std"]),
    }
    return made[name]()


def selective() -> cb.SelectiveClassifier:
    return cb.SelectiveClassifier(0.45, 0.9, when_uncertain="accept_none")


def rates() -> decisions.NeymanPearsonClassifier:
    return decisions.NeymanPearsonClassifier(0.4)


def risk() -> decisions.ConformalRiskControl:
    return decisions.ConformalRiskControl(0.4, "accepted_and_wrong")


def made(rule: Any, method: str) -> Callable[..., Any]:
    """A method of a copy of a rule that goes on learning."""
    return lambda **arguments: getattr(copy.deepcopy(rule), method)(**arguments)


def of(name: str, method: str) -> Callable[..., Any]:
    """A method of a fitted rule, or of a copy where it goes on learning."""
    return lambda **arguments: getattr(copy.deepcopy(fitted(name)), method)(**arguments)


#: Features of new rows.
PLACES = np.array([[0.0, 0.5], [1.0, -1.0]])
LOG_LOSS, ECE = metrics.log_loss, metrics.expected_calibration_error
CRPS = metrics.continuous_ranked_probability_score
CURVES = found()
OF_METRICS = {
    "interval": door(LOG_LOSS.interval, EVENT | BESIDE),
    "interval of ECE": door(ECE.interval, EVENT | BESIDE, method="bootstrap", n_resamples=20),
    "interval of CRPS": door(
        CRPS.interval, {"y_true": "outcome", "P": "mean", "std": "std"} | BESIDE
    ),
    "compute": door(lambda **k: metrics.compute([LOG_LOSS, ECE], **k), EVENT | WEIGHT),
    "per_group": door(
        lambda **k: metrics.per_group(LOG_LOSS, **k), EVENT | BESIDE | {"groups": "group"}
    ),
    "worst_group": door(
        lambda **k: metrics.worst_group(LOG_LOSS, **k, min_rows=5, n_resamples=20),
        EVENT | BESIDE | {"groups": "group"},
    ),
    "over_sites": door(
        lambda **k: metrics.over_sites(LOG_LOSS, **k), EVENT | BESIDE | {"sites": "group"}
    ),
    "compare": door(
        lambda P, Q, **k: cb.compare(P={"a": P, "b": Q}, **k, n_resamples=20),
        EVENT | BESIDE | {"Q": "other"},
    ),
    "compare of forecasts": door(
        lambda mean, std, **k: cb.compare(P={"a": (mean, std), "b": (mean, 2 * std)}, **k),
        {"y_true": "outcome", "mean": "mean", "std": "std"} | BESIDE,
    ),
    "calibration_error_test": door(
        lambda **k: metrics.calibration_error_test(ECE, **k, n_draws=20),
        EVENT | WEIGHT,
    ),
    "group_coverage": door(
        metrics.group_coverage,
        {"y_true": "outcome", "mean": "mean", "std": "std"}
        | {"groups": "group", "sample_weight": "weight"},
    ),
    "set_coverage_by": door(
        metrics.set_coverage_by, {"y_true": "label", "sets": "sets", "groups": "group"}, by="groups"
    ),
    "set_sizes": door(metrics.set_sizes, {"sets": "sets", "sample_weight": "weight"}),
    "adversarial_group_calibration": door(
        metrics.adversarial_group_calibration,
        {"y_true": "outcome", "P": "mean", "std": "std"},
        n_trials=2,
    ),
    "joint_pit": door(
        lambda y_true, mean, **k: metrics.joint_pit(
            y_true, JointNormalForecast(mean, np.eye(2)), **k
        ),
        {"y_true": "two_outcomes", "mean": "two", "sample_weight": "weight"},
    ),
    "randomised_pit": door(
        lambda y_true, values: metrics.randomised_pit(y_true, SampleForecast(values)),
        {"y_true": "y", "values": "counts"},
    ),
    "confidence_curve": door(
        lambda **k: cb.calibrators.confidence_curve(calibrator=fitted("platt"), **k),
        EVENT | WEIGHT,
    ),
    "signal_accuracy": door(
        lambda **k: cb.calibrators.signal_accuracy(signal=cb.calibrators.Margin(), **k),
        EVENT | WEIGHT,
    ),
    "decision_threshold": door(
        decisions.decision_threshold,
        EVENT | WEIGHT,
        cost_false_positive=1.0,
        cost_false_negative=3.0,
    ),
}
OF_TABLES = {
    "audit": door(cb.audit, EVENT | BESIDE | {"groups": "group"}, n_draws=50),
    "audit of features": door(cb.audit, EVENT | {"groups": "X"}, n_draws=50),
    "audit of forecasts": door(
        cb.audit,
        {"y_true": "outcome", "P": "mean", "std": "std", "groups": "group"} | BESIDE,
        n_draws=50,
    ),
    "compare_versions": door(
        cb.compare_versions,
        {"old": "p", "new": "other", "y": "y", "groups": "group", "cluster": "cluster"},
    ),
    "report": door(cb.report, {"y": "y", "P": "p"} | BESIDE | {"groups": "group"}),
    "report of forecasts": door(
        cb.report, {"y": "outcome", "P": "mean", "std": "std", "sample_weight": "weight"}
    ),
    "evaluate": door(
        lambda **k: evaluated(k, probabilities="P", by="g"),
        {"P": "p", "y": "y", "weight": "weight", "g": "group"},
    ),
    "evaluate forecasts": door(
        lambda **k: evaluated(k, mean="mean", std="std"),
        {"mean": "mean", "std": "std", "y": "outcome", "weight": "weight"},
    ),
    "validate": door(
        lambda **k: cb.metrics.validate(Odds(), **k, n_resamples=5, n_outer=0),
        {"X": "X", "y": "y"} | BESIDE,
    ),
    "validation_size": door(cb.metrics.validation_size, {"risks": "p"}),
    "updating_size": door(cb.metrics.updating_size, {"risks": "p"}),
    "estimate_performance": door(
        lambda P, y, P_new, X, X_new: cb.estimate_performance(
            P_new,
            reference=(P, y),
            X=(X, X_new),
            importance=cb.ImportanceWeights(model=Odds()),
        ),
        {"P": "p", "y": "y", "P_new": "other", "X": "X", "X_new": "X_new"},
    ),
    "shift_test": door(monitoring.shift_test, {"X_old": "X", "X_new": "X_new"}, model=Odds()),
    "importance fit": door(
        cb.ImportanceWeights(model=Odds()).fit, {"X_old": "X", "X_new": "X_new"}
    ),
    "importance predict": door(of("importance", "predict"), {"X": "X"}),
    "estimate_rate": door(
        cb.estimate_rate,
        {"judge": "judge", "labels": "some_labels", "chance": "chance", "cluster": "item"},
    ),
    "estimate_rate of pairs": door(
        cb.estimate_rate,
        {"judge": "judge", "labels": "some_labels", "swapped": "p", "length": "mean"},
    ),
    "labels_for_width": door(
        lambda **k: questions.labels_for_width(0.2, **k),
        {"judge": "judge", "labels": "some_labels", "chance": "chance", "cluster": "item"},
    ),
    "audit_transport": door(
        questions.audit_transport,
        {"judge": "judge", "labels": "some_labels", "model": "model", "item": "item"},
    ),
    "compare_rates": door(
        questions.compare_rates,
        {"judge": "judge", "labels": "some_labels", "model": "model", "item": "item"},
    ),
    "time_blocks": door(monitoring.time_blocks, {"times": "time"}, length=9),
    "rolling_evaluation": door(
        lambda **k: monitoring.rolling_evaluation(cb.OneVsRest(cb.Platt()), **k, n_splits=2),
        FIT | {"times": "time", "sample_weight": "weight"},
    ),
}
OF_RULES = {
    "selective fit": door(selective().fit, FIT | WEIGHT),
    "selective fit of clusters": door(selective().fit, FIT | BESIDE),
    "selective fit_scores": door(selective().fit_scores, {"score": "p", "loss": "loss"} | WEIGHT),
    "selective fit_scores of clusters": door(
        selective().fit_scores, {"score": "p", "loss": "loss"} | BESIDE
    ),
    "selective accept": door(of("selective", "accept"), {"P": "p"}),
    "selective accept_scores": door(of("selective", "accept_scores"), {"score": "p"}),
    "rates fit": door(rates().fit, FIT | WEIGHT),
    "rates fit of clusters": door(rates().fit, FIT | BESIDE),
    "rates fit_scores": door(rates().fit_scores, {"score": "p", "event": "y"} | WEIGHT),
    "rates fit_scores of clusters": door(rates().fit_scores, {"score": "p", "event": "y"} | BESIDE),
    "rates decide": door(of("rates", "decide"), {"P": "p"}),
    "rates decide_scores": door(of("rates", "decide_scores"), {"score": "p"}),
    "sets fit": door(
        cb.ConformalSets(by="groups").fit,
        {"P": "P", "y": "label", "groups": "group"} | BESIDE,
    ),
    "sets predict_set": door(of("sets", "predict_set"), {"P": "P", "groups": "group"}),
    "weighted sets predict_set": door(
        of("weighted sets", "predict_set"), {"P": "P", "sample_weight": "weight"}
    ),
    "conditional fit": door(
        decisions.ConditionalSets().fit,
        {"P": "P", "y": "label", "features": "X", "sample_weight": "weight"},
    ),
    "conditional predict_set": door(of("conditional", "predict_set"), {"P": "P", "features": "X"}),
    "risk fit": door(risk().fit, FIT | BESIDE),
    "risk accept": door(of("risk", "accept"), {"P": "p"}),
    "certified_settings": door(
        decisions.certified_settings, {"losses": "losses", "sample_weight": "weight"}
    ),
    "expected cost": door(decisions.ExpectedCost(abstain=0.3).decide, {"P": "P"}),
    "conformal intervals": door(
        cb.ConformalIntervals().fit,
        {"forecast": "mean", "y": "outcome", "std": "std", "cluster": "cluster"},
    ),
    "adaptive intervals fit": door(
        made(cb.AdaptiveIntervals(), "fit"), {"forecast": "mean", "y": "outcome", "std": "std"}
    ),
    "adaptive intervals run": door(
        of("adaptive intervals", "run"),
        {"forecast": "mean", "y": "outcome", "std": "std"},
    ),
    "adaptive sets fit": door(made(cb.AdaptiveSets(), "fit"), {"P": "P", "y": "label"}),
    "adaptive sets run": door(of("adaptive sets", "run"), {"P": "P", "y": "label"}),
    "online run": door(made(cb.OnlineCalibrator(), "run"), FIT),
    "online partial_fit": door(made(cb.OnlineCalibrator(), "partial_fit"), FIT),
    "monitor fit": door(made(monitoring.CalibrationMonitor(), "fit"), FIT),
    "monitor of forecasts": door(
        made(monitoring.CalibrationMonitor(target="forecast"), "fit"),
        {"P": "mean", "y": "outcome", "std": "std"},
    ),
    "lock check": door(of("lock", "check"), FIT | WEIGHT),
    "shift fit": door(
        calibrators.LabelShift().fit,
        {"P": "P", "y": "label", "P_use": "P_use", "use_weight": "use_weight"} | WEIGHT,
    ),
    "shift predict_proba": door(of("shift", "predict_proba"), {"P": "P"}),
    "cross_fitted": door(
        lambda **k: calibrators.cross_fitted(cb.OneVsRest(cb.Platt()), **k),
        FIT | {"groups": "cluster", "sample_weight": "weight"},
    ),
    "automatic": door(
        cb.AutoCalibrator(methods=["temperature scaling", "uncalibrated"]).fit, FIT | BESIDE
    ),
    "groups": door(cb.GroupCalibrator().fit, FIT | {"groups": "group", "sample_weight": "weight"}),
    "classifier": door(
        lambda X, y, **k: (
            cb.CalibratedClassifier(Odds(), cb.Platt(), cv=3).fit(X, y, **k).predict_proba(PLACES)
        ),
        {"X": "X", "y": "y", "sample_weight": "weight", "groups": "cluster"},
    ),
    "regressor": door(
        lambda X, y, **k: (
            cb.CalibratedRegressor(Line(), cb.StdScaling(), cv=3)
            .fit(X, y, **k)
            .predict(PLACES, return_std=True)
        ),
        {"X": "X", "y": "outcome", "sample_weight": "weight", "groups": "cluster"},
    ),
    "conformal regressor": door(
        lambda X, y, **k: (
            cb.ConformalRegressor(Line(), cv=3).fit(X, y, **k).predict_interval(PLACES)
        ),
        {"X": "X", "y": "outcome", "sample_weight": "weight", "groups": "cluster"},
    ),
}
DOORS: dict[str, Door] = CURVES | OF_METRICS | OF_TABLES | OF_RULES


def evaluated(columns: Data, **names: Any) -> Any:
    """The sums of a frame."""
    frame = importlib.import_module("pyarrow").table(
        {name: np.asarray(column) for name, column in columns.items()}
    )
    return cb.evaluate(frame, label="y", weight="weight", **names).columns()
