"""Lift against a brute-force mean over random orders of tied rows, its curve, and simulated
truths.
"""

import numpy as np
import pytest
from scipy.special import expit

from calibrant import metrics
from calibrant.errors import InputError

lift = metrics.lift
RNG = np.random.default_rng(0)
P = RNG.random(300).round(1)
Y = (RNG.random(300) < P * 0.4).astype(int)


def test_ties_at_the_border_count_in_part():
    found = []
    for _ in range(3000):
        order = np.lexsort((RNG.random(300), -P))
        found.append(Y[order[:60]].mean() / Y.mean())
    assert lift(Y, P, share=0.2) == pytest.approx(np.mean(found), abs=0.02)
    assert lift(Y, np.full(300, 0.3), share=0.2) == pytest.approx(1.0)
    assert lift([1, 0, 0, 0], [0.5, 0.5, 0.1, 0.1], share=0.25) == pytest.approx(2.0)


def test_it_is_on_the_gain_curve():
    curve = metrics.gain_curve(Y, P)
    for share, value in zip(curve.flagged, curve.lift, strict=True):
        assert lift(Y, P, share=float(min(share, 1.0))) == pytest.approx(value)


def test_weights_are_repetition_and_increasing_maps_change_nothing():
    w = RNG.integers(0, 4, 300)
    weighted, repeated = (
        lift.interval(Y, P, sample_weight=w),
        lift.interval(np.repeat(Y, w), np.repeat(P, w)),
    )
    assert (weighted.value, weighted.low) == pytest.approx((repeated.value, repeated.low))
    assert lift(Y, P**3) == pytest.approx(lift(Y, P))


def test_a_perfect_order_is_as_good_as_it_gets_and_no_event_has_none():
    y = np.repeat([1, 0], [20, 80])
    assert lift(y, y * 0.5, share=0.1) == 5.0
    assert lift(y, y * 0.5, share=0.5) == 2.0
    assert lift.interval(y, y * 0.5, share=0.1).low < 5.0
    assert np.isnan(lift([0, 0], [0.1, 0.2]))
    assert np.isnan(lift.interval([0, 0], [0.1, 0.2]).low)
    assert lift.interval(y, y * 0.5, share=1.0).high == 1.0


def test_a_share_that_is_none_is_refused():
    for share in (0.0, 1.5):
        with pytest.raises(InputError, match="share must be"):
            lift(Y, P, share=share)


@pytest.mark.parametrize(
    ("n", "skill", "shift", "share"), [(200, 1, -2, 0.1), (500, 3, -5, 0.05), (500, 2, 0, 0.3)]
)
def test_the_interval_covers(n, skill, shift, share):
    rng = np.random.default_rng(1)

    def draw(n):
        p = expit(shift + skill * rng.normal(size=n))
        return (rng.random(n) < p).astype(int), p

    true = lift(*draw(500_000), share=share)
    draws = [lift.interval(*draw(n), share=share) for _ in range(400)]
    assert np.mean([d.low <= true <= d.high for d in draws]) >= 0.95 - 3 * np.sqrt(
        0.95 * 0.05 / 400
    )


@pytest.mark.parametrize(("share", "low", "high"), [(0.1, 0.01, 1.0), (0.5, 0.1, 0.8)])
def test_the_interval_covers_where_the_risk_jumps_at_the_share(share, low, high):
    rng, repeats, n, held = np.random.default_rng(8), 300, 500, 0
    truth = high / (share * high + (1.0 - share) * low)
    for _ in range(repeats):
        p = np.where(rng.random(n) < share, high, low)
        found = metrics.lift.interval((rng.random(n) < p).astype(int), p, share=share)
        held += found.low <= truth <= found.high
    assert held / repeats >= 0.95 - 2.5 * np.sqrt(0.05 * 0.95 / repeats)
