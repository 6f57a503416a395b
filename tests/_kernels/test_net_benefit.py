import numpy as np
import pytest

from calibrant._kernels.intervals import rate_interval
from calibrant._kernels.thresholds import net_benefit, net_benefit_interval


def test_by_hand():
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
