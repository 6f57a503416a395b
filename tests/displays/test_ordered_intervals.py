"""Rows in order are rows of the data, evenly taken, with the missed ones marked."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.errors import CalibrationWarning, InputError, SparseDataWarning


def _data(n=1000):
    rng = np.random.default_rng(0)
    mean, std = rng.normal(size=n), np.exp(0.4 * rng.normal(size=n))
    return mean + std * rng.normal(size=n), mean, std


def test_few_rows_are_all_shown_in_order():
    y, mean, std = _data(50)
    for by, key in (("outcome", y), ("mean", mean)):
        rows, order = metrics.ordered_intervals(y, mean, std, level=0.5, by=by), np.argsort(key)
        np.testing.assert_array_equal(rows.y, y[order])
        np.testing.assert_allclose(rows.high - rows.low, 2.0 * 0.6744897501960817 * std[order])
        assert rows.held.mean() == metrics.interval_coverage(y, mean, std, level=0.5)


def test_of_many_every_so_many_is_taken_whatever_their_order():
    y, mean, std = _data()
    rows, mix = (
        metrics.ordered_intervals(y, mean, std, by="outcome"),
        np.random.default_rng(1).permutation(1000),
    )
    np.testing.assert_array_equal(rows.y, np.sort(y)[2::5])
    again = metrics.ordered_intervals(y[mix], mean[mix], std[mix], by="outcome")
    assert again.to_dict() == rows.to_dict()


def test_a_weight_of_two_is_two_rows_and_weights_of_sum_one_show_all():
    y, mean, std = _data(60)
    weight = np.arange(60) % 3
    many = [np.repeat(one, weight) for one in (y, mean, std)]
    for n_rows in (20, 200):
        weighted = metrics.ordered_intervals(y, mean, std, n_rows=n_rows, sample_weight=weight)
        assert weighted.to_dict() == metrics.ordered_intervals(*many, n_rows=n_rows).to_dict()
    with pytest.warns(CalibrationWarning, match="adds up to 1"):
        assert (
            len(metrics.ordered_intervals(y, mean, std, sample_weight=np.full(60, 1 / 60)).y) == 60
        )


def test_the_order_is_that_of_the_report():
    y, mean, std = _data(60)
    found = cb.report(y, mean, std, calibrator=cb.regression.ForecastIdentity(), n_resamples=0)
    ordered = found.to_dict()["outputs"][0]["curves"]["before"]["ordered"]
    display = cb.displays.OrderedIntervalsDisplay.from_predictions(y, mean, std, n_rows=100)
    np.testing.assert_allclose(display.curve.y, ordered["y"])


def test_it_draws_the_missed_apart():
    y, mean, std = _data()
    out = cb.displays.OrderedIntervalsDisplay.from_predictions(
        y, mean, std, by="mean", name="a $ b"
    )
    missed = ~out.curve.held
    assert 0 < missed.sum() < 50
    np.testing.assert_array_equal(out.missed_.get_offsets()[:, 1], out.curve.y[missed])
    np.testing.assert_array_equal(out.held_.get_offsets()[:, 0], out.curve.place[~missed])
    np.testing.assert_array_equal(
        [line[:, 1] for line in out.intervals_.get_segments()],
        np.column_stack([out.curve.low, out.curve.high]),
    )
    assert out.ax_.get_title() == "a $ b"
    assert cb.displays.OrderedIntervalsDisplay(out.curve).plot(out.ax_).ax_ is out.ax_


def test_intervals_without_end_run_off_the_axis():
    y, mean, std = _data(100)
    forecast = cb.ConformalIntervals().fit(mean[:5], y[:5], std=std[:5]).predict(mean, std)
    with pytest.warns(SparseDataWarning):
        out = cb.displays.OrderedIntervalsDisplay.from_predictions(y, forecast)
    assert np.isinf(out.curve.high).all()
    assert out.curve.held.all()
    assert np.isfinite(out.ax_.get_ylim()).all()
    out.figure_.canvas.draw()


@pytest.mark.parametrize("wrong", [{"by": "std"}, {"level": 1.0}, {"n_rows": 0}])
def test_wrong_options_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        metrics.ordered_intervals([0.0], [0.0], [1.0], **wrong)
