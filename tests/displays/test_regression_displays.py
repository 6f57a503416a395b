"""Regression displays draw the numbers of their records."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.errors import InputError, SparseDataWarning


def _data():
    rng = np.random.default_rng(0)
    std = np.exp(0.4 * rng.normal(size=800))
    return 1.5 * std * rng.normal(size=800), np.zeros(800), std


@pytest.mark.parametrize(
    "display",
    [
        cb.displays.RmseRmvDisplay,
        cb.displays.RealStdDisplay,
        cb.displays.IntervalCalibrationDisplay,
        cb.displays.PitHistogramDisplay,
    ],
)
def test_it_draws_and_returns_itself(display):
    out = display.from_predictions(*_data(), name="a $ b")
    assert isinstance(out, display)
    assert out.ax_.get_title() == "a $ b"
    assert out.ax_.get_xlabel()
    again = display(out.curve).plot(out.ax_)
    assert again.ax_ is out.ax_


def test_the_points_are_the_curve():
    y, mean, std = _data()
    curve = metrics.rmse_rmv_curve(y, mean, std)
    out = cb.displays.RmseRmvDisplay(curve).plot()
    np.testing.assert_array_equal(out.line_.get_xydata(), np.column_stack([curve.rmv, curve.rmse]))
    # All bins are 1.5 times over: above the band of calibrated error bars.
    assert (curve.rmse > curve.high).all()
    error = metrics.expected_normalized_calibration_error(y, mean, std)
    assert np.mean(np.abs(curve.rmv - curve.rmse) / curve.rmv) == pytest.approx(error)
    coverage = metrics.interval_curve(y, mean, std, n_levels=11)
    assert coverage.coverage[9] == metrics.interval_coverage(y, mean, std, level=0.9)


def test_two_curves_on_the_same_axes_share_their_ends():
    from matplotlib.figure import Figure

    y, mean, std = _data()
    ax = Figure().add_subplot()
    for scale, colour in ((2.0, "other"), (1.0, "main")):
        curve = metrics.rmse_rmv_curve(y, mean, scale * std)
        out = cb.displays.RmseRmvDisplay(curve).plot(ax, colour=colour, label=colour)
    assert ax.get_xlim() == ax.get_ylim()
    assert ax.get_xlim()[1] > 2.0 * out.curve.rmv.max()
    assert ax.get_xscale() == "linear"
    wide = metrics.rmse_rmv_curve(y, mean, np.exp(3.0 * np.log(std)))
    assert cb.displays.RmseRmvDisplay(wide).plot().ax_.get_xscale() == "log"


def test_real_std_by_hand():
    y, mean, std = _data()
    curve = metrics.real_std_curve(y, mean, std, n_bins=8, level=0.8)
    parts = np.array_split(np.argsort(std), 8)
    assert curve.n.tolist() == [100.0] * 8
    np.testing.assert_allclose(curve.std, [np.sqrt(np.mean(std[p] ** 2)) for p in parts])
    np.testing.assert_allclose(curve.real, [np.sqrt(np.mean(y[p] ** 2)) for p in parts])
    np.testing.assert_array_equal(curve.half, [np.sort(np.abs(y[p]))[49] for p in parts])
    np.testing.assert_array_equal(curve.reach, [np.sort(np.abs(y[p]))[79] for p in parts])
    np.testing.assert_allclose(
        curve.reach_claimed, [1.2815515655446004 * std[p].mean() for p in parts]
    )
    # The errors are 1.5 times what is claimed.
    assert ((curve.low < 1.5 * curve.std) & (1.5 * curve.std < curve.high)).mean() >= 0.75
    out = cb.displays.RealStdDisplay(curve).plot()
    np.testing.assert_array_equal(out.line_.get_xydata(), np.column_stack([curve.std, curve.real]))


def test_real_std_shows_rows_or_the_std_known():
    y, mean, std = _data()
    weight = np.arange(800) % 2
    odd = weight == 1
    out = cb.displays.RealStdDisplay.from_predictions(
        y, mean, std, sample_weight=weight, true_std=1.5 * std, n_points=500
    )
    assert len(out.points[0]) == 400
    np.testing.assert_allclose(out.points[1], 1.5 * out.points[0])
    again = cb.displays.RealStdDisplay.from_predictions(
        y, mean, std, sample_weight=weight, n_points=500, ax=out.ax_
    )
    assert sorted(again.points[1]) == sorted(np.abs(y[odd]))
    assert (
        cb.displays.RealStdDisplay.from_predictions(y, mean, std, n_points=0, ax=out.ax_).points
        is None
    )
    with pytest.raises(InputError, match="true_std must have one entry"):
        cb.displays.RealStdDisplay.from_predictions(y, mean, std, true_std=std[:5])


def test_real_std_of_intervals_without_end():
    y, mean, std = _data()
    forecast = cb.ConformalIntervals().fit(mean[:5], y[:5], std=std[:5]).predict(mean, std)
    with pytest.warns(SparseDataWarning, match="needs 9 calibration rows; got 5"):
        out = cb.displays.RealStdDisplay.from_predictions(y, forecast)
    assert np.isinf(out.curve.reach_claimed).all()
    assert np.isfinite(out.ax_.get_ylim()).all()
    out.figure_.canvas.draw()


@pytest.mark.parametrize("kind", ["interval", "quantile"])
def test_a_simultaneous_band_holds_the_whole_curve_where_single_intervals_do_not(kind):
    rng, runs, held = np.random.default_rng(0), 400, {True: 0, False: 0}
    for _ in range(runs):
        y = rng.normal(size=150)
        for simultaneous in held:
            curve = metrics.interval_curve(
                y, np.zeros(150), np.ones(150), kind=kind, simultaneous=simultaneous
            )
            held[simultaneous] += bool(
                ((curve.low <= curve.level) & (curve.level <= curve.high)).all()
            )
    # Three standard errors of 400 runs at 95 % are 3.3 points.
    assert held[True] / runs > 0.917
    assert held[False] / runs < 0.85


def test_a_simultaneous_band_counts_weights_as_rows_and_is_drawn():
    y, mean, std = _data()
    twice = metrics.interval_curve(y, mean, std, simultaneous=True, sample_weight=np.full(800, 2.0))
    repeated = metrics.interval_curve(
        np.tile(y, 2), np.tile(mean, 2), np.tile(std, 2), simultaneous=True
    )
    np.testing.assert_allclose(twice.high, repeated.high)
    out = cb.displays.IntervalCalibrationDisplay.from_predictions(y, mean, std, simultaneous=True)
    # Errors are 1.5 times what is claimed: surely so, at all levels together.
    assert (out.curve.high < out.curve.level).any()
