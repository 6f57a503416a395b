"""Closed forms against the elementary score integrated by brute force; what both scores share."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from calibrant import metrics
from calibrant.errors import InputError

SCORES = [metrics.threshold_weighted_brier_score, metrics.threshold_weighted_log_loss]
WEIGHTS = [
    {},
    {"low": 0.05, "high": 0.3},
    {"low": 0.4, "high": 1.0},
    {"beta": (2.0, 5.0)},
    {"beta": (1.5, 1.2)},
]
P = np.array([0.02, 0.2, 0.35, 0.5, 0.81])
RNG = np.random.default_rng(0)


def integral(y, p, score, low=0.0, high=1.0, beta=None):
    """The elementary score over its threshold, by quadrature."""

    def integrand(t):
        weight = 1.0 if beta is None else stats.beta.pdf(t, *beta)
        base = 2.0 if "brier" in score.key else 1.0 / (t * (1.0 - t))
        return abs(y - t) * base * weight

    a, b = max(min(p, y), low), min(max(p, y), high)
    return quad(integrand, a, b, epsabs=1e-12)[0] if a < b else 0.0


@pytest.mark.parametrize("score", SCORES, ids=lambda s: s.key)
class TestBoth:
    @pytest.mark.parametrize("options", WEIGHTS, ids=str)
    @pytest.mark.parametrize("y", [0, 1])
    def test_it_is_the_integral_of_the_elementary_score(self, score, options, y):
        for p in P:
            found = score.with_options(**options)([y], [p])
            assert found == pytest.approx(integral(y, p, score, **options), abs=1e-9)

    def test_intervals_of_thresholds_add_up_to_the_whole(self, score):
        p = RNG.random(100)
        y = (RNG.random(100) < p).astype(int)
        parts = [score(y, p, low=a, high=b) for a, b in ((0.0, 0.1), (0.1, 0.6), (0.6, 1.0))]
        assert sum(parts) == pytest.approx(score(y, p), rel=1e-12)

    def test_one_class_of_three_is_its_event(self, score):
        P3, y = RNG.dirichlet(np.ones(3), 100), RNG.integers(0, 3, 100)
        found = score(y, P3, target=2, low=0.1, high=0.5)
        assert found == pytest.approx(
            score((y == 2).astype(int), P3[:, 2], low=0.1, high=0.5), rel=1e-9
        )

    def test_options_out_of_range_are_refused(self, score):
        for options in ({"low": 0.5, "high": 0.5}, {"high": 1.5}, {"low": -0.1}):
            with pytest.raises(InputError, match="low and high must satisfy"):
                score([0, 1], [0.2, 0.4], **options)
        with pytest.raises(InputError, match="leave low and high at their defaults"):
            score([0, 1], [0.2, 0.4], low=0.1, beta=(2, 3))
        for beta in ((2.0,), (0.0, 2.0), 3):
            with pytest.raises(InputError, match="beta must be a pair"):
                score([0, 1], [0.2, 0.4], beta=beta)

    @pytest.mark.parametrize("options", [{"low": 0.05, "high": 0.3}, {"beta": (2.0, 5.0)}], ids=str)
    def test_the_interval_covers(self, score, options):
        p = np.linspace(0.01, 0.6, 300)
        truth, rng = p**1.2, np.random.default_rng(1)
        true = score(
            np.repeat([1, 0], 300),
            np.tile(p, 2),
            sample_weight=np.concatenate([truth, 1 - truth]),
            **options,
        )
        draws = [
            score.interval((rng.random(300) < truth).astype(int), p, **options) for _ in range(300)
        ]
        assert np.mean([d.low <= true <= d.high for d in draws]) >= 0.95 - 3 * np.sqrt(
            0.95 * 0.05 / 300
        )
