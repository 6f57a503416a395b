"""The temperature kernel: derivatives, float32, and sums that do not depend on threads."""

import numpy as np
import pytest

from calibrant._kernels import temperature
from calibrant._kernels.temperature import inverse_temperature, nll_derivatives, tilted_losses, tilted_root, tilts
from calibrant._kernels.threads import threads


def _logits(n, n_classes, beta, seed=0):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, n_classes)) * 2.0
    return logits, (beta * logits + rng.gumbel(size=logits.shape)).argmax(axis=1), rng.uniform(0.5, 2.0, n)


def test_derivatives_agree_with_differences():
    logits, labels, weight = _logits(50, 4, 1.0)
    value, slope, curvature = nll_derivatives(0.7, logits, labels, weight)
    h = 1e-5
    ahead, behind = (nll_derivatives(0.7 + d, logits, labels, weight) for d in (h, -h))
    assert (ahead[0] - behind[0]) / (2 * h) == pytest.approx(slope, rel=1e-6)
    assert (ahead[0] - 2 * value + behind[0]) / h**2 == pytest.approx(curvature, rel=1e-3)


def test_single_precision_and_the_coarse_start_do_not_move_the_optimum(monkeypatch):
    logits, labels, weight = _logits(3000, 20, 0.6)
    exact, status = inverse_temperature(logits, labels, weight, 1e-3, 1e3)
    monkeypatch.setattr(temperature, "SINGLE_ENTRIES", 1000)
    single, single_status = inverse_temperature(logits.astype(np.float32), labels, weight, 1e-3, 1e3)
    assert status == single_status == "converged"
    assert single == pytest.approx(exact, rel=1e-6)


def test_the_number_of_threads_changes_no_bit():
    logits, labels, weight = _logits(2000, 100, 1.3)
    ends = []
    for n in (1, 2, 3):
        with threads(n):
            ends.append(inverse_temperature(logits, labels, weight, 1e-3, 1e3)[0])
    assert len(set(ends)) == 1


def test_the_series_about_one_temperature_tells_losses_and_roots_near_by():
    rng = np.random.default_rng(5)
    logits, weight = rng.normal(size=(2000, 4)) * 2.0, rng.uniform(0.5, 2.0, 2000)
    labels = (0.6 * logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    beta, _ = inverse_temperature(logits, labels, weight)
    series = tilts(beta, logits, labels)
    near = beta * 1.01
    exact = np.log(np.exp(near * logits).sum(axis=1)) - near * logits[np.arange(2000), labels]
    np.testing.assert_allclose(tilted_losses(series, near - beta), exact, atol=1e-8)
    part = rng.random(2000) < 0.8
    root, _ = inverse_temperature(logits[part], labels[part], weight[part])
    assert beta + tilted_root(series[part], weight[part], 0.1) == pytest.approx(root, rel=1e-6)
    assert tilted_root(series[part], weight[part], 1e-9) is None
