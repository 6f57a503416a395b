import numpy as np
import pytest

from calibrant import metrics

bias = metrics.calibration_bias
RNG = np.random.default_rng(0)


def test_it_is_the_mean_risk_less_the_share_of_events():
    p, w = RNG.random(50), RNG.integers(0, 3, 50)
    y = (RNG.random(50) < 0.3).astype(int)
    assert bias(y, p, sample_weight=w) == pytest.approx(np.average(p - y, weights=w))
    assert bias(y, p) == pytest.approx(metrics.mean_risk(y, p) - y.mean())
    assert bias(y, p, target=0) == pytest.approx(-bias(y, p))


def test_a_group_without_events_has_a_width():
    found = metrics.per_group(bias, [0] * 20, np.full(20, 0.02), ["a"] * 10 + ["b"] * 10)
    assert (found.low < found.value - 0.2).all()
    # The rate is not below 0, so the bias is not above the mean risk.
    np.testing.assert_allclose(found.value, found.high, rtol=1e-12)


@pytest.mark.parametrize(("n", "rate"), [(100, 0.03), (100, 0.4), (1000, 0.008)])
def test_the_interval_covers(n, rate):
    rng = np.random.default_rng(1)
    p = np.linspace(0.2, 1.8, n) * rate
    truth = 0.8 * p
    true = (p - truth).mean()
    draws = [bias.interval((rng.random(n) < truth).astype(int), p) for _ in range(400)]
    assert np.mean([d.low <= true <= d.high for d in draws]) >= 0.95 - 3 * np.sqrt(
        0.95 * 0.05 / 400
    )
