import numpy as np
import pytest

import calibrant as cb

pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    P = rng.dirichlet([2.0, 2.0, 2.0, 0.0001], 600)
    return np.array([rng.choice(4, p=row) for row in P]), P


def test_draws_the_curve_and_the_bars_it_stores(data):
    y, P = data
    cal = cb.ConfidenceCalibrator(map=cb.calibrators.KernelDensity()).fit(P, y)
    display = cb.displays.ConfidenceCurveDisplay.from_predictions(y, P, cal)
    curve = cb.calibrators.confidence_curve(y, P, cal)
    np.testing.assert_array_equal(display.line_.get_ydata(), curve.points.confidence)
    np.testing.assert_array_equal([bar.get_height() for bar in display.bars_], curve.bars.rate)
    np.testing.assert_array_equal(
        [s[:, 1] for s in display.intervals_.get_segments()],
        np.column_stack([curve.bars.low, curve.bars.high]),
    )
    right, wrong = display.densities_ax_.lines
    np.testing.assert_array_equal(right.get_ydata(), curve.points.right_density)
    np.testing.assert_array_equal(wrong.get_ydata(), curve.points.wrong_density)
    display.figure_.canvas.draw()


def test_the_grid_has_a_panel_for_each_class_predicted(data):
    y, P = data
    cal = cb.calibrators.CategoryTemperature().fit(P, y)
    displays = cb.displays.ConfidenceCurveDisplay.grid(y, P, cal, columns=2, densities=False)
    assert [d.curve.name for d in displays] == [0, 1, 2]  # class 3 is never predicted
    assert all(d.curve.cloud for d in displays)
    assert len({d.figure_ for d in displays}) == 1
    displays[0].figure_.canvas.draw()


def test_a_class_never_predicted_draws_nothing(data):
    y, P = data
    assert (
        cb.displays.ConfidenceCurveDisplay.from_predictions(
            y, P, cb.calibrators.Identity().fit(P, y), 3
        )
        is None
    )
    assert pyplot.get_fignums() == []


def test_a_hostile_class_name_stays_text():
    P, names = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], [r"$\frac{<b>", "b"]
    cal = cb.calibrators.Identity(classes=names).fit(P, [names[0], "b", "b"])
    display = cb.displays.ConfidenceCurveDisplay.from_predictions(
        [names[0], "b", "b"], P, cal, names[0]
    )
    display.figure_.canvas.draw()
    assert display.densities_ax_.get_title() == r"$\frac{<b>: 1 right, 1 wrong"
