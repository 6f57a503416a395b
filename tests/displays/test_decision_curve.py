import numpy as np
import pytest

import calibrant as cb

pyplot = pytest.importorskip("matplotlib.pyplot")


def drawn(rate, n=2000):
    rng = np.random.default_rng(0)
    p = rng.beta(1.0, 1.0 / rate - 1.0, n)
    return (rng.random(n) < p).astype(int), p


def test_draws_its_numbers_beside_all_and_none():
    display = cb.displays.DecisionCurveDisplay.from_predictions(*drawn(0.3), name="$a")
    x, y = display.line_.get_data()
    assert (x.tolist(), y.tolist()) == (
        display.curve.threshold.tolist(),
        display.curve.net_benefit.tolist(),
    )
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == [
        "act on all",
        "act on none",
        "model",
        "95 % interval",
    ]
    assert display.ax_.get_title() == "$a"
    display.figure_.canvas.draw()


def test_thresholds_of_a_rare_event_are_on_a_logarithm_and_the_axis_ends_where_nothing_is_left():
    rare, usual = (
        cb.displays.DecisionCurveDisplay.from_predictions(*drawn(rate)).ax_ for rate in (0.01, 0.3)
    )
    assert (rare.get_xscale(), usual.get_xscale()) == ("log", "linear")
    assert rare.get_xlim()[1] < 0.5
    assert usual.get_ylim()[0] > -0.2


def test_a_second_model_joins_the_first():
    y, p = drawn(0.3)
    _, ax = pyplot.subplots()
    cb.displays.DecisionCurveDisplay.from_predictions(y, p, ax=ax)
    cb.displays.DecisionCurveDisplay(cb.metrics.decision_curve(y, 0.5 * p)).plot(
        ax, colour="other", label="half", references=False
    )
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "act on all",
        "act on none",
        "model",
        "half",
        "95 % interval",
        "interval",
    ]


def test_no_events_can_be_drawn():
    cb.displays.DecisionCurveDisplay.from_predictions(
        [0, 0, 0], [0.1, 0.2, 0.3]
    ).figure_.canvas.draw()
