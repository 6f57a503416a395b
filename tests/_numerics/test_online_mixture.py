"""Mixtures over rates: Bayes by hand, the regret on hostile sequences, bins, limits of blocks."""

import numpy as np
import pytest
from scipy.special import expit

from calibrant._numerics.online import (
    SHARED,
    Line,
    begin_logistic,
    begin_mixture,
    block_size,
    forecast_of,
    learn_block,
    read_block,
)

RATES = np.array([np.inf, 0.0, 1.0 / 300.0, 1.0 / 30.0])


def begin(n_bins=10):
    return begin_logistic(np.array([1.0, 0.0]), 3.0, RATES) | begin_mixture(4, n_bins)


def follow(x, y, rule=None):
    """Forecasts before each row, and the log-likelihoods of each member."""
    state, forecasts, each, i = begin(), [], [], 0
    while i < len(y):
        size = min(block_size(i), len(y) - i)
        rows = Line(np.vstack([x[i : i + size], np.ones(size)]), y[None, i : i + size])
        each.append(rows.ahead(state)[2])
        state, q = learn_block(state, rows, rule, True)
        forecasts.append(q[0])
        i += size
    return np.concatenate(forecasts), np.concatenate(each, axis=1)


def test_limits_of_blocks():
    assert [block_size(n) for n in (0, 8, 15, 16, 100, 511, 512, 32_768)] == [
        1,
        1,
        1,
        2,
        12,
        63,
        64,
        64,
    ]
    assert block_size(100_000) == 195
    assert block_size(10**9) == 256


def sequences(n):
    rng = np.random.default_rng(0)
    x = rng.normal(0.0, 1.5, n)
    turn = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    yield x, (rng.random(n) < expit(x)).astype(float)
    yield x, (rng.random(n) < expit(turn * x + 1.0)).astype(float)
    yield x, (np.arange(n) // 40 % 2).astype(float)
    yield x, (x < 0.0).astype(float)


@pytest.mark.parametrize("case", range(4))
def test_regret_to_every_member_is_bounded(case):
    x, y = list(sequences(1_500))[case]
    q, each = follow(x, y)
    total = np.log(np.where(y > 0.0, q, 1.0 - q)).sum()
    assert each.sum(axis=1).max() - total <= np.log(4.0) + np.log(1.0 + len(y) / SHARED)
    # With one change of the best member, at the end of any block, to one that learns.
    end = 0
    while end < len(y) // 2:
        end += block_size(end)
    halves = each[:, :end].sum(axis=1).max() + each[1:, end:].sum(axis=1).max()
    change = np.log(3.0) + np.log(len(y) + SHARED)
    assert halves - total <= np.log(4.0) + np.log(1.0 + len(y) / SHARED) + change


def test_weights_are_those_of_bayes_within_a_block():
    state = begin()
    state["theta"] = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, -1.0], [1.0, -2.0]])
    state["gain"] = np.zeros((4, 2, 2))
    rows = Line(np.array([[0.5, -1.0, 2.0], [1.0, 1.0, 1.0]]), np.array([[1.0, 0.0, 1.0]]))
    now, before = read_block(state, rows, None)
    p = expit(state["theta"] @ rows.x)
    like = np.where(rows.y > 0.0, p, 1.0 - p)
    assert now["weight"] == pytest.approx(like.prod(axis=1) / like.prod(axis=1).sum())
    two = like[:, :2].prod(axis=1)
    assert before[0, 2] == pytest.approx(two @ p[:, 2] / two.sum())
    assert forecast_of(rows, now, None)[0] == pytest.approx(now["weight"] @ p)


def hostile(rule, n, n_bins=10):
    """Outcomes that are always the less probable one, by forecasts made one by one."""
    state, q, y = begin(n_bins), np.empty(n), np.empty(n)
    waiting, first = np.empty((2, 0)), 0
    for t in range(n):
        seen = Line(waiting, y[None, first:t])
        now, _ = read_block(state, seen, rule)
        row = Line(np.array([[0.3], [1.0]]), np.empty((1, 1)))
        q[t] = forecast_of(row, now, rule)[0, 0]
        y[t] = float(q[t] < 0.5)
        waiting = np.column_stack([waiting, row.x])
        if t + 1 - first == block_size(first):
            state, _ = learn_block(state, Line(waiting, y[None, first : t + 1]), rule, False)
            waiting, first = np.empty((2, 0)), t + 1
    return q, y, follow(np.full(n, 0.3), y)[0]


@pytest.mark.parametrize("rule", ["brier", "log_loss"])
def test_bins_keep_their_bounds_on_hostile_outcomes(rule):
    n, m = 600, 10
    q, y, raw = hostile(rule, n)
    place = np.minimum((raw * m).astype(int), m - 1)
    rate = (np.bincount(place, y, m) / np.maximum(np.bincount(place, minlength=m), 1))[place]
    if rule == "brier":
        excess = np.mean((q - y) ** 2) - np.mean((rate - y) ** 2)
        assert excess <= m / n * (1.0 + np.log(n / m))
        assert np.mean((q - y) ** 2) >= 0.25
    else:
        own = np.log(np.where(y > 0.0, q, 1.0 - q)).mean()
        best = np.log(np.maximum(np.where(y > 0.0, rate, 1.0 - rate), 1e-300)).mean()
        assert best - own <= m / n * (0.5 * np.log(n / m) + np.log(2.0))


def test_bins_by_hand():
    y = np.array([1.0, 1.0, 0.0, 1.0])
    state = begin()
    rows = Line(np.array([[0.0] * 4, [1.0] * 4]), y[None])
    state["gain"] = np.zeros((4, 2, 2))
    for rule, expected in (
        ("brier", [0.5, 1.0, 1.0, 2.0 / 3.0]),
        ("log_loss", [0.5, 0.75, 2.5 / 3.0, 2.5 / 4.0]),
    ):
        new, found = learn_block(state, rows, rule, True)
        np.testing.assert_allclose(found[0], expected)
        assert new["bin_hits"].sum() == 3.0
        assert new["bin_rows"].sum() == 4.0
