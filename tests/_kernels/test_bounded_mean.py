import numpy as np
import pytest
from scipy import optimize

from calibrant._kernels.certificates import STAKES, betting_p_values, hoeffding_bentkus


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
