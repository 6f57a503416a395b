import numpy as np
import pytest

from calibrant._kernels.thresholds import threshold_counts

SCORE, HIT = np.array([0.1, 0.7, 0.7, 0.3]), np.array([0.0, 1.0, 0.0, 1.0])


def test_by_hand_with_ties_on_a_threshold():
    true, false, events, others = threshold_counts(
        SCORE, HIT, np.array([1.0, 2.0, 3.0, 4.0]), [0.0, 0.3, 0.7, 0.8]
    )
    assert (true.tolist(), false.tolist(), events, others) == (
        [6.0, 6.0, 2.0, 0.0],
        [4.0, 3.0, 3.0, 0.0],
        6.0,
        4.0,
    )


def test_above_leaves_out_the_threshold_itself():
    true, false, *_ = threshold_counts(SCORE, HIT, np.ones(4), [0.3, 0.7], above=True)
    assert (true.tolist(), false.tolist()) == ([1.0, 0.0], [1.0, 0.0])


def test_a_float32_score_on_a_threshold_is_flagged():
    score = np.array([0.7], dtype=np.float32).astype(np.float64)
    assert score[0] < 0.7
    assert threshold_counts(score, np.ones(1), np.ones(1), [0.7], 2.0**-23)[0].tolist() == [1.0]
    assert threshold_counts(score, np.ones(1), np.ones(1), [0.7], 2.0**-23, above=True)[
        0
    ].tolist() == [0.0]


@pytest.mark.parametrize("above", [False, True])
def test_agrees_with_counting_one_by_one(above):
    rng = np.random.default_rng(0)
    score, hit, weight = (
        rng.integers(0, 20, 300) / 20,
        rng.integers(0, 2, 300).astype(float),
        rng.random(300),
    )
    t = np.append(np.arange(21) / 20, [0.123, 0.999])
    flags = score > t[:, None] if above else score >= t[:, None]
    true, false, events, others = threshold_counts(score, hit, weight, t, above=above)
    np.testing.assert_allclose(true, flags @ (weight * hit), atol=1e-12)
    np.testing.assert_allclose(false, flags @ (weight * (1 - hit)), atol=1e-12)
    assert (events, others) == pytest.approx((weight @ hit, weight @ (1 - hit)))
