"""Isotonic regression: known answers, ties, weights, and ends that are neither 0 nor 1."""

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

import calibrant as cb
from calibrant.metrics import log_loss


def drawn(n=300, decimals=2, seed=0):
    rng = np.random.default_rng(seed)
    score = np.round(rng.random(n), decimals)
    return score, (rng.random(n) < score**2).astype(float), rng.integers(0, 4, n).astype(float)


def test_hand_worked_blocks():
    m = cb.Isotonic(smooth_ends=False).fit([1, 2, 3, 4, 5, 6], [0, 1, 0, 1, 1, 0])
    # 0 | (1, 0) -> 1/2 | (1, 1, 0) -> 2/3
    np.testing.assert_allclose(
        m.predict([1, 2, 3, 4, 5, 6]), [0, 1 / 2, 1 / 2, 2 / 3, 2 / 3, 2 / 3], atol=1e-15
    )
    assert m.status_ == "exact"


def test_linear_between_blocks_and_constant_outside():
    m = cb.Isotonic(smooth_ends=False).fit([0.2, 0.4, 0.6, 0.8], [0, 0, 1, 1])
    np.testing.assert_allclose(
        m.predict([0.0, 0.4, 0.45, 0.5, 0.6, 1.0]), [0, 0, 0.25, 0.5, 1, 1], atol=1e-12
    )


@pytest.mark.parametrize("seed", range(5))
def test_equals_scikit_learn(seed):
    score, correct, weight = drawn(seed=seed)
    used = weight > 0
    ours = cb.Isotonic(smooth_ends=False).fit(score, correct, sample_weight=weight)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(
        score[used], correct[used], sample_weight=weight[used]
    )
    grid = np.linspace(-0.1, 1.1, 500)
    np.testing.assert_allclose(ours.predict(grid), theirs.predict(grid), atol=1e-12)


def test_no_monotone_map_has_a_smaller_squared_error():
    score, correct, weight = drawn()
    weight = weight + 1.0
    fit = cb.Isotonic(smooth_ends=False).fit(score, correct, sample_weight=weight).predict(score)
    best = weight @ (correct - fit) ** 2
    rng = np.random.default_rng(1)
    for _ in range(200):
        other = np.clip(np.interp(score, np.sort(rng.random(6)), np.sort(rng.random(6))), 0, 1)
        assert weight @ (correct - other) ** 2 >= best
        mixed = 0.9 * fit + 0.1 * other
        assert weight @ (correct - mixed) ** 2 >= best - 1e-12


def test_smooth_ends_are_laplace_estimates_of_the_end_blocks():
    score = np.arange(10) / 10
    correct = [0, 0, 0, 0, 1, 0, 1, 1, 1, 1]
    m = cb.Isotonic().fit(score, correct)
    # Blocks: four 0, (1, 0), four 1.
    np.testing.assert_allclose(
        m.predict(score), [1 / 6] * 4 + [1 / 2] * 2 + [5 / 6] * 4, atol=1e-15
    )
    plain = cb.Isotonic(smooth_ends=False).fit(score, correct)
    np.testing.assert_allclose(plain.predict(score), [0] * 4 + [1 / 2] * 2 + [1] * 4, atol=1e-15)


def test_smooth_ends_never_pass_their_neighbour():
    # One wrong row, then 1 in 100: Laplace's 1/3 would lie above 0.01.
    score = np.concatenate([[0.0], np.full(100, 0.5), [1.0]])
    correct = np.concatenate([[0], np.eye(100)[0], [1]])
    out = cb.Isotonic().fit(score, correct).predict([0.0, 0.5, 1.0])
    np.testing.assert_allclose(out, [0.005, 0.01, 1 - 1 / 3], atol=1e-15)


@pytest.mark.parametrize("correct", [[0, 0, 0], [1, 1, 1], [0, 1, 1], [0, 0, 1], [1, 0, 0]])
def test_log_loss_is_finite_on_any_test_set(correct):
    m = cb.Isotonic().fit([0.1, 0.5, 0.9], correct)
    p = m.predict(np.linspace(0, 1, 11))
    assert 0.0 < p.min() <= p.max() < 1.0
    assert log_loss(np.zeros(11, int), p) < 3
    assert log_loss(np.ones(11, int), p) < 3


def test_takes_any_real_score():
    m = cb.Isotonic().fit([-300.0, -2.0, 5e8], [0, 0, 1])
    assert m.predict([-1e9])[0] < m.predict([1e9])[0]
