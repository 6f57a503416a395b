"""T-Cal: its statistic and p-value in loops, and the scales at which it sees."""

import numpy as np
import pytest

from calibrant import metrics
from calibrant._kernels.bootstrap import null_generator

t_cal = metrics.t_cal_test
RNG = np.random.default_rng(1)


def slow_scales(score, hit, n_scales):
    """T_m for m = 1, 2, 4, ...: ordered pairs of distinct rows of a bin, over the bin's rows."""
    out = []
    for m in 2 ** np.arange(n_scales):
        total = 0.0
        for b in range(m):
            rows = [i for i in range(len(score)) if min(int(score[i] * m), m - 1) == b]
            gaps = [hit[i] - score[i] for i in rows]
            total += sum(
                gaps[i] * gaps[j] for i in range(len(rows)) for j in range(len(rows)) if i != j
            ) / max(len(rows), 1)
        out.append(total)
    return np.array(out)


def test_statistic_and_p_value_in_loops():
    p = RNG.random(20)
    y = RNG.integers(0, 2, 20)
    # 20 rows: scales 1, 2, 4, 8 (at most n / 2); 49 draws of the same generator.
    rng = null_generator(5)
    every = np.array(
        [slow_scales(p, hit, 4) for hit in [y, *(rng.random(20) < p for _ in range(49))]]
    )
    heights = ((every - every.mean(axis=0)) / every.std(axis=0)).max(axis=1)
    found = t_cal(y, p, target="event", n_draws=49, random_state=5)
    assert found.statistic == pytest.approx(heights[0])
    assert found.p_value == pytest.approx(np.mean(heights >= heights[0] - 1e-9))
    assert found.n == 20.0


def test_calibrated_is_let_pass_and_a_planted_shift_is_not():
    rng = np.random.default_rng(2)
    p = rng.uniform(0.1, 0.9, 500)
    assert t_cal((rng.random(500) < p).astype(int), p, target="event", n_draws=99).p_value > 0.05
    assert (
        t_cal((rng.random(500) < p - 0.1).astype(int), p, target="event", n_draws=99).p_value
        == 0.01
    )


def test_it_sees_waves_that_cancel_in_wide_bins():
    """Off by -.2 and +.2 in turn over sixteenths of [0, 1]: next to nothing in four wide bins."""
    rng = np.random.default_rng(3)
    p = rng.uniform(0.25, 0.75, 2000)
    y = (rng.random(2000) < p + 0.2 * np.where((p * 16).astype(int) % 2, 1, -1)).astype(int)
    assert t_cal(y, p, target="event", n_draws=99).p_value == 0.01
    assert metrics.hosmer_lemeshow_test(y, p, n_bins=4).p_value > 0.05


def test_the_default_target_is_the_top_label():
    Q = RNG.dirichlet(np.ones(3), 100)
    y = RNG.integers(0, 3, 100)
    right = (Q.argmax(axis=1) == y).astype(int)
    assert (
        t_cal(y, Q, n_draws=39).p_value
        == t_cal(right, Q.max(axis=1), target="event", n_draws=39).p_value
    )


def test_weights_are_repetition():
    """The draws differ, so the statistics agree within what 4,000 draws leave of noise."""
    p, weight = RNG.random(40), RNG.integers(0, 5, 40)
    y = (RNG.random(40) < p**1.5).astype(int)
    options = {"target": "event", "n_draws": 4000}
    weighted, repeated = (
        t_cal(y, p, sample_weight=weight, **options),
        t_cal(np.repeat(y, weight), np.repeat(p, weight), **options),
    )
    assert weighted.n == repeated.n
    assert weighted.statistic == pytest.approx(repeated.statistic, abs=0.15)
    assert weighted.p_value == pytest.approx(repeated.p_value, abs=0.04)


def test_large_weights_do_not_ask_for_as_many_bins():
    found = t_cal(
        [0, 1, 1], [0.2, 0.5, 0.9], sample_weight=[1e9, 1e9, 1e9], target="event", n_draws=19
    )
    assert found.p_value == 0.05


def test_edges():
    assert t_cal([1], [0.3], target="event").p_value == 1.0
    assert t_cal([0, 1, 1], [0.0, 1.0, 1.0], target="event").p_value == 1.0
    assert 0.0 < t_cal([1, 1], [0.5, 0.5], target="event").p_value <= 1.0
