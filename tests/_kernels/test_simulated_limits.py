"""Limits by test inversion: crossings by hand, and a truth that the draws do not move."""

import numpy as np

from calibrant._kernels.bootstrap import STRETCH, _crossing, draw_hits, simulated_limits


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
    tilted = simulated_limits(
        lambda hits: float(abs(hits.mean() - 0.5)),
        score,
        score,
        np.ones(100),
        0.0,
        0.9,
        100,
        np.random.default_rng(0),
        tilted=True,
    )
    assert tilted[2] >= 0.09


def test_scores_that_may_be_too_bold_bound_what_a_shift_cannot():
    """The error is of sharpness: scores of .3 and .7 drawn half of the way to .5 are .1 off,
    with a standard error of .046.
    """
    score = np.tile([0.3, 0.7], 50)
    side = np.sign(score - 0.5)

    def error(hits):
        return float(abs(np.mean((hits - score) * side)))

    def upper(tilted):
        rng = np.random.default_rng(0)
        return simulated_limits(
            error, score, score, np.ones(100), 0.0, 0.9, 200, rng, tilted=tilted
        )[2]

    assert upper(False) < 0.08
    # The 5 % quantile reaches the median of calibrated samples, .031, where the error is .031 +
    # 1.645 x .046.
    np.testing.assert_allclose(upper(True), 0.031 + 1.645 * 0.046, atol=0.02)


def truths_of(score, recalibrated, tilted):
    """The true probabilities that are looked at, one grid after the other, where less error is
    seen than by chance.
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
        tilted=tilted,
    )
    return np.array(seen).reshape(-1, len(STRETCH), len(score))


def test_where_nothing_is_seen_all_scores_are_moved_by_standard_errors_the_way_they_seem_to_go():
    """100 rows at .9 have a standard error of .03; there is room for a fifth of it above, and
    for all of it below.
    """
    score = np.full(100, 0.9)
    for off, moved in ((0.001, 0.03 * 0.2), (0.0, 0.03 * 0.2), (-0.001, -0.03)):
        first, second = truths_of(score, score + off, False)
        np.testing.assert_allclose(first, 0.9 + off * STRETCH[:, None] * np.ones(100))
        np.testing.assert_allclose(
            second, np.clip(0.9 + 3.0 * moved * STRETCH[:, None] * np.ones(100), 0.0, 1.0)
        )


def test_and_drawn_towards_their_mean_or_away_from_it():
    score = np.tile([0.3, 0.7], 50)
    for pull in (0.01, -0.01, 0.0):
        *_, last = truths_of(score, score + pull * (0.5 - score), True)
        toward = 0.5 if pull >= 0.0 else -0.5
        np.testing.assert_allclose(last, score + toward * STRETCH[:, None] * (0.5 - score))
