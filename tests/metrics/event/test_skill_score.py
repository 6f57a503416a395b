"""What both D² share: the base rate, the delta method's interval, states and groups."""

import numpy as np
import pytest

from calibrant import metrics

SCORES = [metrics.d2_log_loss, metrics.d2_brier]
RNG = np.random.default_rng(0)
P = RNG.beta(1, 4, 400)
Y = (RNG.random(400) < P).astype(int)


@pytest.mark.parametrize("score", SCORES, ids=lambda s: s.key)
class TestSkill:
    def test_the_base_rate_itself_has_none_and_the_other_class_as_much(self, score):
        assert score(Y, np.full(400, Y.mean())) == pytest.approx(0.0, abs=1e-12)
        assert score(Y, P, target=0) == pytest.approx(score(Y, P), rel=1e-9)
        assert score(Y, Y.astype(float)) == pytest.approx(1.0, abs=1e-9)
        assert score(Y, 1 - P) < 0

    def test_outcomes_all_alike_have_nothing_to_save(self, score):
        assert np.isnan(score([0, 0], [0.1, 0.2]))
        assert np.isnan(score.interval([1, 1, 1], [0.1, 0.2, 0.3]).low)

    def test_the_interval_is_that_of_the_bootstrap(self, score):
        analytic, boot = (
            score.interval(Y, P),
            score.interval(Y, P, method="bootstrap", n_resamples=1000),
        )
        assert analytic.method == "analytic"
        assert (analytic.low, analytic.high) == pytest.approx((boot.low, boot.high), abs=0.015)

    def test_weights_are_repetition(self, score):
        w = RNG.integers(0, 4, 400)
        weighted, repeated = (
            score.interval(Y, P, sample_weight=w),
            score.interval(np.repeat(Y, w), np.repeat(P, w)),
        )
        assert (weighted.value, weighted.low) == pytest.approx(
            (repeated.value, repeated.low), abs=1e-12
        )

    def test_one_class_of_three_is_its_event(self, score):
        P3, y = RNG.dirichlet(np.ones(3), 300), RNG.integers(0, 3, 300)
        assert score(y, P3, target=2) == pytest.approx(
            score((y == 2).astype(int), P3[:, 2]), rel=1e-12
        )

    def test_groups_are_had_from_sums(self, score):
        group = RNG.integers(0, 3, 400)
        found = metrics.per_group(score, Y, P, group)
        alone = [score.interval(Y[group == g], P[group == g]) for g in range(3)]
        assert found.value == pytest.approx([a.value for a in alone])
        assert found.low == pytest.approx([a.low for a in alone])

    @pytest.mark.parametrize("n", [100, 500])
    def test_the_interval_covers(self, score, n):
        rng = np.random.default_rng(2)

        def draw(n):
            p = rng.beta(1.5, 3, n)
            return (rng.random(n) < p**1.2).astype(int), p

        true = score(*draw(400_000))
        draws = [score.interval(*draw(n)) for _ in range(400)]
        assert np.mean([d.low <= true <= d.high for d in draws]) >= 0.95 - 3 * np.sqrt(
            0.95 * 0.05 / 400
        )
