"""Bootstrap weights and sums."""

import numpy as np
import pytest
from scipy import stats

from calibrant._numerics import bootstrap
from calibrant._numerics.bootstrap import (
    STRETCH,
    _crossing,
    draw_hits,
    draw_shared_hits,
    hit_drawer,
    null_generator,
    score_drawer,
    shared_share,
    simulated_limits,
)


@pytest.mark.parametrize(
    "weight", [np.ones(30), np.arange(30.0), np.full(30, 0.5)], ids=["ones", "whole", "halves"]
)
def test_a_resample_draws_as_many_rows_as_the_weights_add_up_to(weight):
    rng = np.random.default_rng(0)
    draws = np.array([bootstrap.resample_weights(weight, rng) for _ in range(2000)])
    assert set(draws.sum(axis=1)) == {round(weight.sum())}
    np.testing.assert_allclose(draws.mean(axis=0), weight, atol=6 * np.sqrt(weight.max() / 2000))


def test_resampled_sums_are_the_sums_over_the_drawn_rows():
    rng = np.random.default_rng(1)
    weight, column = rng.integers(1, 4, 50).astype(float), rng.random(50)
    sets = [(rng.integers(0, 3, 50), [column]), (rng.integers(0, 3, 50), [column**2])]
    out = bootstrap.resampled_sums(sets, 3, weight, 70, 9)
    assert out.shape == (70, 2, 3, 2)
    again = np.random.default_rng(9)
    for draw in out:
        times = bootstrap.resample_weights(weight, again)
        for (group, (values,)), sums in zip(sets, draw, strict=True):
            np.testing.assert_allclose(sums[:, 0], np.bincount(group, times, 3))
            np.testing.assert_allclose(sums[:, 1], np.bincount(group, times * values, 3))


@pytest.mark.parametrize("kind", ["ones", "one heavy row", "log-normal", "thousands", "fractions"])
def test_of_many_rows_the_draws_spread_as_those_of_single_rows(kind, monkeypatch):
    """Where parts took a heavy row whole, a share of one half had a standard deviation of 0.33
    for 0.005.
    """
    monkeypatch.setattr(bootstrap, "MANY_ROWS", 4000)
    monkeypatch.setattr(bootstrap, "PARTS", 200)
    monkeypatch.setattr(bootstrap, "PIECES", 20_000)
    rng = np.random.default_rng(5)
    weight = {
        "ones": np.ones(5000),
        "one heavy row": np.append(np.ones(4999), 5000.0),
        "log-normal": np.ceil(np.exp(1.5 * rng.normal(size=5000))),
        "thousands": np.full(5000, 1000.0),
        "fractions": np.full(5000, 0.2),
    }[kind]
    hit = np.where(np.arange(5000) == 4999, 1.0, rng.random(5000) < 0.3)
    draws = bootstrap.resampled_sums([(np.zeros(5000, dtype=int), [hit])], 1, weight, 600, 0)[
        :, 0, 0
    ]
    share, rate = draws[:, 1] / draws[:, 0], weight @ hit / weight.sum()
    assert draws[:, 0].mean() == pytest.approx(weight.sum(), rel=0.02)
    assert share.mean() == pytest.approx(rate, abs=4.0 * np.std(share) / np.sqrt(600))
    assert np.std(share) == pytest.approx(np.sqrt(rate * (1.0 - rate) / weight.sum()), rel=0.3)


def test_percentile_limits():
    assert bootstrap.percentile_limits(np.arange(101.0), 0.9) == pytest.approx((5.0, 95.0))


def test_bias_corrected_limits_by_hand():
    """Where half of the resamples are below the value and parts left out do not skew, they are
    percentiles; else Efron's formula.
    """
    values = np.arange(1.0, 11.0)
    even = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(
        bootstrap.bca_limits(values[:9], 5.0, even, 0.9), np.quantile(values[:9], [0.05, 0.95])
    )
    np.testing.assert_allclose(
        bootstrap.bca_limits(values[:9], 5.0, np.zeros(0), 0.9),
        np.quantile(values[:9], [0.05, 0.95]),
    )
    bias, z = stats.norm.ppf(0.25), stats.norm.ppf([0.05, 0.95])
    acceleration = -18.0 / (6.0 * 14.0**1.5)
    for left_out, a in ((even, 0.0), (np.array([1.0, 2.0, 6.0, np.nan]), acceleration)):
        at = stats.norm.cdf(bias + (bias + z) / (1.0 - a * (bias + z)))
        np.testing.assert_allclose(
            bootstrap.bca_limits(values, 3.0, left_out, 0.9), np.quantile(values, at)
        )
    # All above the value: as if half a resample were below.
    at = stats.norm.cdf(2.0 * stats.norm.ppf(0.05) + z)
    np.testing.assert_allclose(
        bootstrap.bca_limits(values, 0.0, even, 0.9), np.quantile(values, at)
    )
    assert np.isnan(bootstrap.bca_limits(np.array([np.nan]), 0.0, even, 0.9)).all()


def test_every_row_or_part_is_left_out_once():
    weight = np.arange(1.0, 6.0)
    assert sorted(bootstrap.leave_out_values(weight, lambda w: float(w.sum()), 0)) == [
        10.0,
        11.0,
        12.0,
        13.0,
        14.0,
    ]
    many = bootstrap.leave_out_values(np.ones(400), lambda w: float(w.sum()), 0)
    assert many.tolist() == [398.0] * 200
    assert len(bootstrap.leave_out_values(np.ones(1), lambda w: 0.0, 0)) == 0


def test_totals_are_of_resamples_of_the_seed():
    weight, rng = np.array([1.0, 2.0, 3.0]), np.random.default_rng(3)
    found = bootstrap.bootstrap_totals(weight, lambda w: float(w @ [1.0, 10.0, 100.0]), 4, 3)
    assert found.tolist() == [
        float(bootstrap.resample_weights(weight, rng) @ [1.0, 10.0, 100.0]) for _ in range(4)
    ]


# -- null draws ---------------------------------------------------------------------------------
# Nulls have a stream of their own.


def test_a_seed_shares_nothing_with_a_user_s_generator_of_that_seed():
    ours, users = null_generator(0).random(1000), np.random.default_rng(0).random(1000)
    assert np.intersect1d(ours, users).size == 0
    assert np.array_equal(ours, null_generator(np.int64(0)).random(1000))
    assert not np.array_equal(ours, null_generator(1).random(1000))


def test_a_generator_goes_through():
    own = np.random.default_rng(5)
    assert null_generator(own) is own


# -- shared draws -------------------------------------------------------------------------------


def clusters(n_clusters=2000, size=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(0.05, 0.95, n_clusters * size), np.repeat(np.arange(n_clusters), size), rng


def test_the_share_is_that_of_the_pairs_by_hand():
    score, hit, cluster = (
        np.array([0.2, 0.5, 0.9, 0.4]),
        np.array([0.0, 1.0, 1.0, 0.0]),
        np.array([0, 1, 1, 0]),
    )
    seen = 2.0 * ((-0.2) * (-0.4) + 0.5 * 0.1)
    most = 2.0 * ((0.2 - 0.2 * 0.4) + (0.5 - 0.5 * 0.9))
    assert shared_share(score, hit, cluster) == pytest.approx(seen / most)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_drawn_outcomes_have_the_share_and_the_probabilities_asked_for(share):
    score, cluster, rng = clusters()
    hits = draw_shared_hits(score, cluster, share, 20, rng)
    assert np.mean([shared_share(score, hit, cluster) for hit in hits]) == pytest.approx(
        share, abs=0.02
    )
    assert hits.mean() == pytest.approx(score.mean(), abs=0.01)
    low = score < 0.2
    assert hits[:, low].mean() == pytest.approx(score[low].mean(), abs=0.01)


def test_rows_of_their_own_clusters_share_nothing():
    score, _, rng = clusters()
    assert shared_share(score, (rng.random(len(score)) < score) * 1.0, np.arange(len(score))) == 0.0


def test_a_weight_is_so_many_rows_of_the_cluster():
    score, cluster, rng = clusters(n_clusters=500)
    hit = (rng.random(500)[cluster] < score) * 1.0
    draw = hit_drawer(score, hit, np.full(len(score), 2.0), cluster)
    drawn = np.array([draw(rng) for _ in range(20)])
    assert set(np.unique(drawn)) <= {0.0, 0.5, 1.0}
    assert drawn.mean() == pytest.approx(score.mean(), abs=0.01)


@pytest.mark.parametrize("alike", [0.0, 0.6])
def test_drawn_scores_are_as_alike_as_those_seen(alike):
    _, cluster, rng = clusters()
    own, common = rng.standard_normal((2, len(cluster)))
    seen = np.sqrt(1.0 - alike) * own + np.sqrt(alike) * common[cluster]
    draw = score_drawer(seen, cluster)
    drawn = draw(rng)
    assert drawn.std() == pytest.approx(1.0, abs=0.03)
    first, second = drawn.reshape(-1, 4)[:, :2].T
    assert np.corrcoef(first, second)[0, 1] == pytest.approx(alike, abs=0.06)


def test_scores_that_do_not_vary_or_are_alone_are_drawn_apart():
    for score, cluster in (
        (np.zeros(4), np.array([0, 0, 1, 1])),
        (np.array([1.0, -2.0, 0.5]), np.arange(3)),
    ):
        again = np.random.default_rng(0).standard_normal(len(score))[score.argsort().argsort()]
        assert score_drawer(score, cluster)(np.random.default_rng(0)).tolist() == again.tolist()
    assert (
        score_drawer(np.ones(3), None)(np.random.default_rng(0)).tolist()
        == np.random.default_rng(0).standard_normal(3).tolist()
    )


def test_the_likeness_of_scores_by_hand():
    """Scores of 1, 2, 4, -3 about their mean of 1; pairs 0 x 1 and 3 x -4, twice each, over two
    pairs twice, against 26 / 4. The numbers are drawn in the order of the scores.
    """
    score, cluster, rng = (
        np.array([1.0, 2.0, 4.0, -3.0]),
        np.array([0, 0, 1, 1]),
        np.random.default_rng(1),
    )
    assert (
        score_drawer(score, cluster)(rng).tolist()
        == np.random.default_rng(1).standard_normal(4)[[1, 2, 3, 0]].tolist()
    )
    score = np.array([1.0, 2.0, 4.0, 3.0])
    # About 2.5: -1.5 x -.5 and 1.5 x .5, over 5 / 4.
    alike, rng = 0.75 / 1.25, np.random.default_rng(1)
    expected = (
        np.sqrt(1.0 - alike) * rng.standard_normal(4)[[0, 1, 3, 2]]
        + np.sqrt(alike) * rng.standard_normal(2)[cluster]
    )
    np.testing.assert_allclose(
        score_drawer(score, cluster)(np.random.default_rng(1)), expected, rtol=1e-12
    )
    # Scores beyond 40 count as 40.
    far, near = (
        score_drawer(np.array([end, end, 0.0, 1.0]), cluster)(np.random.default_rng(2)).tolist()
        for end in (90.0, 40.0)
    )
    assert far == near


# -- simulated limits ---------------------------------------------------------------------------
# Limits by test inversion: crossings by hand, and a truth that the draws do not move.


def test_crossings_are_straight_between_the_grid():
    truths, quantile = np.array([0.0, 1.0, 3.0]), np.array([0.5, 1.5, 2.5])
    assert [_crossing(truths, quantile, at) for at in (0.2, 0.5, 1.0, 1.5, 2.0, 2.5, 4.0)] == [
        0.0,
        0.0,
        0.5,
        1.0,
        2.0,
        3.0,
        4.5,
    ]


def test_draws():
    p, rng = np.full(20_000, 0.3), np.random.default_rng(0)
    one = draw_hits(p, np.ones(20_000), rng)
    assert set(one.tolist()) == {0.0, 1.0}
    np.testing.assert_allclose(one.mean(), 0.3, atol=0.015)
    several = draw_hits(p, np.full(20_000, 3.6), rng)
    np.testing.assert_allclose(np.unique(several), np.arange(5) / 4)
    np.testing.assert_allclose(several.mean(), 0.3, atol=0.01)
    assert set(draw_hits(p[:50], np.full(50, 0.2), rng).tolist()) <= {0.0, 1.0}


def test_an_error_that_no_draw_moves_is_its_own_interval():
    """All scores are 0 or 1 after recalibration at stretch 1: the truth there is certain."""
    score, recalibrated, weight = np.zeros(40), np.ones(40), np.ones(40)

    def error(hits):
        return float(abs(hits.mean()))

    found = simulated_limits(
        error, score, recalibrated, weight, 1.0, 0.9, 20, np.random.default_rng(0)
    )
    np.testing.assert_allclose(found, 1.0)
    assert STRETCH[0] == 0.0
    assert 1.0 in STRETCH


def test_the_interval_of_a_mean_is_near_that_of_the_binomial():
    """The error is how far the mean is above .2; 100 rows at .5."""
    score, recalibrated = np.full(100, 0.2), np.full(100, 0.5)
    estimate, low, high = simulated_limits(
        lambda hits: float(max(hits.mean() - 0.2, 0.0)),
        score,
        recalibrated,
        np.ones(100),
        0.3,
        0.9,
        200,
        np.random.default_rng(0),
    )
    np.testing.assert_allclose(
        [estimate, low, high], [0.3, 0.3 - 1.645 * 0.05, 0.3 + 1.645 * 0.05], atol=0.015
    )


def test_less_error_than_expected_by_chance_bounds_a_shift():
    """Nothing is seen of 100 rows at .5, where 8 points are expected: low is 0, high what a
    shift would need.
    """
    score = np.full(100, 0.5)
    for recalibrated in (np.full(100, 0.5), np.full(100, 0.499)):
        estimate, low, high = simulated_limits(
            lambda hits: float(abs(hits.mean() - 0.5)),
            score,
            recalibrated,
            np.ones(100),
            0.0,
            0.9,
            200,
            np.random.default_rng(0),
        )
        assert (estimate, low) == (0.0, 0.0)
        # No tighter than that of a typical calibrated sample, .034 off: .034 + 1.645 x .05.
        np.testing.assert_allclose(high, 0.034 + 1.645 * 0.05, atol=0.02)


def truths_of(score, recalibrated):
    """The true probabilities that are looked at, the scores and then a grid of shifts, where less
    error is seen than by chance.
    """
    seen = []

    def error(hits):
        if not np.isin(hits, (0.0, 1.0)).all():
            seen.append(hits)
        return float(abs(np.mean(hits - score)))

    simulated_limits(
        error,
        score,
        recalibrated,
        np.ones(len(score)),
        0.0,
        0.9,
        20,
        np.random.default_rng(0),
    )
    return seen[0], np.array(seen[1:]).reshape(len(STRETCH), len(score))


def test_where_nothing_is_seen_all_scores_are_moved_by_standard_errors_the_way_they_seem_to_go():
    """100 rows at .9 have a standard error of .03; there is room for a fifth of it above, and
    for all of it below.
    """
    score = np.full(100, 0.9)
    for off, moved in ((0.001, 0.03 * 0.2), (0.0, 0.03 * 0.2), (-0.001, -0.03)):
        first, second = truths_of(score, score + off)
        np.testing.assert_array_equal(first, score)
        np.testing.assert_allclose(
            second, np.clip(0.9 + 3.0 * moved * STRETCH[:, None] * np.ones(100), 0.0, 1.0)
        )
