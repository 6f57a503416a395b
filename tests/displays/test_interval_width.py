"""Widths and coverages by bin are those of the bin's rows."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.errors import InputError


def _data(n=800, seed=0):
    rng = np.random.default_rng(seed)
    mean, std = rng.normal(size=n), np.exp(0.4 * rng.normal(size=n))
    return mean + std * rng.normal(size=n), mean, std


@pytest.mark.parametrize("by", ["outcome", "mean"])
def test_by_hand(by):
    y, mean, std = _data()
    key = {"outcome": y, "mean": mean}[by]
    curve = metrics.interval_width_curve(y, mean, std, by=by, n_bins=8, level=0.8)
    parts = np.array_split(np.argsort(key), 8)
    assert curve.n.tolist() == [100.0] * 8
    np.testing.assert_allclose(curve.value, [key[p].mean() for p in parts])
    np.testing.assert_allclose(
        curve.width, [2.0 * 1.2815515655446004 * std[p].mean() for p in parts]
    )
    np.testing.assert_allclose(
        curve.coverage, [metrics.interval_coverage(y[p], mean[p], std[p], level=0.8) for p in parts]
    )
    assert curve.claimed.tolist() == [0.8] * 8


def test_true_forecasts_hold_the_level_by_the_mean_and_not_by_the_outcome():
    held, ends, runs = [], [], 100
    for seed in range(runs):
        by_mean, by_outcome = (
            metrics.interval_width_curve(*_data(seed=seed), by=by) for by in ("mean", "outcome")
        )
        held.append((by_mean.low <= 0.9) & (by_mean.high >= 0.9))
        ends.append(by_outcome.coverage[[0, -1]])
    # 1,000 bins at 95 %: three standard errors are 2.1 points.
    assert np.mean(held) > 0.929
    assert np.mean(ends) < 0.8


def test_weights_are_rows_and_clusters_widen():
    y, mean, std = _data(300)
    weight = np.arange(300) % 3
    many = [np.repeat(one, weight) for one in (y, mean, std)]
    weighted, repeated = (
        metrics.interval_width_curve(y, mean, std, sample_weight=weight),
        metrics.interval_width_curve(*many),
    )
    for name, column in repeated.to_dict().items():
        np.testing.assert_allclose(getattr(weighted, name), column, err_msg=name)
    twice = [np.tile(one, 2) for one in (y, mean, std)]
    alone, together = (
        metrics.interval_width_curve(*twice, cluster=c) for c in (None, np.tile(np.arange(300), 2))
    )
    assert np.mean(together.high - together.low) > 1.2 * np.mean(alone.high - alone.low)


def test_it_draws_the_curve():
    out = cb.displays.IntervalWidthDisplay.from_predictions(*_data(), name="a $ b")
    np.testing.assert_array_equal(
        out.line_.get_xydata(), np.column_stack([out.curve.value, out.curve.width])
    )
    np.testing.assert_array_equal(out.coverage_.get_ydata(), out.curve.coverage)
    assert out.ax_.get_title() == "a $ b"
    # Width and coverage have axes of their own, one below the other, with one scale each.
    assert out.coverage_ax_ in out.figure_.axes
    assert out.coverage_ax_.get_position().y1 < out.ax_.get_position().y0
    assert out.ax_.get_ylim()[0] == 0.0
    assert out.coverage_ax_.get_ylim() == (0.0, 1.05)
    assert cb.displays.IntervalWidthDisplay(out.curve).plot(out.ax_).ax_ is out.ax_


def test_intervals_without_end_have_no_finite_width():
    y, mean, std = _data(100)
    forecast = cb.ConformalIntervals().fit(mean[:5], y[:5], std=std[:5]).predict(mean, std)
    with pytest.warns(cb.errors.SparseDataWarning):
        out = cb.displays.IntervalWidthDisplay.from_predictions(y, forecast)
    assert np.isinf(out.curve.width).all()
    assert (out.curve.coverage == 1.0).all()
    assert np.isfinite(out.ax_.get_ylim()).all()
    out.figure_.canvas.draw()


@pytest.mark.parametrize("wrong", [{"by": "std"}, {"level": 1.0}, {"n_bins": 0}])
def test_wrong_options_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        metrics.interval_width_curve([0.0], [0.0], [1.0], **wrong)
