"""Proofs from few rows that a rate, a mean loss or a whole curve of risks is small enough.

- Exact binomial tests of a rate: what so few errors among so many rows prove, and how many rows a
  proof takes.
- Tests that a mean of losses in [0, 1], of any independent rows, is at most a number: by bets, by
  Hoeffding's and Bentkus' bounds.
- Hypotheses tested in an order fixed beforehand, from several starts that share the failure
  probability.
- Limits that hold the whole risk-coverage curve at once.
"""

import numpy as np
import pytest
from scipy import optimize, stats

from calibrant._numerics.certificates import (
    STAKES,
    allowed_errors,
    betting_p_values,
    binomial_p_value,
    fewest_rows,
    fixed_sequence,
    hoeffding_bentkus,
    rows_for_rate,
    simultaneous_limits,
)
from calibrant._numerics.intervals import clopper_pearson
from calibrant._numerics.thresholds import risk_coverage

# -- binomial tail ------------------------------------------------------------------------------


def test_the_p_value_is_the_binomial_tail():
    n, e = np.array([1, 59, 200, 1000, 1000]), np.array([0, 0, 4, 38, 1000])
    assert binomial_p_value(e, n, 0.05) == pytest.approx(stats.binom.cdf(e, n, 0.05), rel=1e-12)


def test_the_bound_is_the_rate_at_which_the_tail_is_delta():
    for errors, n in ((0, 59), (4, 200), (38, 1000)):
        assert float(
            binomial_p_value(errors, n, float(clopper_pearson(errors, n, 0.9)[1]))
        ) == pytest.approx(0.05, rel=1e-9)
    assert float(clopper_pearson(7, 7, 0.9)[1]) == 1.0


def test_the_most_errors_that_certify():
    """Those of the table that everybody recomputes: 59 rows without an error, 1 of 100, 4 of
    200, 16 of 500, 38 of 1,000.
    """
    assert fewest_rows(0.05, 0.05) == 59
    for n, most in ((59, 0), (100, 1), (200, 4), (500, 16), (1000, 38)):
        assert allowed_errors(n, 0.05, 0.05) == most
        assert (
            float(binomial_p_value(most, n, 0.05))
            <= 0.05
            < float(binomial_p_value(most + 1, n, 0.05))
        )


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.02, 0.03, 0.035])
def test_the_rows_needed_are_the_first_that_pass(rate):
    m = np.arange(1, 3000)
    first = m[binomial_p_value(np.floor(rate * m + 1e-9), m, 0.05) <= 0.05][0]
    assert rows_for_rate(rate, 0.05, 0.05) == first


def test_a_rate_next_to_the_risk_takes_very_many_rows_and_no_time():
    assert 1e5 < rows_for_rate(0.0495, 0.05, 0.05) < 1e6
    assert rows_for_rate(0.04999999, 0.05, 0.05) > 1e12
    assert rows_for_rate(0.06, 0.05, 0.05) == np.inf
    # Without an error it is exact however many they are.
    assert rows_for_rate(0.0, 1e-6, 0.05) == fewest_rows(1e-6, 0.05)


# -- bounded mean -------------------------------------------------------------------------------


def betting(loss, risk=0.05, delta=0.05):
    return float(betting_p_values(loss, np.ones(len(loss)), np.array([len(loss)]), risk, delta)[0])


def test_hoeffding_bentkus_of_the_example():
    """4 of 200 at 5 %: e times the binomial .0264, which is below Hoeffding's .088."""
    assert float(hoeffding_bentkus(4.0, 200, 0.05)) == pytest.approx(0.0719, abs=1e-4)


def test_a_sum_that_is_a_whole_number_but_for_rounding_is_not_rounded_up():
    assert 0.07 * 100 > 7.0
    assert float(hoeffding_bentkus(0.07 * 100, 100, 0.1)) == float(hoeffding_bentkus(7.0, 100, 0.1))


def test_more_loss_is_less_proof():
    values = hoeffding_bentkus(np.arange(20.0), 200, 0.05)
    assert (np.diff(values) >= 0.0).all()
    assert values[-1] == 1.0


@pytest.mark.parametrize("law", ["coins", "beta", "constant"])
def test_both_fail_no_more_often_than_they_say(law):
    rng = np.random.default_rng(5)
    draw = {
        "coins": lambda: (rng.random(300) < 0.05).astype(float),
        "beta": lambda: rng.beta(0.5, 9.5, 300),
        "constant": lambda: np.full(300, 0.05),
    }[law]
    losses = [draw() for _ in range(400)]
    limit = 0.1 + 3.0 * np.sqrt(0.1 * 0.9 / 400)
    assert np.mean([betting(loss, delta=0.1) <= 0.1 for loss in losses]) <= limit
    assert (
        np.mean([float(hoeffding_bentkus(loss.sum(), 300, 0.05)) <= 0.1 for loss in losses])
        <= limit
    )


def test_bets_gain_from_losses_that_vary_little():
    assert betting(np.full(200, 0.025)) < 0.05 < float(hoeffding_bentkus(5.0, 200, 0.05))


def test_the_capital_of_the_first_rows_of_each_number_and_repetitions():
    loss = np.random.default_rng(0).random(60) * 0.1
    several = betting_p_values(loss, np.ones(60), np.array([20, 60]), 0.1, 0.05)
    assert several == pytest.approx([betting(loss[:20], 0.1), betting(loss, 0.1)])
    twice = betting_p_values(loss, np.full(60, 2.0), np.array([60]), 0.1, 0.05)
    assert twice == pytest.approx(betting(np.repeat(loss, 2), 0.1))
    assert betting(loss[::-1], 0.1) == pytest.approx(betting(loss, 0.1))


def test_the_capital_is_that_of_the_stakes_written_out():
    """Half on the first stake that Hoeffding's mean asks for, the rest evenly on it and those
    above it.
    """
    loss = np.random.default_rng(1).random(200) * 0.15
    gain = [np.prod(1.0 + share / 0.9 * (0.1 - loss)) for share in STAKES]
    mean = optimize.brentq(
        lambda m: (
            200.0 * (m * np.log(m / 0.1) + (1.0 - m) * np.log((1.0 - m) / 0.9)) - np.log(20.0)
        ),
        1e-12,
        0.1 - 1e-9,
    )
    first = sum(share < (0.1 - mean) / 0.1 for share in STAKES)
    assert 0 < first < len(STAKES) - 1
    assert betting(loss, 0.1) == pytest.approx(
        1.0 / (0.5 * gain[first] + 0.5 * np.mean(gain[first:])), rel=1e-9
    )


def test_few_rows_bet_on_the_highest_stake_alone():
    """Five rows without a loss prove nothing at 5 %, so that all is on the last stake, of .98."""
    assert betting(np.zeros(5)) == pytest.approx((1.0 + 0.98 / 0.95 * 0.05) ** -5.0, rel=1e-12)
    assert betting(np.ones(5)) == 1.0


# -- fixed sequence -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("p_values", "delta", "n_starts", "expected"),
    [
        ((0.001, 0.003, 0.01, 0.02, 0.2, 0.6), 0.1, 3, [0, 1, 2, 3]),
        (
            (0.03, 0.004, 0.005, 0.25, 0.005, 0.2, 0.8, 0.08, 0.009, 0.005, 0.006, 0.007),
            0.09,
            3,
            [0, 1, 2, 4, 8, 9, 10, 11],
        ),
        ((0.04, 0.05, 0.2, 0.01), 0.05, 1, [0, 1]),
        ((0.06, 0.01), 0.05, 1, []),
        ((0.01, 0.02), 0.05, 2, [0, 1]),
    ],
)
def test_known_answers(p_values, delta, n_starts, expected):
    assert fixed_sequence(np.array(p_values), delta, n_starts).tolist() == expected


@pytest.mark.parametrize("n_starts", [1, 3, 5])
def test_a_true_hypothesis_is_rejected_seldom(n_starts):
    """Those from the 4th on are true; their p-values, of one draw, are as dependent as can be,
    or independent.
    """
    rng = np.random.default_rng(n_starts)
    for same in (True, False):
        broken = 0
        for _ in range(3000):
            drawn = np.full(12, rng.random()) if same else rng.random(12)
            drawn[:4] = 0.0
            broken += bool((fixed_sequence(drawn, 0.1, n_starts) >= 4).any())
        assert broken / 3000 <= 0.1 + 3 * np.sqrt(0.09 / 3000)


# -- simultaneous risk --------------------------------------------------------------------------


def error_above(t):
    return 1.0 - 0.8 * (1.0 - t**5) / (1.0 - t**4)


def test_the_whole_curve_is_inside_as_often_as_it_says():
    rng, outside = np.random.default_rng(0), []
    for _ in range(400):
        score = rng.beta(4, 1, 400)
        found, covered, wrong = risk_coverage(
            score, (rng.random(400) < score).astype(float), np.ones(400)
        )
        low, high = simultaneous_limits(covered, wrong, 0.9)
        true = error_above(np.append(found[1:], 0.0))
        outside.append(((true < low) | (true > high)).any())
    assert np.mean(outside) <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 400)
    assert np.mean(outside) > 0.0


def test_it_rises_holds_the_curve_s_end_and_keeps_ties_together():
    rng = np.random.default_rng(1)
    score = rng.beta(4, 1, 500).round(1)
    _, covered, wrong = risk_coverage(score, (rng.random(500) < score).astype(float), np.ones(500))
    low, high = simultaneous_limits(covered, wrong, 0.95)
    assert (np.diff(low) >= 0.0).all()
    assert (np.diff(high) >= 0.0).all()
    assert low[-1] < wrong[-1] / covered[-1] < high[-1]
