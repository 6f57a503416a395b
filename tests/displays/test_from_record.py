"""Every display that is made from predictions is made from a record too, with the same numbers."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.core.forecast_record import read_forecast
from calibrant.core.reading import read_labelled

pyplot = pytest.importorskip("matplotlib.pyplot")

RNG = np.random.default_rng(0)
P = RNG.beta(1.0, 2.0, 80)
Y = (RNG.random(80) < P).astype(int)
CLASSES = (
    "ConfidenceHistogramDisplay",
    "DecisionCurveDisplay",
    "GainDisplay",
    "IsotonicCurveDisplay",
    "JointDistributionDisplay",
    "MurphyDisplay",
    "ReliabilityDisplay",
    "RiskCoverageDisplay",
    "RiskDistributionDisplay",
)
NUMBERS = (
    "IntervalCalibrationDisplay",
    "IntervalWidthDisplay",
    "OrderedIntervalsDisplay",
    "PitHistogramDisplay",
    "RealStdDisplay",
    "RmseRmvDisplay",
)
#: Made from what was fitted, from sets, or with a signal that needs features.
OTHERS = {
    "ConfidenceCurveDisplay",
    "DriftDisplay",
    "LatentFunctionDisplay",
    "SetCoverageDisplay",
    "SignalAccuracyDisplay",
}


def drawn(display):
    """The numbers that a display stores."""
    stored = next(
        vars(display)[name]
        for name in ("curve", "histogram", "joint", "distribution")
        if vars(display).get(name) is not None
    )
    return stored.to_dict() if hasattr(stored, "to_dict") else {"counts": stored.counts.tolist()}


def test_no_display_is_left_out():
    assert {name for name in cb.displays.__all__ if name.endswith("Display")} == {
        *CLASSES,
        *NUMBERS,
        *OTHERS,
    }


@pytest.mark.parametrize("name", CLASSES)
def test_of_classes(name):
    display = getattr(cb.displays, name)
    np.testing.assert_equal(
        drawn(display.from_record(read_labelled(Y, P), name="a")),
        drawn(display.from_predictions(Y, P)),
    )


@pytest.mark.parametrize("name", NUMBERS)
def test_of_numbers(name):
    display, y, std = getattr(cb.displays, name), RNG.normal(size=80), np.linspace(0.5, 2.0, 80)
    assert drawn(display.from_record(read_forecast(np.zeros(80), std, y))) == drawn(
        display.from_predictions(y, np.zeros(80), std)
    )


@pytest.mark.parametrize(
    "name", ["ConfidenceHistogramDisplay", "IsotonicCurveDisplay", "ReliabilityDisplay"]
)
def test_the_default_question_is_the_event_of_two_classes_and_the_answer_of_more(name):
    display = getattr(cb.displays, name)
    assert drawn(display.from_predictions(Y, P)) == drawn(
        display.from_predictions(Y, P, target="event")
    )
    several, y = RNG.dirichlet(np.ones(3), 60), RNG.integers(0, 3, 60)
    assert drawn(display.from_predictions(y, several)) == drawn(
        display.from_predictions(y, several, target="answer")
    )


def test_a_confidence_curve_of_a_class_never_predicted_is_none():
    P3 = np.column_stack([P, 1.0 - P, np.zeros(80)])
    calibrator = cb.ConfidenceCalibrator().fit(P3, 1 - Y)
    assert (
        cb.displays.ConfidenceCurveDisplay.from_record(read_labelled(1 - Y, P3), calibrator, 2)
        is None
    )
    display = cb.displays.ConfidenceCurveDisplay.from_record(
        read_labelled(1 - Y, P3), calibrator, 0, name="zero"
    )
    assert display.name == "zero"


def test_it_draws_on_the_axes_given_with_its_name():
    _, ax = pyplot.subplots()
    display = cb.displays.GainDisplay.from_record(read_labelled(Y, P), ax=ax, name="gains")
    assert display.ax_ is ax
    figure = pyplot.figure()
    assert (
        cb.displays.JointDistributionDisplay.from_record(read_labelled(Y, P), figure=figure).figure_
        is figure
    )
