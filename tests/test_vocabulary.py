"""One name for one idea: every public signature is read, and the synonyms that the guide refuses
are refused here.
"""

import importlib
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.contracts.metric import Metric
from calibrant.frames.kernel import SUMMED
from calibrant.reporting.classification import KEYS
from calibrant.reporting.regression.task import METRICS

FACES = (
    "metrics",
    "maps",
    "signals",
    "scalings",
    "regression",
    "displays",
    "neighbors",
    "forecasts",
    "frames",
    "contracts",
    "testing",
    "datasets",
    "decisions",
    "export",
    "adapters",
)
GUIDE = Path(__file__).resolve().parent.parent / "docs" / "guide" / "vocabulary.rst"
#: A refused word where it means something else, with what it means.
OTHERWISE = {
    ("RowSample", "labels"): "a column of a sample of rows, beside probabilities",
    ("LatentFunctionDisplay", "scores"): "the grid of scores at which the function is drawn",
    ("ErrorCounts.add", "loss"): "what each row loses, an array",
    ("SelectiveClassifier.fit_scores", "loss"): "the same",
    **{
        (name, "scale"): "on which scale a signal or map reads the score"
        for name in (
            "FastSeparation",
            "LabelStability",
            "Margin",
            "MaximalZone",
            "PairwiseSeparation",
            "Platt",
        )
    },
    **{
        (name, "scale"): "on which scale intervals are pooled"
        for name in ("pool", "Pooled", "over_sites")
    },
    **{
        (name, "scale"): "of an axis"
        for name in (
            "risk_distribution",
            "ReliabilityDisplay",
            "ReliabilityDisplay.from_predictions",
            "ReliabilityDisplay.from_record",
            "ReliabilityDisplay.plot",
            "RiskDistributionDisplay",
            "RiskDistributionDisplay.from_record",
        )
    },
}


def _refused():
    """The words of the last column of the guide's table."""
    rows = re.findall(
        r"^   \* - (``.*)\n     - ((?:.|\n)*?)\n     - (.*)$",
        GUIDE.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    return {word.strip() for *_, words in rows for word in words.split(",")}


def _own_methods(cls):
    for name in dir(cls):
        method = inspect.getattr_static(cls, name)
        method = getattr(method, "__func__", method)
        if (
            not name.startswith("_")
            and inspect.isfunction(method)
            and method.__module__.startswith("calibrant")
        ):
            yield f"{cls.__name__}.{name}", method


def _signatures():
    """(name, names of the parameters) of everything public that can be called."""
    for module in (cb, *(importlib.import_module(f"calibrant.{face}") for face in FACES)):
        exported = [
            value for name in module.__all__ if not inspect.ismodule(value := getattr(module, name))
        ]
        classes = [
            v if inspect.isclass(v) else type(v)
            for v in exported
            if inspect.isclass(v) or isinstance(v, Metric)
        ]
        callables = [(cls.__name__, cls) for cls in classes] + [
            (v.__name__, v) for v in exported if inspect.isfunction(v)
        ]
        for name, value in [*callables, *(pair for cls in classes for pair in _own_methods(cls))]:
            yield name, list(inspect.signature(value).parameters)


def test_the_guide_refuses_words_and_no_public_signature_has_one():
    refused = _refused()
    assert {
        "seed",
        "rng",
        "weights",
        "folds",
        "n_folds",
        "probs",
        "proba",
        "loss",
        "labels",
    } <= refused
    found = {
        (name, word)
        for name, parameters in _signatures()
        for word in refused.intersection(parameters)
    }
    assert found - OTHERWISE.keys() == set(), "use the word of docs/guide/vocabulary.rst"
    assert OTHERWISE.keys() - found == set(), "an exception is no longer needed"


def test_the_check_sees_methods_functions_and_constructors():
    names = dict(_signatures())
    assert len(names) > 400
    assert "sample_weight" in names["TemperatureScaling.fit"]
    assert "n_bins" in names["reliability_curve"]
    assert "target" in names["KsCalibrationError"]


def test_outcomes_come_before_predictions_in_metrics_and_after_them_in_fit():
    predictions = {"P", "X", "forecast", "mean"}
    before, after = set(), set()
    for name, parameters in _signatures():
        given = [p for p in parameters if p not in ("self", "cls", "metric", "metrics")]
        if "y_true" in given and given[0] != "y_true":
            before.add(name)
        if given[:1] == ["y"] and predictions.intersection(given[1:2]) and name != "report":
            after.add(name)
    assert before == after == set()


def _metrics():
    return [
        (name, metric)
        for name in metrics.__all__
        if isinstance(metric := getattr(metrics, name), Metric)
    ]


def test_no_key_means_two_metrics():
    keys = [metric.key for _, metric in _metrics()]
    assert len(keys) > 40
    assert sorted(keys) == sorted(set(keys))
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", key) for key in keys)


def test_reports_gates_and_columns_know_no_key_of_their_own():
    known = {metric.key for _, metric in _metrics()}
    assert {*KEYS, *METRICS, *SUMMED} <= known


def test_a_report_says_the_keys_of_the_metrics():
    rng = np.random.default_rng(0)
    p = rng.random(200)
    y = (rng.random(200) < p).astype(int)
    by_key = {metric.key: metric for _, metric in _metrics()}
    for row in cb.report(y, p, n_resamples=0).to_dict()["metrics"]:
        metric = by_key[row["key"]]
        assert row["name"] == metric.name
        assert row["before"]["value"] == pytest.approx(metric(y, p), rel=1e-12), row["key"]
