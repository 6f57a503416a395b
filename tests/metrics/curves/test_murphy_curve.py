import numpy as np
import pytest

from calibrant import metrics


def drawn(n, seed=0, steps=None):
    rng = np.random.default_rng(seed)
    p = rng.beta(0.5, 1.0, n) if steps is None else rng.integers(0, steps + 1, n) / steps
    return (rng.random(n) < p).astype(int), p


def elementary(y, p, t):
    """The definition, row by row."""
    low, high = np.minimum(p, y), np.maximum(p, y)
    return 2.0 * np.mean(np.abs(y - t) * ((low <= t) & (t < high)))


def test_it_is_the_definition():
    y, p = drawn(100, steps=10)
    thresholds = [0.0, 0.05, 0.3, 0.5, 0.95]
    curve = metrics.murphy_curve(y, p, thresholds=thresholds)
    np.testing.assert_allclose(curve.score, [elementary(y, p, t) for t in thresholds], atol=1e-15)


@pytest.mark.parametrize(
    "data",
    [drawn(300), drawn(300, steps=7), ([0, 1, 0, 1], [0.0, 0.0, 1.0, 1.0]), ([1, 1], [0.4, 0.4])],
)
def test_its_integral_is_the_brier_score(data):
    y, p = np.array(data[0]), np.array(data[1])
    curve = metrics.murphy_curve(y, p)
    assert np.trapezoid(curve.score, curve.threshold) == pytest.approx(
        np.mean((p - y) ** 2), abs=1e-14
    )


def test_its_weighted_integral_is_the_log_loss():
    y, p = drawn(200, seed=3)
    p = np.clip(p, 0.05, 0.95)
    z = np.linspace(-16.0, 16.0, 20_001)
    t = 1.0 / (1.0 + np.exp(-z))
    # dθ = θ (1 - θ) dz
    score = metrics.murphy_curve(y, p, thresholds=t).score
    assert np.trapezoid(score / 2.0, z) == pytest.approx(metrics.log_loss(y, p), rel=1e-3)


def test_many_risks_are_thinned_and_the_integral_stays():
    y, p = drawn(5000)
    curve = metrics.murphy_curve(y, p)
    assert len(curve.threshold) <= 2002
    assert np.trapezoid(curve.score, curve.threshold) == pytest.approx(
        np.mean((p - y) ** 2), rel=1e-3
    )


def test_the_parts_add_up_and_are_those_of_the_brier_score():
    y, p = drawn(250, steps=20)
    curve = metrics.murphy_curve(y, p, decompose=True)
    np.testing.assert_allclose(
        curve.score, curve.miscalibration - curve.discrimination + curve.uncertainty, atol=1e-14
    )
    assert curve.miscalibration.min() > -1e-12
    assert curve.discrimination.min() > -1e-12
    assert np.isnan(metrics.murphy_curve(y, p).uncertainty).all()
    t = np.arange(20_000) / 20_000
    fine = metrics.murphy_curve(y, p, thresholds=t, decompose=True)
    whole = metrics.brier_decomposition(y, p, target="event")
    for name in ("miscalibration", "discrimination", "uncertainty"):
        assert getattr(fine, name).mean() == pytest.approx(getattr(whole, name), abs=1e-3)


def test_weights_are_repetition():
    y, p = drawn(90, steps=9)
    weight = np.arange(90) % 3
    rows = np.repeat(np.arange(90), weight)
    weighted = metrics.murphy_curve(y, p, sample_weight=weight, decompose=True)
    repeated = metrics.murphy_curve(y[rows], p[rows], decompose=True)
    for name, column in weighted.to_dict().items():
        np.testing.assert_allclose(column, getattr(repeated, name), rtol=1e-12, atol=1e-15)


def test_the_interval_covers_and_holds_the_value():
    t = [0.1, 0.4, 0.8]
    truth = metrics.murphy_curve(*drawn(400_000, seed=1), thresholds=t).score
    held = np.zeros(3)
    for seed in range(400):
        curve = metrics.murphy_curve(*drawn(150, seed=seed + 2), thresholds=t)
        held += (curve.low <= truth) & (truth <= curve.high)
        assert (
            (curve.low <= curve.score) & (curve.score <= curve.high) & (curve.low < curve.high)
        ).all()
    assert (held / 400 >= 0.95 - 3.0 * np.sqrt(0.95 * 0.05 / 400)).all(), held / 400
