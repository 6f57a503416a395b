"""Clustered rows: the number of independent rows that they are worth, and estimates pooled over
sites.
"""

import numpy as np
import pytest
from scipy import stats

from calibrant._numerics.clusters import (
    apart_limits,
    between_variance,
    expanded_level,
    group_worth,
    mean_worth,
    pooled_mean,
    ranked_worth,
    rubin,
    side_shares,
    variance_of_sum,
)
from calibrant._numerics.intervals import normal_quantile


def rows(seed=0, n=120, n_clusters=17):
    rng = np.random.default_rng(seed)
    score = np.round(rng.random(n), 2)
    return (
        score,
        (rng.random(n) < score) * 1.0,
        rng.integers(1, 4, n) * 1.0,
        rng.integers(0, n_clusters, n),
    )


def by_hand(hit, weight, cluster, ranks=False):
    """Of one group: the variance of the mean of independent rows over that of clusters, at most 1,
    and Student's t.

    The latter is CR2's; ``ranks`` have that of 1 / sum(p^2) equal clusters.
    """
    n, sums, mass = weight.sum(), {}, {}
    deviation = weight * (hit - weight @ hit / n)
    for one, w, c in zip(deviation, weight, cluster, strict=True):
        sums[c], mass[c] = sums.get(c, 0.0) + one, mass.get(c, 0.0) + w
    share = {c: m / n for c, m in mass.items()}
    equal = 1.0 / sum(p * p for p in share.values())
    alone = deviation @ (deviation / weight) * n / (n - 1.0)
    if ranks:
        together, freedom = sum(s * s for s in sums.values()) * equal / (equal - 1.0), equal - 1.0
    else:
        together = sum(s * s / (1.0 - share[c]) for c, s in sums.items())
        pairs = sum(
            share[g] ** 2 * share[h] ** 2 / ((1 - share[g]) * (1 - share[h]))
            for g in share
            for h in share
            if g != h
        )
        freedom = 1.0 / (1.0 / equal + pairs)
    if alone == 0.0:
        alone, together = n, sum(weight[cluster == c].sum() ** 2 for c in sums)
    return (normal_quantile(0.95) / normal_quantile(0.95, freedom)) ** 2 / max(
        together / alone, 1.0
    )


def test_of_each_group_it_is_the_inverse_of_the_design_effect():
    score, hit, weight, cluster = rows()
    group = (score * 4).astype(int).clip(0, 3)
    expected = [by_hand(hit[group == g], weight[group == g], cluster[group == g]) for g in range(4)]
    np.testing.assert_allclose(
        group_worth(hit, weight, cluster, group, 5, 0.95), [*expected, 0.0], rtol=1e-10
    )


def test_down_the_ranks_it_is_that_of_the_rows_so_far():
    score, hit, weight, cluster = rows()
    at = np.unique(score)[::-1]
    found = ranked_worth(score, hit, weight, cluster, 0.95)
    for threshold, one in zip(at, found, strict=True):
        above = score >= threshold
        expected = (
            by_hand(hit[above], weight[above], cluster[above], True)
            if len(np.unique(cluster[above])) > 1
            else 0.0
        )
        assert one == pytest.approx(expected, rel=1e-9)


def test_of_all_it_is_that_of_the_rows_flagged_among_them():
    score, _, weight, cluster = rows()
    found = ranked_worth(score, np.ones(len(score)), weight, cluster, 0.95, of_all=True)
    expected = [
        by_hand((score >= at) * 1.0, weight, cluster, True) for at in np.unique(score)[::-1]
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_rows_of_one_cluster_say_nothing_and_a_weight_is_a_repetition():
    score, hit, weight, cluster = rows()
    times = weight.astype(int)
    more = [np.repeat(one, times) for one in (score, hit, np.ones(len(score)), cluster)]
    np.testing.assert_allclose(
        ranked_worth(*more, 0.95), ranked_worth(score, hit, weight, cluster, 0.95), rtol=1e-9
    )
    assert group_worth(
        hit, weight, np.zeros(len(hit), int), np.zeros(len(hit), int), 1, 0.95
    ).tolist() == [0.0]


def test_of_two_sides_as_many_equal_clusters_as_the_rarer_is_worth():
    side, cluster = (
        np.array([1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0]),
        np.array([0, 0, 0, 0, 1, 1, 2, 3]),
    )
    share, worth = side_shares(side, np.ones(8), cluster)
    np.testing.assert_allclose(share, [0.75, 0.75, 0.75, 0.25, 0.25, 0.25, 0.25, 0.25])
    assert worth == pytest.approx(16.0 / 10.0)
    assert side_shares(side, np.full(8, 7.0), cluster)[1] == pytest.approx(1.6)
    # Of rows a weight is as many rows; of no event no row.
    assert side_shares(side, np.full(8, 2.0), None)[1] == 8.0
    assert (
        side_shares(np.zeros(8), np.ones(8), cluster)[1]
        == side_shares(np.zeros(8), np.ones(8), None)[1]
        == 0.0
    )


def test_the_variance_of_a_sum_by_hand():
    """Sums 3 and -1 of two clusters of two rows and one: 9 / (1 - 2/3) + 1 / (1 - 1/3)."""
    variance, freedom = variance_of_sum(np.array([1.0, 2.0, -1.0]), np.array([0, 0, 2]), np.ones(3))
    assert variance == pytest.approx(27.0 + 1.5)
    assert freedom == pytest.approx(
        1.0 / (4 / 9 + 1 / 9 + 2.0 * (4 / 9 / (1 / 3)) * (1 / 9 / (2 / 3)))
    )
    assert variance_of_sum(np.ones(4), np.zeros(4, int), np.ones(4))[1] == 0.0


def test_clusters_of_one_size_have_their_number_less_one():
    """CR2 is CR1 there."""
    deviations, cluster = np.array([1.0, 2.0, -4.0, 0.5, 0.25, 0.25]), np.repeat(np.arange(3), 2)
    variance, freedom = variance_of_sum(deviations, cluster, np.full(6, 2.0))
    assert (variance, freedom) == pytest.approx((1.5 * (9.0 + 12.25 + 0.25), 2.0))


def test_shares_of_sides_by_hand():
    side, weight, cluster = (
        np.array([0, 0, 1, 1, 1]),
        np.array([1.0, 3.0, 2.0, 2.0, 4.0]),
        np.array([0, 1, 0, 0, 2]),
    )
    share, worth = side_shares(side, weight, cluster)
    np.testing.assert_allclose(share, [0.25, 0.75, 0.5, 0.5, 0.5])
    np.testing.assert_allclose(worth, min(1 / (0.25**2 + 0.75**2), 1 / (0.5**2 + 0.5**2)))
    share, worth = side_shares(side, weight, None)
    np.testing.assert_allclose(share, [0.25, 0.25, 0.125, 0.125, 0.125])
    assert worth == 4.0
    assert side_shares(np.zeros(2), np.ones(2), np.array([0, 1]))[1] == 0.0
    assert side_shares(np.array([0, 1]), np.full(2, 0.5), None)[0].tolist() == [1.0, 1.0]


def test_a_level_for_few_clusters():
    assert expanded_level(0.9, 4.0) == pytest.approx(
        2 * stats.norm.cdf(np.sqrt(5 / 4) * stats.t.ppf(0.95, 4)) - 1
    )


def test_the_worth_of_all_rows_is_that_of_one_group():
    _, hit, weight, cluster = rows()
    assert (
        mean_worth(hit, weight, cluster, 0.9)
        == group_worth(hit, weight, cluster, np.zeros(120, dtype=int), 1, 0.9)[0]
    )


def test_where_nothing_varies_clusters_count_as_one_row_of_the_mean_size():
    found = group_worth(
        np.ones(4), np.ones(4), np.array([0, 0, 0, 1]), np.zeros(4, dtype=int), 1, 0.9
    )
    np.testing.assert_allclose(found, (stats.norm.ppf(0.95) / stats.t.ppf(0.95, 1)) ** 2 / (10 / 4))


def test_the_variance_of_two_ways_is_the_sum_less_that_of_the_cells():
    rng = np.random.default_rng(6)
    ways, weight = rng.integers(0, 7, (90, 2)), rng.integers(1, 4, 90) * 1.0
    deviations = weight * (rng.normal(size=90) + rng.normal(size=7)[ways[:, 0]])
    deviations -= weight * deviations.sum() / weight.sum()
    cells = 7 * ways[:, 0] + ways[:, 1]
    first, second, both = (
        variance_of_sum(deviations, np.unique(one, return_inverse=True)[1], weight)
        for one in (ways[:, 0], ways[:, 1], cells)
    )
    variance, freedom = variance_of_sum(deviations, ways, weight)
    assert variance == pytest.approx(max(first[0] + second[0] - both[0], first[0], second[0]))
    assert freedom == min(first[1], second[1])


def test_limits_of_rows_apart_are_the_sandwich_with_the_degrees_that_its_squares_tell():
    moves, share = np.array([3.0, -1.0, -1.0, -1.0]), np.full(4, 0.25)
    # Squares 9, 1, 1, 1 over 3/4: the variance is 16, the degrees (9 + 3)^2 / (81 + 3) = 12 / 7.
    away = 4.0 * stats.t.ppf(0.975, 12.0 / 7.0)
    assert apart_limits(5.0, moves, share, False, 0.95) == pytest.approx((5.0 - away, 5.0 + away))
    # At a half the log-odds move four times as fast.
    low, high = apart_limits(0.5, 0.01 * moves, share, True, 0.95)
    odds = np.log([low / (1.0 - low), high / (1.0 - high)])
    assert odds == pytest.approx([-0.04 * away, 0.04 * away])
    assert apart_limits(5.0, 0.0 * moves, share, False, 0.95) is None
    assert apart_limits(1.0, moves, share, True, 0.95) is None
    assert apart_limits(5.0, moves, np.array([1.0, 0.0, 0.0, 0.0]), False, 0.95) is None


# -- random effects -----------------------------------------------------------------------------


def test_the_restricted_likelihood_is_the_density_of_the_contrasts():
    """Its greatest value by another road: the density of an orthonormal set of contrasts of the
    estimates.
    """
    rng = np.random.default_rng(0)
    for _ in range(5):
        variance = rng.uniform(0.01, 0.5, 6)
        estimate = rng.normal(1.0, np.sqrt(variance + 0.3))
        contrasts = np.linalg.svd(np.ones((1, 6)))[2][1:]
        grid, seen = np.linspace(0.0, 3.0, 601), contrasts @ estimate
        laws = (
            stats.multivariate_normal(np.zeros(5), contrasts @ np.diag(variance + t) @ contrasts.T)
            for t in grid
        )
        density = [law.logpdf(seen) for law in laws]
        assert between_variance(estimate, variance, "reml") == pytest.approx(
            grid[np.argmax(density)], abs=5.1e-3
        )


def test_one_far_site_of_no_weight_leaves_the_mean():
    mean, square = pooled_mean(
        np.array([1.0, 1.2, 0.8, 50.0]), np.array([0.01, 0.01, 0.01, 1e12]), 0.0
    )
    assert mean == pytest.approx(1.0)
    assert square == pytest.approx((0.04 + 0.04) / 0.01 / (3 * 300), rel=1e-6)


def test_without_a_sample_size_the_degrees_of_freedom_are_rubins():
    _, total, freedom, share = rubin(np.array([0.0, 2.0]), np.array([1.0, 1.0]), np.inf)
    assert (total, share, freedom) == pytest.approx((4.0, 0.75, 1 / 0.75**2))


def test_imputations_without_any_difference_have_the_degrees_of_freedom_of_the_rows():
    mean, total, freedom, share = rubin(np.array([3.0, 3.0, 3.0]), np.array([0.2, 0.2, 0.2]), 49.0)
    assert (mean, total, share) == (3.0, pytest.approx(0.2), 0.0)
    assert freedom == pytest.approx(50 / 52 * 49)
    assert rubin(np.array([3.0, 3.0]), np.array([0.2, 0.2]), np.inf)[2] == np.inf
