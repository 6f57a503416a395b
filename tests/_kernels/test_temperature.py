"""The temperature kernel: derivatives, float32, and sums that do not depend on threads."""

import numpy as np
import pytest

from calibrant._kernels import temperature
from calibrant._kernels.temperature import (
    inverse_temperature,
    nll_derivatives,
    tilted_losses,
    tilted_root,
    tilts,
)
from calibrant.threads import threads


def _logits(n, n_classes, beta, seed=0):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, n_classes)) * 2.0
    return (
        logits,
        (beta * logits + rng.gumbel(size=logits.shape)).argmax(axis=1),
        rng.uniform(0.5, 2.0, n),
    )


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
    single, single_status = inverse_temperature(
        logits.astype(np.float32), labels, weight, 1e-3, 1e3
    )
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


def test_derivatives_by_hand_in_blocks_of_any_size(monkeypatch):
    rng = np.random.default_rng(0)
    z, labels, weight, beta = (
        rng.normal(size=(7, 3)) * 2,
        rng.integers(0, 3, 7),
        rng.uniform(0.5, 2.0, 7),
        0.7,
    )
    p = np.exp(beta * z) / np.exp(beta * z).sum(axis=1, keepdims=True)
    own, mean = z[np.arange(7), labels], (p * z).sum(axis=1)
    loss = -np.log(p[np.arange(7), labels])
    second = (p * z * z).sum(axis=1) - mean**2
    expected = [np.average(one, weights=weight) for one in (loss, mean - own, second)]
    for entries in (65_536, 6, 1):
        monkeypatch.setattr(temperature, "BLOCK_ENTRIES", entries)
        np.testing.assert_allclose(nll_derivatives(beta, z, labels, weight), expected)
        found = tilts(beta, z, labels)
        centred = z - mean[:, None]
        third, fourth = (p * centred**3).sum(axis=1), (p * centred**4).sum(axis=1)
        np.testing.assert_allclose(
            found,
            np.column_stack([loss, mean - own, second, third, fourth - 3 * second**2]),
            atol=1e-12,
        )
    np.testing.assert_allclose(
        tilted_losses(found, 0.1), found @ [1.0, 0.1, 0.005, 0.001 / 6, 0.0001 / 24]
    )
    change = tilted_root(found, weight, 10.0)
    slope = weight @ found[:, 1:]
    assert slope @ [1.0, change, change**2 / 2, change**3 / 6] == pytest.approx(0.0, abs=1e-9)
    assert tilted_root(found, weight, 0.5 * abs(change)) is None


def test_where_the_loss_has_no_finite_optimum():
    """Labels that are all the largest logit are fitted to targets smoothed by 1 / (n + 1); flat
    logits keep their temperature.
    """
    z = np.array([[2.0, 0.0], [0.0, 1.0], [3.0, 0.0]])
    labels, weight = np.array([0, 1, 0]), np.array([1.0, 2.0, 1.0])
    beta, status = inverse_temperature(z, labels, weight)
    assert status == "separable"
    p = 1.0 / (1.0 + np.exp(-beta * np.array([2.0, 1.0, 3.0])))
    lead = np.array([2.0, 1.0, 3.0])
    # The slope -(1 - p) lead, and a fifth of the half by which the own logit is above the mean.
    assert weight @ (-(1 - p) * lead + 0.5 * lead / 5.0) == pytest.approx(0.0, abs=1e-6)
    assert inverse_temperature(np.full((4, 3), 7.0), np.zeros(4, dtype=int), np.ones(4)) == (
        1.0,
        "flat",
    )
    ulp = np.spacing(7.0)
    assert (
        inverse_temperature(7.0 + ulp * np.array([[0, 4], [4, 0.0]]), np.array([0, 1]), np.ones(2))[
            1
        ]
        == "flat"
    )
    assert (
        inverse_temperature(7.0 + ulp * np.array([[0, 5], [4, 0.0]]), np.array([0, 1]), np.ones(2))[
            1
        ]
        != "flat"
    )
    assert temperature.is_separable(z, labels)
    assert not temperature.is_separable(z, np.array([0, 1, 1]))
    assert temperature.is_separable(np.array([[1.0, 1.0]]), np.array([1]))
    many = np.repeat(z, 400, axis=0)
    wrong = np.append(np.repeat(labels, 400)[:-1], 1)
    assert not temperature.is_separable(many, wrong)
    assert temperature.is_separable(many, np.repeat(labels, 400))
