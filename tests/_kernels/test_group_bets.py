"""Bets against groups: their mean under the null, counted over all outcomes, and the adjustment by hand."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from calibrant._kernels.group_bets import by_adjusted, e_adjusted, log_bets


def _mean(p, truth, of_rows):
    """Of the bet, over all outcomes of rows that come true with ``truth``."""
    total = 0.0
    for outcome in product([0.0, 1.0], repeat=len(p)):
        hits = np.array(outcome)
        chance = np.prod(np.where(hits == 1.0, truth, 1.0 - truth))
        total += chance * np.exp(log_bets(np.ones((1, len(p))), p, hits, 1.0 - hits, of_rows)[0])
    return total


def test_a_bet_has_mean_1_where_what_was_said_is_true():
    p = np.array([0.1, 0.5, 0.9, 0.3, 0.02])
    assert _mean(p, p, True) == pytest.approx(1.0, abs=1e-12)
    assert _mean(p, p, False) == pytest.approx(1.0, abs=1e-12)


def test_the_weak_bet_has_mean_1_at_most_where_it_is_right_on_average():
    p = np.array([0.4, 0.5, 0.5, 0.6])
    assert _mean(p, p + np.array([0.3, -0.3, 0.2, -0.2]), False) < 1.0
    assert _mean(p, p + 0.3, False) > 1.05


def test_adjustments():
    bets = np.log([40.0, 1.0, 100.0, 0.5])
    # 4 / (1 x 100), 4 / (2 x 40), then 4 / 3, cut at 1.
    np.testing.assert_allclose(e_adjusted(bets), [0.05, 1.0, 0.04, 1.0])
    p = 2.0 * stats.norm.sf([3.0, 1.0])
    np.testing.assert_allclose(by_adjusted(np.array([3.0, 1.0]), None), np.minimum([p[0] * 2 * 1.5, p[1] * 1.5], 1.0))
    assert by_adjusted(np.array([3.0]), 5.0)[0] == pytest.approx(2.0 * stats.t.sf(3.0, 5))
