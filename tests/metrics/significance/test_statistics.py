"""What all tests of calibration share: the record they answer with, weights, edges, refusals."""

from dataclasses import FrozenInstanceError, asdict

import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import InputError

RNG = np.random.default_rng(1)
P = RNG.random(200)
Y = (RNG.random(200) < P).astype(int)
WEIGHT = RNG.integers(1, 4, 200)
EVERY = [
    metrics.spiegelhalter_test,
    metrics.hosmer_lemeshow_test,
    metrics.cumulative_test,
]


@pytest.mark.parametrize("test", EVERY)
def test_weights_are_repetition(test):
    once, twice = test(Y, P, sample_weight=WEIGHT), test(np.repeat(Y, WEIGHT), np.repeat(P, WEIGHT))
    assert (once.statistic, once.n) == pytest.approx((twice.statistic, twice.n))


@pytest.mark.parametrize("test", EVERY)
def test_deterministic_and_between_0_and_1(test):
    assert test(Y, P) == test(Y, P)
    for y, p in (
        [[1], [0.3]],
        [[0, 1], [0.5, 0.5]],
        [[1, 1, 1], [1.0, 1.0, 1.0]],
        [[1, 1], [0.0, 0.0]],
    ):
        assert 0.0 <= test(y, p).p_value <= 1.0


@pytest.mark.parametrize("test", EVERY)
def test_the_record_holds_plain_numbers_and_cannot_be_changed(test):
    found = test(Y, P)
    assert [type(value) for value in asdict(found).values()] == [float, float, str, float]
    assert found.n == 200.0
    with pytest.raises(FrozenInstanceError):
        found.p_value = 1.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: metrics.cumulative_test(Y, P, n_draws=5), "n_draws must be"),
        (lambda: metrics.cumulative_test(Y, P, statistic="cusum"), "statistic must be"),
        (lambda: metrics.cumulative_test(Y, P, method="exact"), "method must be"),
        (lambda: metrics.hosmer_lemeshow_test(Y, P, n_bins=0), "n_bins must be"),
        (lambda: metrics.spiegelhalter_test(None, P), "y_true must be the true labels"),
        (lambda: metrics.spiegelhalter_test([0, 1, 2], np.eye(3)), "takes two classes"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(InputError, match=words):
        call()
