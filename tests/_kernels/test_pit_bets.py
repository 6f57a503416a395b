"""Bets on the cells of the PIT: their expected value under the claim, on every law within it,
and the tree written out.
"""

import numpy as np
import pytest
from scipy import special

from calibrant._kernels.betting import (
    N_RECALIBRATIONS,
    RECALIBRATIONS,
    cell_factors,
    cell_shares,
    node_sums,
    pit_log_factors,
    spread,
)

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
