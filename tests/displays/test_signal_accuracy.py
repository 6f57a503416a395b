import numpy as np
import pytest

import calibrant as cb

pyplot = pytest.importorskip("matplotlib.pyplot")


def test_draws_the_record_it_stores():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(3), 300)
    y = (rng.random(300)[:, None] > P.cumsum(axis=1)).sum(axis=1)
    display = cb.displays.SignalAccuracyDisplay.from_predictions(
        y, P, cb.calibrators.LabelStability(), n_bins=6, name="cost in $"
    )
    bins, fits = display.accuracy.bins, display.accuracy.fits
    np.testing.assert_array_equal(
        display.points_.get_xydata(), np.column_stack([bins.score, bins.accuracy])
    )
    np.testing.assert_array_equal(
        [s[:, 1] for s in display.intervals_.get_segments()], np.column_stack([bins.low, bins.high])
    )
    np.testing.assert_array_equal(display.isotonic_.get_ydata(), fits.isotonic)
    np.testing.assert_array_equal(
        display.sigmoid_.get_xydata(), np.column_stack([fits.score, fits.sigmoid])
    )
    assert "Label stability" in display.ax_.get_xlabel()
    display.figure_.canvas.draw()
    _, ax = pyplot.subplots()
    again = cb.displays.SignalAccuracyDisplay(display.accuracy)
    assert again.plot(ax) is again
    assert again.ax_ is ax
