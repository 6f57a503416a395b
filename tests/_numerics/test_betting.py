"""The bets: their expected value under the claim, by enumerating every outcome, and by the sum
over starts written out.
"""

from itertools import product

import numpy as np
import pytest
from scipy import special

from calibrant._numerics.online import (
    ALTERNATIVES,
    N_ALTERNATIVES,
    N_RECALIBRATIONS,
    RECALIBRATIONS,
    cell_factors,
    cell_shares,
    growth_since,
    likeliest_start,
    log_evidence,
    log_factors,
    next_stakes,
    node_sums,
    pit_log_factors,
    rate_bets,
    spread,
)


def money(batches, low, high):
    """Evidence after the batches."""
    stakes = np.full(N_ALTERNATIVES, -np.inf)
    for count, sums in enumerate(batches, start=1):
        stakes = next_stakes(stakes, count, log_factors(sums, low, high))
    return np.exp(log_evidence(stakes, len(batches)))


def expected_money(scores, rates, bins, tolerance=0.0, n_bins=2):
    """Mean of the evidence after the batches over every outcome of rows with these scores and
    rates, lists of lists.
    """
    low, high = np.full(n_bins, -tolerance), np.full(n_bins, tolerance)
    flat, total = np.concatenate(rates), 0.0
    for outcome in product([0.0, 1.0], repeat=len(flat)):
        hits = np.split(np.array(outcome), np.cumsum([len(s) for s in scores])[:-1])
        batches = [
            np.stack(
                [np.bincount(b, weights=w, minlength=n_bins) for w in (np.ones(len(s)), s, h)],
                axis=1,
            )
            for s, b, h in zip(scores, bins, hits, strict=True)
        ]
        total += np.prod(np.where(np.array(outcome) == 1.0, flat, 1.0 - flat)) * money(
            batches, low, high
        )
    return total


def test_under_calibration_the_money_stays_one_on_average():
    scores = [[0.3, 0.3, 0.8], [0.25, 0.9, 0.9, 0.9], [0.6]]
    assert expected_money(scores, scores, [[0, 0, 1], [0, 1, 1, 1], [1]]) == pytest.approx(
        1.0, abs=1e-12
    )


@pytest.mark.parametrize("seed", range(3))
def test_scores_that_differ_within_a_bin_never_make_it_more(seed):
    rng = np.random.default_rng(seed)
    scores = [rng.uniform(size=4), rng.uniform(size=5)]
    bins = [rng.integers(0, 2, len(s)) for s in scores]
    assert expected_money(scores, scores, bins) <= 1.0 + 1e-12


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_gaps_within_the_tolerance_never_make_it_more(side):
    rng = np.random.default_rng(7)
    scores = [rng.uniform(size=4), np.array([0.0, 0.03, 0.98, 1.0])]
    bins = [rng.integers(0, 2, len(s)) for s in scores]
    rates = [np.clip(s + side * 0.05, 0.0, 1.0) for s in scores]
    assert expected_money(scores, rates, bins, tolerance=0.05) <= 1.0 + 1e-9
    middle = [[0.5] * 4] * 2
    assert expected_money(middle, [[0.5 + side * 0.4] * 4] * 2, [[0] * 4] * 2, tolerance=0.05) > 1.0


def test_the_sum_over_starts_and_alternatives_written_out():
    rng = np.random.default_rng(0)
    batches = [
        np.array([[50.0, 10.0, rng.integers(5, 15)], [50.0, 40.0, rng.integers(30, 45)]])
        for _ in range(6)
    ]
    zero = np.zeros(2)
    ratios = []
    for sums in batches:
        n, total, hits = sums.T
        rate = special.expit(ALTERNATIVES[:, :1] + ALTERNATIVES[:, 1:] * special.logit(total / n))
        ratios.append(
            np.prod(
                (rate / (total / n)) ** hits * ((1.0 - rate) / (1.0 - total / n)) ** (n - hits),
                axis=1,
            )
        )
    want = 1.0 / 7.0 + sum(
        np.mean(np.prod(ratios[j:], axis=0)) / ((j + 1) * (j + 2)) for j in range(6)
    )
    assert money(batches, zero, zero) == pytest.approx(want, rel=1e-9)
    assert N_ALTERNATIVES == 134


def test_impossible_outcomes_are_beyond_doubt_and_certain_ones_cost_nothing():
    low = high = np.zeros(1)
    assert money([np.array([[100.0, 100.0, 90.0]])], low, high) > 1e30
    assert money([np.array([[100.0, 0.0, 10.0]])], low, high) > 1e30
    assert money([np.array([[100.0, 100.0, 100.0]])], low, high) <= 1.0 + 1e-9
    assert money([np.zeros((1, 3))], low, high) == pytest.approx(1.0)


def test_the_likeliest_start_is_where_the_rates_change():
    good, bad = np.array([[200.0, 160.0, 160.0]]), np.array([[200.0, 160.0, 130.0]])
    factors = np.array(
        [log_factors(sums, np.zeros(1), np.zeros(1)) for sums in [good] * 8 + [bad] * 4]
    )
    assert likeliest_start(growth_since(factors)) == 8


def test_a_bet_is_against_the_rate_of_the_claim_nearest_to_it():
    """Claims of .3 to .5: alternatives of .2 and .9 bet against its ends, that of .4 not at all;
    a claim of every rate takes no bet.
    """
    z = special.logit(np.array([[0.2], [0.4], [0.9]]))
    hit, miss = rate_bets(np.array([0.4]), np.array([-0.1]), np.array([0.1]), z)
    np.testing.assert_allclose(hit[:, 0], [np.log(0.2 / 0.3), 0.0, np.log(0.9 / 0.5)], atol=1e-12)
    np.testing.assert_allclose(miss[:, 0], [np.log(0.8 / 0.7), 0.0, np.log(0.1 / 0.5)], atol=1e-12)
    nothing = rate_bets(np.array([0.4]), np.array([-1.0]), np.array([1.0]), z)
    assert [one.tolist() for one in nothing] == [[[0.0]] * 3] * 2
    # A claim of 0 or of 1 is taken for a billionth less.
    for rate, sure in ((0.0, np.log(0.5 / 1e-9)), (1.0, np.log(0.5))):
        hit, miss = rate_bets(np.array([rate]), np.zeros(1), np.zeros(1), np.zeros((1, 1)))
        np.testing.assert_allclose(
            hit if rate == 0.0 else miss, sure if rate == 0.0 else np.log(0.5 / 1e-9), rtol=1e-6
        )
        np.testing.assert_allclose(miss if rate == 0.0 else hit, np.log(0.5), rtol=1e-6)


# -- pit bets -----------------------------------------------------------------------------------
# Bets on the cells of the PIT: their expected value under the claim, on every law within it,
# and the tree written out.


LEVELS = [
    np.array([0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975]),
    np.array([0.1, 0.9]),
    np.array([0.7, 0.8, 0.99]),
    np.array([0.5]),
    np.arange(1, 100) / 100.0,
]


def widths(levels):
    return np.diff(levels, prepend=0.0, append=1.0)


@pytest.mark.parametrize("levels", LEVELS, ids=len)
def test_under_the_claim_a_row_pays_one_on_average(levels):
    zero = np.zeros(len(levels))
    factors = np.exp(cell_factors(levels, zero, zero))
    assert factors.shape == (N_RECALIBRATIONS, len(levels) + 1)
    assert factors @ widths(levels) == pytest.approx(np.ones(N_RECALIBRATIONS), abs=1e-12)


def test_a_factor_is_the_ratio_of_the_shares_of_normal_scores():
    levels, zero = LEVELS[0], np.zeros(7)
    ends = (special.ndtri(levels) - RECALIBRATIONS[:, :1]) / RECALIBRATIONS[:, 1:]
    shares = np.diff(special.ndtr(ends), prepend=0.0, append=1.0)
    wanted, seen = shares / widths(levels), np.exp(cell_factors(levels, zero, zero))
    likely = shares > 1e-6
    assert seen[likely] == pytest.approx(wanted[likely], rel=1e-6)
    assert cell_shares(levels, *RECALIBRATIONS.T)[likely] == pytest.approx(shares[likely], rel=1e-8)


@pytest.mark.parametrize("levels", LEVELS, ids=len)
def test_rates_anywhere_within_the_tolerance_pay_at_most_one(levels):
    """Every corner law of the tree, some of them: each node at one end of its claim."""
    rng = np.random.default_rng(0)
    tolerance = np.full(len(levels), 0.05)
    factors = np.exp(cell_factors(levels, -tolerance, tolerance))
    n, total, _ = node_sums(widths(levels), levels).T
    root = int(np.argmin(np.abs(levels - 0.5)))
    for _ in range(40):
        rate = np.clip(total / n + rng.choice([-0.05, 0.05], len(levels)), 0.0, 1.0)
        below, above = [rate[root]], [1.0 - rate[root]]
        for j in range(root - 1, -1, -1):
            below.append(below[-1] * rate[j])
        for j in range(root + 1, len(levels)):
            above.append(above[-1] * rate[j])
        outward = [-np.diff([*part, 0.0]) for part in (below, above)]
        shares = np.concatenate([outward[0][::-1], outward[1]])
        assert shares.sum() == pytest.approx(1.0)
        assert (factors @ shares).max() <= 1.0 + 1e-9
    assert (factors @ np.eye(len(levels) + 1)[0]).max() > 1.0


def test_a_row_in_doubt_pays_what_the_worst_of_its_cells_does():
    levels, zero = LEVELS[0], np.zeros(7)
    factors = cell_factors(levels, zero, zero)
    counts = np.zeros((8, 8))
    counts[2, 4], counts[5, 5] = 3.0, 2.0
    wanted = 3.0 * factors[:, 2:5].min(axis=1) + 2.0 * factors[:, 5]
    assert pit_log_factors(counts, factors) == pytest.approx(wanted)


def test_rows_in_doubt_are_dealt_out_by_width_and_nodes_count_them():
    levels = LEVELS[0]
    counts = np.zeros((2, 8, 8))
    counts[0, 0, 2], counts[1, 7, 7] = 10.0, 4.0
    cells = spread(counts, levels)
    assert cells[0] == pytest.approx(10.0 * np.array([0.1, 0.3, 0.6, 0, 0, 0, 0, 0]))
    assert cells[1] == pytest.approx(4.0 * np.eye(8)[7])
    n, total, hits = node_sums(cells[0], levels).T
    assert n == pytest.approx([4.0, 10.0, 10.0, 10.0, 0.0, 0.0, 0.0])
    assert total == pytest.approx([1.0, 4.0, 5.0, 5.0, 0.0, 0.0, 0.0])
    assert hits == pytest.approx([1.0, 4.0, 10.0, 10.0, 0.0, 0.0, 0.0])
    n, _, hits = node_sums(cells[1], levels).T
    assert n == pytest.approx([0.0, 0.0, 0.0, 4.0, 4.0, 4.0, 4.0])
    assert hits == pytest.approx([0.0, 0.0, 0.0, 0.0, 4.0, 4.0, 4.0])
