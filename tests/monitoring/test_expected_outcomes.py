import numpy as np

from calibrant._numerics.logistic import sigmoid
from calibrant.core.predictions import read
from calibrant.monitoring.expected_outcomes import (
    Moved,
    class_chances,
    error_sizes,
    log_odds_of_second,
)


def test_chances_of_an_overconfident_model_are_mended_out_of_fold():
    rng = np.random.default_rng(0)
    z = rng.normal(size=6000)
    y = (rng.random(6000) < sigmoid(z)).astype(int)
    old, new = read(sigmoid(3.0 * z), y), read(sigmoid(3.0 * np.array([-1.0, 0.0, 1.0])))
    np.testing.assert_allclose(log_odds_of_second(new), [-3.0, 0.0, 3.0], atol=1e-9)
    moved = Moved(np.ones(6000), np.ones(3))
    assert (moved.directions()[0] == 0.0).all()
    out, chance = class_chances(old, new, moved, 0)
    np.testing.assert_allclose(chance[:, 1], sigmoid(np.array([-1.0, 0.0, 1.0])), atol=0.04)
    np.testing.assert_allclose(out.sum(axis=1), 1.0)
    assert np.abs(out[:, 1] - sigmoid(z)).mean() < 0.03


def test_many_classes_are_calibrated_too():
    rng = np.random.default_rng(1)
    z = rng.normal(size=(4000, 3))
    P = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    y = (P.cumsum(axis=1) < rng.random((4000, 1))).sum(axis=1)
    sharp = P**3 / (P**3).sum(axis=1, keepdims=True)
    moved = Moved(np.ones(3000), np.ones(1000))
    _, chance = class_chances(read(sharp[:3000], y[:3000]), read(sharp[3000:]), moved, 0)
    assert np.abs(chance - P[3000:]).mean() < 0.02


def test_sizes_of_errors_follow_the_stated_std():
    rng = np.random.default_rng(2)
    std = np.exp(rng.normal(size=5000) * 0.5)
    size = np.abs(rng.normal(size=5000)) * 2.0 * std
    out, expected = error_sizes(
        size, (std, np.array([0.5, 2.0])), Moved(np.ones(5000), np.ones(2)), 0
    )
    np.testing.assert_allclose(
        expected, 2.0 * np.sqrt(2.0 / np.pi) * np.array([0.5, 2.0]), rtol=0.08
    )
    assert abs(out.mean() / size.mean() - 1.0) < 0.01
