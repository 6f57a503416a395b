"""Bootstrap weights and sums."""

import numpy as np
import pytest
from scipy import stats

from calibrant._kernels import bootstrap


@pytest.mark.parametrize(
    "weight", [np.ones(30), np.arange(30.0), np.full(30, 0.5)], ids=["ones", "whole", "halves"]
)
def test_a_resample_draws_as_many_rows_as_the_weights_add_up_to(weight):
    rng = np.random.default_rng(0)
    draws = np.array([bootstrap.resample_weights(weight, rng) for _ in range(2000)])
    assert set(draws.sum(axis=1)) == {round(weight.sum())}
    np.testing.assert_allclose(draws.mean(axis=0), weight, atol=6 * np.sqrt(weight.max() / 2000))


def test_resampled_sums_are_the_sums_over_the_drawn_rows():
    rng = np.random.default_rng(1)
    weight, column = rng.integers(1, 4, 50).astype(float), rng.random(50)
    sets = [(rng.integers(0, 3, 50), [column]), (rng.integers(0, 3, 50), [column**2])]
    out = bootstrap.resampled_sums(sets, 3, weight, 70, 9)
    assert out.shape == (70, 2, 3, 2)
    again = np.random.default_rng(9)
    for draw in out:
        times = bootstrap.resample_weights(weight, again)
        for (group, (values,)), sums in zip(sets, draw, strict=True):
            np.testing.assert_allclose(sums[:, 0], np.bincount(group, times, 3))
            np.testing.assert_allclose(sums[:, 1], np.bincount(group, times * values, 3))


@pytest.mark.parametrize("kind", ["ones", "one heavy row", "log-normal", "thousands", "fractions"])
def test_of_many_rows_the_draws_spread_as_those_of_single_rows(kind, monkeypatch):
    """Where parts took a heavy row whole, a share of one half had a standard deviation of 0.33
    for 0.005.
    """
    monkeypatch.setattr(bootstrap, "MANY_ROWS", 4000)
    monkeypatch.setattr(bootstrap, "PARTS", 200)
    monkeypatch.setattr(bootstrap, "PIECES", 20_000)
    rng = np.random.default_rng(5)
    weight = {
        "ones": np.ones(5000),
        "one heavy row": np.append(np.ones(4999), 5000.0),
        "log-normal": np.ceil(np.exp(1.5 * rng.normal(size=5000))),
        "thousands": np.full(5000, 1000.0),
        "fractions": np.full(5000, 0.2),
    }[kind]
    hit = np.where(np.arange(5000) == 4999, 1.0, rng.random(5000) < 0.3)
    draws = bootstrap.resampled_sums([(np.zeros(5000, dtype=int), [hit])], 1, weight, 600, 0)[
        :, 0, 0
    ]
    share, rate = draws[:, 1] / draws[:, 0], weight @ hit / weight.sum()
    assert draws[:, 0].mean() == pytest.approx(weight.sum(), rel=0.02)
    assert share.mean() == pytest.approx(rate, abs=4.0 * np.std(share) / np.sqrt(600))
    assert np.std(share) == pytest.approx(np.sqrt(rate * (1.0 - rate) / weight.sum()), rel=0.3)


def test_percentile_limits():
    assert bootstrap.percentile_limits(np.arange(101.0), 0.9) == pytest.approx((5.0, 95.0))


def test_bias_corrected_limits_by_hand():
    """Where half of the resamples are below the value and parts left out do not skew, they are
    percentiles; else Efron's formula.
    """
    values = np.arange(1.0, 11.0)
    even = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(
        bootstrap.bca_limits(values[:9], 5.0, even, 0.9), np.quantile(values[:9], [0.05, 0.95])
    )
    np.testing.assert_allclose(
        bootstrap.bca_limits(values[:9], 5.0, np.zeros(0), 0.9),
        np.quantile(values[:9], [0.05, 0.95]),
    )
    bias, z = stats.norm.ppf(0.25), stats.norm.ppf([0.05, 0.95])
    acceleration = -18.0 / (6.0 * 14.0**1.5)
    for left_out, a in ((even, 0.0), (np.array([1.0, 2.0, 6.0, np.nan]), acceleration)):
        at = stats.norm.cdf(bias + (bias + z) / (1.0 - a * (bias + z)))
        np.testing.assert_allclose(
            bootstrap.bca_limits(values, 3.0, left_out, 0.9), np.quantile(values, at)
        )
    # All above the value: as if half a resample were below.
    at = stats.norm.cdf(2.0 * stats.norm.ppf(0.05) + z)
    np.testing.assert_allclose(
        bootstrap.bca_limits(values, 0.0, even, 0.9), np.quantile(values, at)
    )
    assert np.isnan(bootstrap.bca_limits(np.array([np.nan]), 0.0, even, 0.9)).all()


def test_every_row_or_part_is_left_out_once():
    weight = np.arange(1.0, 6.0)
    assert sorted(bootstrap.leave_out_values(weight, lambda w: float(w.sum()), 0)) == [
        10.0,
        11.0,
        12.0,
        13.0,
        14.0,
    ]
    many = bootstrap.leave_out_values(np.ones(400), lambda w: float(w.sum()), 0)
    assert many.tolist() == [398.0] * 200
    assert len(bootstrap.leave_out_values(np.ones(1), lambda w: 0.0, 0)) == 0


def test_totals_are_of_resamples_of_the_seed():
    weight, rng = np.array([1.0, 2.0, 3.0]), np.random.default_rng(3)
    found = bootstrap.bootstrap_totals(weight, lambda w: float(w @ [1.0, 10.0, 100.0]), 4, 3)
    assert found.tolist() == [
        float(bootstrap.resample_weights(weight, rng) @ [1.0, 10.0, 100.0]) for _ in range(4)
    ]
