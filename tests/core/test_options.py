import numpy as np
import pytest

import calibrant as cb
from calibrant import calibrators, decisions, metrics, monitoring
from calibrant.core.estimators import require_count, require_option
from calibrant.errors import InputError
from calibrant.metrics.validation import validate


def test_an_option_is_one_of_those_named():
    require_option("scale", "logit", ("logit", "probability", "auto"))
    with pytest.raises(
        InputError, match=r'^scale must be "logit", "probability" or "auto"; got None.$'
    ):
        require_option("scale", None, ("logit", "probability", "auto"))


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(200)])
def test_a_count_is_a_whole_number_of_any_kind(value):
    require_count("n_bins", value, 3)


@pytest.mark.parametrize("value", [2, 3.0, "3", None, np.float64(4)])
def test_what_is_no_count_is_refused(value):
    with pytest.raises(
        InputError, match=r"^n_bins must be a whole number of at least 3; got .*; 10 is usual.$"
    ):
        require_count("n_bins", value, 3, usual=10)


@pytest.mark.parametrize("value", [True, 0, 13, 1.0])
def test_a_count_may_have_an_upper_end(value):
    require_count("depth", 12, most=12)
    with pytest.raises(InputError, match=r"^depth must be a whole number from 1 to 12; got "):
        require_count("depth", value, most=12)


def test_a_list_or_an_array_is_no_option():
    y, p = np.array([0, 1] * 40), np.linspace(0.1, 0.9, 80)
    several = np.array(["auto", "answer"])
    for name, call in {
        "method": lambda: metrics.pit_test(y, p, p, method=several),
        "inputs": lambda: metrics.accuracy(y, p, inputs=several),
        "correction": lambda: metrics.compare(y, {"a": p, "b": p**2}, correction=several),
        "weight_kind": lambda: metrics.accuracy.interval(
            y, p, weight_kind=several, sample_weight=np.ones(80)
        ),
        "target": lambda: metrics.isotonic_curve(y, p, target=several),
        "metric": lambda: cb.estimate_performance(p, reference=(p, y), metric=several),
        "by": lambda: cb.ConformalSets(by=several).fit(p, y),
        "bound": lambda: cb.SelectiveClassifier(bound=several).fit(p, y),
    }.items():
        with pytest.raises(InputError, match=rf"^{name} must be .* got array\(\['auto', "):
            call()


@pytest.mark.parametrize("seed", ["x", 1.5, -1, 2**40, True])
def test_every_seed_is_checked_before_anything_is_computed(seed):
    y, p, X = np.array([0, 1] * 40), np.linspace(0.1, 0.9, 80), np.arange(160.0).reshape(80, 2)
    given = {"random_state": seed}
    for call in (
        lambda: cb.AutoCalibrator(**given).fit(p, y),
        lambda: cb.AutoRegressionCalibrator(**given).fit((p, p), y),
        lambda: cb.CalibratedClassifier(None, **given).fit(X, y),
        lambda: cb.ConformalRegressor(None, **given).fit(X, y),
        lambda: cb.ImportanceWeights(**given).fit(X, X),
        lambda: calibrators.RandomSubset(**given).reduce(X, y),
        lambda: calibrators.Multicalibration(**given).fit(p, y, groups=y),
        lambda: cb.report(y, p, **given),
        lambda: cb.compare_versions(p, p, y, **given),
        lambda: cb.audit(y, p, {"g": y}, **given),
        lambda: cb.estimate_performance(p, reference=(p, y), **given),
        lambda: validate(None, X, y, **given),
        lambda: monitoring.shift_test(X, X, **given),
        lambda: decisions.decision_threshold(
            y, p, cost_false_positive=1, cost_false_negative=2, **given
        ),
        lambda: metrics.accuracy.interval(y, p, **given),
        lambda: metrics.compare(y, {"a": p, "b": p**2}, **given),
        lambda: metrics.isotonic_curve(y, p, **given),
        lambda: metrics.calibration_error_test(y, p, **given),
        lambda: metrics.hosmer_lemeshow_test(y, p, **given),
        lambda: metrics.worst_group(metrics.accuracy, y, p, y, **given),
        lambda: metrics.pit_test(y, p, p, **given),
    ):
        with pytest.raises(InputError, match=r"^random_state must be a whole number from 0 to "):
            call()


def test_a_list_or_an_array_names_no_interval():
    with pytest.raises(InputError, match=r"^accuracy has no .*'auto' 'bca'.* interval; use method"):
        metrics.accuracy.interval([0, 1] * 9, [0.2, 0.8] * 9, method=np.array(["auto", "bca"]))
