"""The std through an increasing function."""

import numpy as np
import pytest

import calibrant as cb


def test_a_wrong_power_is_put_right():
    rng = np.random.default_rng(0)
    std = rng.uniform(0.1, 3.0, 20_000)
    cal = cb.regression.IsotonicVariance().fit(
        np.zeros(20_000), np.sqrt(std) * rng.normal(size=20_000), std=std
    )
    new = np.linspace(0.3, 2.7, 9)
    np.testing.assert_allclose(cal.predict(np.zeros(9), new).std, np.sqrt(new), rtol=0.12)


def test_it_is_increasing_and_keeps_the_ratio_beyond_the_ends():
    rng = np.random.default_rng(1)
    std = rng.uniform(1.0, 2.0, 500)
    cal = cb.regression.IsotonicVariance().fit(np.zeros(500), std * rng.normal(size=500), std=std)
    out = cal.predict(np.zeros(50), np.linspace(0.01, 20.0, 50)).std
    assert (np.diff(out) >= 0.0).all()
    ends = cal.predict(np.zeros(2), np.array([10.0, 20.0])).std
    assert ends[1] == pytest.approx(2.0 * ends[0])


def test_a_meaningless_std_becomes_constant():
    rng = np.random.default_rng(2)
    std = rng.uniform(1.0, 10.0, 5000)
    cal = cb.regression.IsotonicVariance().fit(np.zeros(5000), rng.normal(size=5000), std=std)
    assert np.ptp(cal.predict(np.zeros(100), np.linspace(2.0, 9.0, 100)).std) < 0.25


def test_one_large_error_at_the_largest_std_is_no_block_of_its_own():
    std = np.linspace(1.0, 2.0, 200)
    y = std.copy()
    y[-1] = 1000.0
    cal = cb.regression.IsotonicVariance().fit(np.zeros(200), y, std=std)
    assert cal.predict([0.0], [2.0]).std[0] < 300.0
