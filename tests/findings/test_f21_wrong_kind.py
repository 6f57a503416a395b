"""F21: a part of another kind, a name or a class in the place of a part was an AttributeError
from deep inside; it is one sentence.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

import calibrant as cb
from calibrant import metrics, testing
from calibrant.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = (X[:, 0] + RNG.normal(size=60) > 0.0).astype(int)
P = np.column_stack([1.0 - (p := 1.0 / (1.0 + np.exp(-2.0 * X[:, 0]))), p])
MEAN, STD = X[:, 0], np.ones(60)
FRAME = pd.DataFrame({"p_0": P[:, 0], "p_1": P[:, 1], "y": Y})

CLASSES, FORECASTS, MAP, SIGNAL = (
    cb.TemperatureScaling(),
    cb.StdScaling(),
    cb.Isotonic(),
    cb.calibrators.LogOdds(),
)
ODD = ("isotonic", 3, [], metrics.log_loss, GaussianNB())
NO_CALIBRATOR = (FORECASTS, SIGNAL, cb.calibrators.LogOdds, cb.StdScaling, *ODD)
NO_MAP = (CLASSES, FORECASTS, SIGNAL, cb.Isotonic, *ODD)
NO_SIGNAL = (CLASSES, FORECASTS, MAP, cb.calibrators.LogOdds, *ODD)
NO_FORECASTS = (CLASSES, MAP, SIGNAL, *ODD)
NO_METRIC = (CLASSES, MAP, "log_loss", 3, type(metrics.log_loss), np.mean)


def frames_apply(part):
    from calibrant.tables.apply import apply

    apply(part, FRAME, "never.parquet", probabilities="p_*")


#: Place -> (function of what is put there, what does not belong there, the argument that the
#: sentence begins with).
PLACES = {
    "CalibratedClassifier": (
        lambda o: cb.CalibratedClassifier(GaussianNB(), o).fit(X, Y),
        NO_CALIBRATOR,
        "calibrator",
    ),
    "PerClass": (lambda o: cb.calibrators.PerClass(o).fit(P, Y), NO_CALIBRATOR, "calibrator"),
    "cross_fitted": (lambda o: cb.calibrators.cross_fitted(o, P, Y), NO_CALIBRATOR, "calibrator"),
    "report": (
        lambda o: cb.report(Y, P, calibrator=o),
        (SIGNAL, "isotonic", 3, metrics.log_loss, GaussianNB()),
        "calibrator",
    ),
    "report of numbers": (
        lambda o: cb.report(MEAN, MEAN, STD, calibrator=o),
        (CLASSES, MAP, SIGNAL, "interval", 3),
        "calibrator",
    ),
    "class_report": (
        lambda o: cb.calibrators.class_report(Y, P, calibrator=o),
        (FORECASTS, MAP, SIGNAL, *ODD),
        "calibrator",
    ),
    "confidence_curve": (
        lambda o: cb.calibrators.confidence_curve(Y, P, o),
        (FORECASTS, MAP, SIGNAL, *ODD),
        "calibrator",
    ),
    "apply": (frames_apply, (FORECASTS, SIGNAL, cb.TemperatureScaling, *ODD), "calibrator"),
    "CalibratedRegressor": (
        lambda o: cb.CalibratedRegressor(LinearRegression(), o).fit(X, MEAN),
        NO_FORECASTS,
        "calibrator",
    ),
    "OneVsRest": (lambda o: cb.OneVsRest(o).fit(P, Y), NO_MAP, "map"),
    "ConfidenceCalibrator(map)": (
        lambda o: cb.ConfidenceCalibrator(map=o).fit(P, Y),
        NO_MAP,
        "map",
    ),
    "GeometricCalibrator(map)": (
        lambda o: cb.calibrators.GeometricCalibrator("paper", map=o).fit(
            P, Y, X=X, reference=(X + 1.0, Y)
        ),
        NO_MAP,
        "map",
    ),
    "ConfidenceCalibrator(signal)": (
        lambda o: cb.ConfidenceCalibrator(signal=o).fit(P, Y),
        NO_SIGNAL,
        "signal",
    ),
    "HokiCalibrator": (
        lambda o: cb.calibrators.HokiCalibrator(signal=o).fit(P, Y),
        NO_SIGNAL,
        "signal",
    ),
    "GeometricCalibrator(signal)": (
        lambda o: cb.calibrators.GeometricCalibrator(signal=o).fit(
            P, Y, X=X, reference=(X + 1.0, Y)
        ),
        NO_SIGNAL,
        "signal",
    ),
    "StackedConfidence": (
        lambda o: cb.calibrators.StackedConfidence(signals=o).fit(P, Y),
        (SIGNAL, "margin", 3, [], cb.calibrators.Margin),
        "signals",
    ),
    "one of StackedConfidence": (
        lambda o: cb.calibrators.StackedConfidence(signals=[SIGNAL, o]).fit(P, Y),
        NO_SIGNAL,
        "each of signals",
    ),
    "signal_accuracy": (lambda o: cb.calibrators.signal_accuracy(Y, P, o), NO_SIGNAL, "signal"),
    "scorer": (lambda o: metrics.scorer(o), NO_METRIC, "metric"),
    "per_group": (lambda o: metrics.per_group(o, Y, P, Y), NO_METRIC, "metric"),
    "worst_group": (lambda o: metrics.worst_group(o, Y, P, Y), NO_METRIC, "metric"),
    "compute": (lambda o: metrics.compute(o, Y, P), (metrics.log_loss, "log_loss", 3), "metrics"),
    "one of compute": (
        lambda o: metrics.compute([metrics.log_loss, o], Y, P),
        NO_METRIC,
        "each of metrics",
    ),
    "check_calibrator": (
        testing.check_calibrator,
        (MAP, SIGNAL, cb.TemperatureScaling, *ODD),
        "calibrator",
    ),
    "check_map": (testing.check_map, NO_MAP, "map"),
    "check_signal": (testing.check_signal, NO_SIGNAL, "signal"),
    "check_metric": (testing.check_metric, NO_METRIC, "metric"),
    "check_state": (testing.check_state, NO_METRIC, "metric"),
}
CASES = [
    pytest.param(use, word, wrong, id=f"{place}-{getattr(wrong, '__name__', repr(wrong))}")
    for place, (use, wrongs, word) in PLACES.items()
    for wrong in wrongs
]


@pytest.mark.parametrize(("use", "word", "wrong"), CASES)
def test_f21_a_wrong_kind_is_one_clear_sentence(use, word, wrong):
    with pytest.raises(InputError) as caught:
        use(wrong)
    said = str(caught.value)
    assert said.startswith(f"{word} must be "), said
    assert "; got " in said
    assert said.endswith(".")
    assert "\n" not in said


@pytest.mark.parametrize(
    ("use", "remedy"),
    [
        (
            lambda: cb.CalibratedClassifier(GaussianNB(), cb.StdScaling()).fit(X, Y),
            r"CalibratedRegressor\(model, StdScaling\(\)\)",
        ),
        (
            lambda: cb.CalibratedRegressor(LinearRegression(), CLASSES).fit(X, MEAN),
            r"CalibratedClassifier\(model, TemperatureScaling\(\)\)",
        ),
        (lambda: cb.ConfidenceCalibrator(map=SIGNAL).fit(P, Y), "it belongs in signal="),
        (lambda: cb.ConfidenceCalibrator(map=cb.Isotonic).fit(P, Y), r"call it: Isotonic\(\)"),
        (
            lambda: cb.calibrators.PerClass(SIGNAL).fit(P, Y),
            r"ConfidenceCalibrator\(signal=LogOdds\(\)\)",
        ),
    ],
)
def test_f21_what_was_given_is_sent_where_it_belongs(use, remedy):
    with pytest.raises(InputError, match=remedy):
        use()


@pytest.mark.filterwarnings("ignore::calibrant.errors.SparseDataWarning")
def test_f21_a_map_and_a_class_work_where_a_calibrator_is_wanted():
    one = cb.CalibratedClassifier(GaussianNB(), cb.Isotonic()).fit(X, Y).predict_proba(X)
    other = (
        cb.CalibratedClassifier(GaussianNB(), cb.OneVsRest(cb.Isotonic()))
        .fit(X, Y)
        .predict_proba(X)
    )
    np.testing.assert_array_equal(one, other)
    cb.CalibratedClassifier(GaussianNB(), cb.TemperatureScaling).fit(X, Y)
    cb.calibrators.PerClass(cb.Isotonic()).fit(P, Y)
