"""What lies above each threshold of a risk: coverage, events, net benefit, and where a risk
crosses a level.
"""

import numpy as np
import pytest

from calibrant._numerics.intervals import rate_interval
from calibrant._numerics.thresholds import (
    decision_loss,
    net_benefit,
    net_benefit_interval,
    optimal_area,
    probability_grid,
    probability_scale,
    probability_ticks,
    ranked,
    risk_coverage,
    risk_coverage_area,
    row_moves,
    scale_ends,
    threshold_counts,
)

# -- decision loss ------------------------------------------------------------------------------


def test_it_is_the_largest_over_all_kinks():
    rng = np.random.default_rng(0)
    for _ in range(20):
        forecast, share, weight = np.sort(rng.random(6)), rng.random(6), rng.uniform(0.5, 3.0, 6)
        kinks = np.unique(
            np.concatenate(
                [np.linspace(0, 1, 20_001), forecast - 1e-9, forecast + 1e-9, share - 1e-9]
            )
        )[:, None]
        between = (np.minimum(forecast, share) <= kinks) & (kinks < np.maximum(forecast, share))
        loss = (
            (weight * np.abs(share - kinks) * between).sum(axis=1)
            / np.maximum(kinks[:, 0], 1 - kinks[:, 0])
            / weight.sum()
        )
        np.testing.assert_allclose(decision_loss(forecast, share, weight), loss.max(), atol=1e-6)


def test_by_hand():
    """Said .5, came .8: at the kink .5 the loss is .3 of a payoff of .5."""
    np.testing.assert_allclose(
        decision_loss(np.array([0.5]), np.array([0.8]), np.array([7.0])), 0.6
    )
    np.testing.assert_allclose(decision_loss(np.array([0.2]), np.array([0.8]), np.ones(1)), 0.75)
    assert decision_loss(np.array([0.3]), np.array([0.3]), np.ones(1)) == 0.0


# -- net benefit --------------------------------------------------------------------------------


def test_by_hand_net_benefit():
    assert net_benefit(12, 30, 100, 0.2) == pytest.approx(0.12 - 0.30 * 0.25)


def test_acting_on_all_is_worth_nothing_at_the_prevalence():
    assert net_benefit(14, 86, 100, 0.14) == pytest.approx(0.0, abs=1e-15)


def test_shares_are_counts_of_one():
    t = np.array([0.0, 0.1, 0.5])
    np.testing.assert_allclose(
        net_benefit(12, 30, 100, t), net_benefit(0.12, 0.30, 1.0, t), rtol=1e-15
    )


def joined(gain, harm, odds, correlation=0.0):
    """Limits of gain - odds x harm, (value, low, high) each, from how far each end of the parts
    is off.
    """
    below, above = gain[0] - gain[1], gain[2] - gain[0]
    less, more = odds * (harm[0] - harm[1]), odds * (harm[2] - harm[0])
    value = gain[0] - odds * harm[0]
    low = value - np.sqrt(below**2 + more**2 + 2.0 * correlation * below * more)
    return value, low, value + np.sqrt(above**2 + less**2 + 2.0 * correlation * above * less)


def share(part, whole):
    return part / whole, *rate_interval(part, whole, 0.9)


def test_limits_join_those_of_the_two_shares():
    """30 of 40 events and 24 of 160 others are flagged at .2."""
    counts = [np.array([float(one)]) for one in (30, 24)]
    plain = net_benefit_interval(*counts, 40.0, 160.0, 0.2, 0.9)
    gain, harm = share(30, 200), share(24, 200)
    # More events flagged are fewer others: the correlation of two shares of one total, turned by
    # the minus sign.
    together = np.sqrt(0.15 * 0.12 / (0.85 * 0.88))
    np.testing.assert_allclose(np.ravel(plain), joined(gain, harm, 0.25, together))
    assert plain[0][0] == pytest.approx(0.15 - 0.03)
    scaled = net_benefit_interval(*counts, 40.0, 160.0, 0.2, 0.9, standardised=True)
    p, low, high = share(24, 64)
    np.testing.assert_allclose(
        np.ravel(scaled),
        joined(share(30, 40), (p / (1 - p), low / (1 - low), high / (1 - high)), 0.25),
    )
    assert scaled[0][0] == pytest.approx(0.12 / 0.2)


@pytest.mark.parametrize("standardised", [False, True])
def test_with_a_prevalence_events_and_others_are_drawn_apart(standardised):
    found = net_benefit_interval(
        np.array([30.0]),
        np.array([24.0]),
        40.0,
        160.0,
        0.2,
        0.9,
        prevalence=0.05,
        standardised=standardised,
    )
    unit = 0.05 if standardised else 1.0
    gain, harm = (
        [factor / unit * end for end in share(*of)]
        for factor, of in ((0.05, (30, 40)), (0.95, (24, 160)))
    )
    np.testing.assert_allclose(np.ravel(found), joined(gain, harm, 0.25))


def test_limits_have_width_where_nobody_or_everybody_is_flagged():
    value, low, high = net_benefit_interval(
        np.array([0.0, 40.0]), np.array([0.0, 160.0]), 40.0, 160.0, 0.2, 0.9
    )
    np.testing.assert_allclose(value, [0.0, 0.2 - 0.25 * 0.8])
    assert (low < value - 1e-4).all()
    assert (high > value + 1e-4).all()


# -- probability scale --------------------------------------------------------------------------


def drawn(a, b, n=4000):
    rng = np.random.default_rng(0)
    score = rng.beta(a, b, n)
    return score, (rng.random(n) < score).astype(float), np.ones(n)


@pytest.mark.parametrize(
    ("shape", "scale"),
    [((2, 2), "linear"), ((0.5, 50), "log"), ((0.2, 0.2), "logit"), ((50, 0.5), "logit")],
)
def test_the_scale_follows_the_data(shape, scale):
    score, hit, weight = drawn(*shape)
    assert probability_scale(score, hit, weight) == scale
    bins = np.minimum((score * 200).astype(int), 199)
    mass = np.bincount(bins, minlength=200)
    held = mass > 0
    means = (np.bincount(bins, v, 200)[held] / mass[held] for v in (score, hit))
    assert probability_scale(*means, mass[held].astype(float)) == scale


def test_risks_far_above_a_rare_event_are_seen_on_the_logarithm():
    rng = np.random.default_rng(0)
    assert (
        probability_scale(
            rng.uniform(0.1, 0.5, 5000), (rng.random(5000) < 0.014).astype(float), np.ones(5000)
        )
        == "log"
    )


def test_axes_end_at_decades_and_are_no_emptier_than_the_event_is_rare():
    assert scale_ends("linear", np.array([0.2]), 0.5) == (0.0, 1.0)
    assert scale_ends("log", np.array([0.0, 0.003, 0.5]), 0.01) == pytest.approx((0.001, 1.0))
    assert scale_ends("log", np.array([1e-30, 0.5]), 0.01) == pytest.approx((1e-5, 1.0))
    assert scale_ends("log", np.array([1e-8, 0.5]), 1e-6) == pytest.approx((1e-8, 1.0))
    assert scale_ends("logit", np.array([0.2, 1.0 - 2e-4, 1.0]), 0.5) == pytest.approx(
        (1e-4, 1 - 1e-4)
    )


@pytest.mark.parametrize("scale", ["linear", "log", "logit"])
def test_a_grid_has_both_ends(scale):
    grid = probability_grid(scale, 0.01, 0.99, 7)
    assert (len(grid), grid[0], grid[-1]) == (7, pytest.approx(0.01), pytest.approx(0.99))
    assert (np.diff(grid) > 0).all()


@pytest.mark.parametrize(
    ("scale", "low", "high", "ticks"),
    [
        ("linear", 0.0, 1.0, [0.0, 0.25, 0.5, 0.75, 1.0]),
        ("log", 0.01, 1.0, [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0]),
        ("log", 1e-4, 1.0, [1e-4, 1e-3, 1e-2, 0.1, 1.0]),
        ("log", 1e-12 * (1 + 1e-12), 1e-9, [1e-12, 1e-11, 1e-10, 1e-9]),
        ("logit", 1e-3, 1.0 - 1e-3, [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999]),
        ("logit", 1e-5, 1.0 - 1e-5, [1e-5, 0.001, 0.1, 0.5, 0.9, 0.999, 0.99999]),
    ],
)
def test_a_handful_of_ticks(scale, low, high, ticks):
    assert probability_ticks(scale, low, high) == ticks


def test_the_scale_at_its_shares():
    """Half of the weight beyond 5 % of the ends, and 5 % of it near one; or fewer than 5 % of
    events.
    """
    score, share = np.array([0.01, 0.5, 0.97]), np.array([0.0, 0.5, 1.0])
    assert probability_scale(score, share, np.array([0.45, 0.5, 0.05])) == "logit"
    assert probability_scale(score, share, np.array([0.44, 0.51, 0.05])) == "linear"
    assert probability_scale(score, share, np.array([0.46, 0.5, 0.04])) == "linear"
    assert probability_scale(np.array([0.05, 0.95, 0.95]), share, np.ones(3)) == "linear"
    assert (
        probability_scale(np.array([0.5, 0.5]), np.array([0.0, 1.0]), np.array([95.0, 5.0]))
        == "linear"
    )
    assert (
        probability_scale(np.array([0.5, 0.5]), np.array([0.0, 1.0]), np.array([95.1, 4.9]))
        == "log"
    )


def test_ends_by_hand():
    assert scale_ends("linear", np.array([0.3]), 0.1) == (0.0, 1.0)
    np.testing.assert_allclose(scale_ends("log", np.array([0.0, 0.003, 0.2]), 0.01), (1e-3, 1.0))
    np.testing.assert_allclose(scale_ends("log", np.array([0.001, 0.2]), 0.01), (1e-3, 1.0))
    np.testing.assert_allclose(scale_ends("log", np.array([1e-9, 0.2]), 0.01), (1e-5, 1.0))
    np.testing.assert_allclose(scale_ends("log", np.array([1e-9, 0.2]), 1e-4), (1e-7, 1.0))
    np.testing.assert_allclose(scale_ends("log", np.array([1e-9, 0.2]), 0.0), (1e-5, 1.0))
    np.testing.assert_allclose(scale_ends("log", np.array([0.5, 1.0]), 0.3), (0.1, 1.0))
    np.testing.assert_allclose(scale_ends("logit", np.array([0.3, 0.995]), 0.5), (1e-3, 1.0 - 1e-3))
    np.testing.assert_allclose(scale_ends("log", np.array([0.3, 0.995]), 0.5), (0.1, 1.0))
    np.testing.assert_allclose(scale_ends("logit", np.array([0.04, 0.5, 1.0]), 0.5), (0.01, 0.99))


def test_grids_by_hand():
    np.testing.assert_allclose(probability_grid("linear", 0.0, 1.0, 3), [0.0, 0.5, 1.0])
    np.testing.assert_allclose(probability_grid("log", 0.01, 1.0, 3), [0.01, 0.1, 1.0])
    np.testing.assert_allclose(probability_grid("logit", 0.1, 0.9, 3), [0.1, 0.5, 0.9])


def test_ticks_by_hand():
    assert probability_ticks("linear", 0.0, 1.0) == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert probability_ticks("log", 0.01, 1.0) == [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0]
    assert probability_ticks("log", 0.005, 1.0) == [0.01, 0.1, 1.0]
    assert probability_ticks("logit", 0.001, 0.999) == [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999]
    assert probability_ticks("logit", 0.0001, 0.9999) == [0.001, 0.1, 0.5, 0.9, 0.999]
    assert probability_ticks("logit", 0.00001, 0.99999) == [
        0.00001,
        0.001,
        0.1,
        0.5,
        0.9,
        0.999,
        0.99999,
    ]


# -- risk coverage ------------------------------------------------------------------------------
# Risk over coverage, by hand, and its derivatives by differences.


CONFIDENCE = np.array([0.9, 0.5, 0.9, 0.2, 0.7])
CORRECT = np.array([1.0, 0.0, 0.0, 1.0, 1.0])
WEIGHT = np.array([1.0, 2.0, 1.0, 3.0, 1.0])


def area_of(weight, correct=CORRECT):
    return risk_coverage_area(*risk_coverage(CONFIDENCE, correct, weight)[1:])


def test_sums_down_to_each_confidence():
    found = risk_coverage(CONFIDENCE, CORRECT, WEIGHT)
    assert [one.tolist() for one in found] == [
        [0.9, 0.7, 0.5, 0.2],
        [2.0, 3.0, 5.0, 8.0],
        [1.0, 1.0, 3.0, 3.0],
    ]
    unique, sums = ranked(np.array([0.1, 0.5, 0.9]), np.array([0, 2, 2]))
    rows, covered, wrong = sums(np.array([1.0, 0.0, 1.0]), np.array([1.0, 2.0, 3.0]))
    assert (unique[rows].tolist(), covered.tolist(), wrong.tolist()) == (
        [0.9, 0.1],
        [5.0, 6.0],
        [2.0, 2.0],
    )
    # Without weight there is nothing to be covered.
    assert risk_coverage(CONFIDENCE, CORRECT, np.array([1.0, 0.0, 1.0, 3.0, 1.0]))[0].tolist() == [
        0.9,
        0.7,
        0.2,
    ]


def test_the_area_is_the_integral():
    covered, wrong = risk_coverage(CONFIDENCE, CORRECT, WEIGHT)[1:]
    at = (np.arange(400_000) + 0.5) / 400_000 * 8.0
    risk = np.interp(at, np.append(0.0, covered), np.append(0.0, wrong)) / at
    np.testing.assert_allclose(area_of(WEIGHT), risk.mean(), rtol=1e-6)
    assert risk_coverage_area(np.array([4.0]), np.array([1.0])) == 0.25


def test_the_least_area_is_that_of_right_rows_first():
    right = np.append(np.ones(3), 0.0)
    # Many rows: the first three quarters right, each run a point.
    fine = np.repeat(right, 5000)
    _, covered, wrong = risk_coverage(-np.arange(20_000.0), fine, np.ones(20_000))
    np.testing.assert_allclose(risk_coverage_area(covered, wrong), optimal_area(0.25), atol=1e-4)
    assert optimal_area(1.0) == 1.0
    assert optimal_area(0.0) == 0.0


def test_how_far_rows_move_the_area():
    place = np.unique(CONFIDENCE, return_inverse=True)[1]
    moves, were_wrong = row_moves(place, CORRECT, WEIGHT)
    total, step = WEIGHT.sum(), 1e-6
    for row in range(5):
        more, fewer = WEIGHT.copy(), WEIGHT.copy()
        more[row] += step
        fewer[row] -= step
        np.testing.assert_allclose(
            moves[row], total * (area_of(more) - area_of(fewer)) / (2 * step), atol=1e-6
        )
        # A bit of weight of a wrong row of the same confidence.
        split = risk_coverage(
            np.append(CONFIDENCE, CONFIDENCE[row]), np.append(CORRECT, 0.0), np.append(WEIGHT, step)
        )
        np.testing.assert_allclose(
            were_wrong[row],
            total * (risk_coverage_area(*split[1:]) - area_of(WEIGHT)) / step,
            atol=1e-5,
        )


# -- threshold counts ---------------------------------------------------------------------------


SCORE, HIT = np.array([0.1, 0.7, 0.7, 0.3]), np.array([0.0, 1.0, 0.0, 1.0])


def test_by_hand_with_ties_on_a_threshold():
    true, false, events, others = threshold_counts(
        SCORE, HIT, np.array([1.0, 2.0, 3.0, 4.0]), [0.0, 0.3, 0.7, 0.8]
    )
    assert (true.tolist(), false.tolist(), events, others) == (
        [6.0, 6.0, 2.0, 0.0],
        [4.0, 3.0, 3.0, 0.0],
        6.0,
        4.0,
    )


def test_above_leaves_out_the_threshold_itself():
    true, false, *_ = threshold_counts(SCORE, HIT, np.ones(4), [0.3, 0.7], above=True)
    assert (true.tolist(), false.tolist()) == ([1.0, 0.0], [1.0, 0.0])


def test_a_float32_score_on_a_threshold_is_flagged():
    score = np.array([0.7], dtype=np.float32).astype(np.float64)
    assert score[0] < 0.7
    assert threshold_counts(score, np.ones(1), np.ones(1), [0.7], 2.0**-23)[0].tolist() == [1.0]
    assert threshold_counts(score, np.ones(1), np.ones(1), [0.7], 2.0**-23, above=True)[
        0
    ].tolist() == [0.0]


@pytest.mark.parametrize("above", [False, True])
def test_agrees_with_counting_one_by_one(above):
    rng = np.random.default_rng(0)
    score, hit, weight = (
        rng.integers(0, 20, 300) / 20,
        rng.integers(0, 2, 300).astype(float),
        rng.random(300),
    )
    t = np.append(np.arange(21) / 20, [0.123, 0.999])
    flags = score > t[:, None] if above else score >= t[:, None]
    true, false, events, others = threshold_counts(score, hit, weight, t, above=above)
    np.testing.assert_allclose(true, flags @ (weight * hit), atol=1e-12)
    np.testing.assert_allclose(false, flags @ (weight * (1 - hit)), atol=1e-12)
    assert (events, others) == pytest.approx((weight @ hit, weight @ (1 - hit)))
