"""Net benefit against its definition, its decision curve and simulated truths."""

import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import InputError

nb = metrics.net_benefit
RNG = np.random.default_rng(0)
P = RNG.beta(1, 5, 500)
Y = (RNG.random(500) < P).astype(int)


def brute(y, p, t):
    """Row by row, as the definition reads."""
    true, false = (
        sum(q >= t and c for q, c in zip(p, y, strict=True)),
        sum(q >= t and not c for q, c in zip(p, y, strict=True)),
    )
    return true / len(y) - false / len(y) * t / (1 - t)


@pytest.mark.parametrize("t", [0.0, 0.05, 0.25, 0.9])
def test_it_is_the_definition(t):
    assert nb(Y, P, threshold=t) == pytest.approx(brute(Y, P, t), abs=1e-15)
    w = RNG.integers(0, 4, 500)
    assert nb(Y, P, threshold=t, sample_weight=w) == pytest.approx(
        brute(np.repeat(Y, w), np.repeat(P, w), t), abs=1e-14
    )


def test_acting_on_all_and_on_none_are_what_it_is_read_beside():
    # 14 % events of 750 rows, as in dcurves' data: acting on all at 0.25 is worth -0.1466667, at
    # prevalence 0.15 -0.1333333.
    y, p = np.repeat([1, 0], [105, 645]), np.full(750, 0.3)
    assert nb(y, p, threshold=0.25, strategy="all") == pytest.approx(-0.1466667, abs=5e-8)
    assert nb(y, p, threshold=0.25, strategy="all", prevalence=0.15) == pytest.approx(
        -0.1333333, abs=5e-8
    )
    assert nb(y, p, threshold=0.0) == pytest.approx(0.14)
    assert (
        nb.interval(y, p, threshold=0.25, strategy="none").high == nb(y, p, strategy="none") == 0.0
    )
    assert nb(y, p, threshold=0.25, strategy="all") == nb(y, np.ones(750), threshold=0.25)


def test_a_prevalence_weighs_two_samples():
    true, false = np.mean(P[Y == 1] >= 0.2), np.mean(P[Y == 0] >= 0.2)
    assert nb(Y, P, threshold=0.2, prevalence=0.05) == pytest.approx(
        0.05 * true - 0.95 * false / 4, rel=1e-12
    )
    assert nb(Y, P, threshold=0.2, prevalence=float(Y.mean())) == pytest.approx(
        nb(Y, P, threshold=0.2), rel=1e-12
    )
    assert np.isnan(nb([0, 0], [0.1, 0.9], prevalence=0.1))
    assert np.isnan(nb.interval([1, 1], [0.1, 0.9], prevalence=0.1).low)


def test_a_threshold_that_float32_rounds_down_is_reached():
    assert nb([1, 1], np.array([0.7, 0.7], dtype=np.float32), threshold=0.7) == 1.0
    assert nb([1, 1], [0.7, 0.7], threshold=0.7) == 1.0


def test_other_targets():
    P3, y = RNG.dirichlet(np.ones(3), 200), RNG.integers(0, 3, 200)
    assert nb(y, P3, threshold=0.4, target=1) == pytest.approx(
        brute(y == 1, P3[:, 1], 0.4), abs=1e-15
    )
    assert nb(y, P3, threshold=0.6, target="answer") == pytest.approx(
        brute(P3.argmax(1) == y, P3.max(1), 0.6), abs=1e-15
    )


def test_groups_and_parts():
    group = RNG.integers(0, 3, 500)
    found = metrics.per_group(nb, Y, P, group, threshold=0.2)
    alone = [nb.interval(Y[group == g], P[group == g], threshold=0.2) for g in range(3)]
    assert found.value == pytest.approx([a.value for a in alone])
    assert found.low == pytest.approx([a.low for a in alone])
    whole = nb.state(Y[:200], P[:200], threshold=0.2) + nb.state(Y[200:], P[200:], threshold=0.2)
    assert whole.finalise() == pytest.approx(nb(Y, P, threshold=0.2), abs=1e-15)


def test_where_nobody_is_flagged_the_interval_has_width():
    found = nb.interval([1, 0, 0, 0, 0], np.full(5, 0.1), threshold=0.3)
    assert found.low < 0.0 == found.value < found.high


@pytest.mark.parametrize(
    "options", [{"threshold": 1.0}, {"threshold": -0.1}, {"prevalence": 0.0}, {"strategy": "some"}]
)
def test_options_out_of_range_are_refused(options):
    with pytest.raises(InputError, match=f"{next(iter(options))} must be"):
        nb(Y, P, **options)


@pytest.mark.parametrize(
    "options", [{}, {"prevalence": 0.05}, {"strategy": "all"}], ids=["model", "case-control", "all"]
)
@pytest.mark.parametrize(("n", "t"), [(100, 0.15), (500, 0.4)])
def test_the_interval_covers(n, t, options):
    rng = np.random.default_rng(1)

    def draw(n):
        p = rng.beta(1, 4, n)
        return (rng.random(n) < p).astype(int), p

    true = nb(*draw(500_000), threshold=t, **options)
    draws = [nb.interval(*draw(n), threshold=t, **options) for _ in range(400)]
    assert np.mean([d.low <= true <= d.high for d in draws]) >= 0.95 - 3 * np.sqrt(
        0.95 * 0.05 / 400
    )
