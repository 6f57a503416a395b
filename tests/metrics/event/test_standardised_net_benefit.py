import numpy as np
import pytest

from calibrant import metrics

snb = metrics.standardised_net_benefit
RNG = np.random.default_rng(0)
P = RNG.beta(1, 4, 400)
Y = (RNG.random(400) < P).astype(int)


def test_it_is_the_net_benefit_by_the_rate():
    for options in ({}, {"strategy": "all"}, {"prevalence": 0.1}):
        rate = options.get("prevalence", Y.mean())
        plain = metrics.net_benefit(Y, P, threshold=0.2, **options)
        assert snb(Y, P, threshold=0.2, **options) == pytest.approx(plain / rate, rel=1e-12)


def test_one_is_acting_on_every_event_and_on_nothing_else():
    assert snb(Y, Y.astype(float), threshold=0.3) == 1.0
    assert snb(Y, P, threshold=0.0) == 1.0
    assert np.isnan(snb([0, 0], [0.1, 0.9]))
    assert np.isnan(snb.interval([0, 0], [0.1, 0.9]).high)


@pytest.mark.parametrize("options", [{}, {"prevalence": 0.05}], ids=["model", "case-control"])
def test_the_interval_covers(options):
    rng = np.random.default_rng(1)

    def draw(n):
        p = rng.beta(1, 4, n)
        return (rng.random(n) < p).astype(int), p

    true = snb(*draw(500_000), threshold=0.2, **options)
    draws = [snb.interval(*draw(200), threshold=0.2, **options) for _ in range(400)]
    assert np.mean([d.low <= true <= d.high for d in draws]) >= 0.95 - 3 * np.sqrt(
        0.95 * 0.05 / 400
    )
