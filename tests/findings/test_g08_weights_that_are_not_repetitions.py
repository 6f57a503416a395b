"""G8: weights that correct for how rows were drawn are not numbers of repetitions."""

from typing import Any

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError

REPEATS, N, LEAST = 150, 860, 133  # 95 % of 150 repeats less chance


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outcomes, true risks and weights whose effective size is about 40 % of the rows."""
    rng = np.random.default_rng(seed)
    p, w = 1.0 / (1.0 + np.exp(-rng.normal(0.0, 1.3, N))), np.exp(rng.normal(0.0, 1.0, N))
    return (rng.random(N) < p).astype(int), p, w / w.mean()


def covered(metric: Any, truth: float) -> int:
    """How many intervals hold the truth; one that is refused, or warned of, misleads nobody."""
    held = 0
    for seed in range(REPEATS):
        y, p, w = drawn(seed)
        try:
            found = metric.interval(y, p, sample_weight=w)
        except (InputError, UserWarning):
            held += 1
        else:
            held += found.low <= truth <= found.high
    return held


def test_intervals_of_the_log_loss_hold_under_sampling_weights():
    p = 1.0 / (1.0 + np.exp(-np.random.default_rng(1).normal(0.0, 1.3, 1_000_000)))
    truth = -float((p * np.log(p) + (1.0 - p) * np.log1p(-p)).mean())
    assert covered(cb.metrics.log_loss, truth) >= LEAST


def test_intervals_of_the_slope_hold_under_sampling_weights():
    assert covered(cb.metrics.calibration_slope, 1.0) >= LEAST


def test_spiegelhalters_test_keeps_its_size_under_sampling_weights():
    called = 0
    for seed in range(REPEATS):
        y, p, w = drawn(seed)
        try:
            called += cb.metrics.spiegelhalter_test(y, p, sample_weight=w).p_value < 0.05
        except (InputError, UserWarning):
            continue
    assert called <= 17  # 5 % of 150 repeats, and what chance adds to it


def test_a_caution_names_the_weights_that_are_meant():
    y, p, w = drawn(0)
    with pytest.warns(UserWarning, match='weight_kind="sampling"'):
        cb.metrics.log_loss.interval(y, p, sample_weight=w)


def test_sampling_weights_are_of_any_scale():
    y, p, w = drawn(0)
    found = [
        cb.metrics.log_loss.interval(y, p, sample_weight=scale * w, weight_kind="sampling")
        for scale in (1.0, 1000.0)
    ]
    assert (found[0].low, found[0].high) == pytest.approx((found[1].low, found[1].high))


def test_intervals_hold_under_sampling_weights_where_these_are_said():
    truths = {"calibration_slope": 1.0, "observed_expected_ratio": 1.0, "calibration_bias": 0.0}
    many = 1.0 / (1.0 + np.exp(-np.random.default_rng(1).normal(0.0, 1.3, 1_000_000)))
    many.sort()
    pairs = many @ np.cumsum(1.0 - many)
    truths["event_auroc"] = pairs / (many.sum() * (1.0 - many).sum())
    truths["log_loss"] = -float((many * np.log(many) + (1.0 - many) * np.log1p(-many)).mean())
    for key, truth in truths.items():
        held = 0
        for seed in range(1000, 1000 + REPEATS):
            y, p, w = drawn(seed)
            found = getattr(cb.metrics, key).interval(y, p, sample_weight=w, weight_kind="sampling")
            assert found.method == "analytic"
            held += found.low <= truth <= found.high
        assert held >= LEAST, key
