"""What a sample would have shown."""

import numpy as np
import pytest

from calibrant._kernels.logistic import sigmoid
from calibrant._kernels.planning import detectable_shift


def test_of_one_risk_it_is_the_textbooks_two_binomials():
    """p = .5, n = 100: q solves 100 (q - .5) = 1.96 x 5 + 1.645 sqrt(100 q (1 - q))."""
    gap = detectable_shift(np.full(100, 0.5), np.ones(100))
    q = 0.5 + gap
    assert 100.0 * gap == pytest.approx(
        1.959964 * 5.0 + 1.644854 * np.sqrt(100.0 * q * (1.0 - q)), rel=1e-5
    )
    assert detectable_shift(np.full(10, 0.5), np.full(10, 10.0)) == pytest.approx(gap)


def test_few_rows_show_nothing_and_many_show_little():
    assert detectable_shift(np.full(4, 0.1), np.ones(4)) > 0.6
    assert detectable_shift(np.full(1, 0.5), np.ones(1)) == pytest.approx(0.5)
    assert detectable_shift(np.full(1_000_000, 0.1), np.ones(1_000_000)) < 0.002


@pytest.mark.parametrize("seed", [0, 1])
def test_so_large_an_offset_is_seen_in_19_of_20_samples(seed):
    rng = np.random.default_rng(seed)
    z = rng.normal(-1.0, 1.0, 400)
    p, ones = sigmoid(z), np.ones(400)
    gap = detectable_shift(p, ones)
    low, high = 0.0, 5.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if (sigmoid(z + middle) - p).mean() < gap else (low, middle)
    drawn = (rng.random((2000, 400)) < sigmoid(z + high)).sum(axis=1)
    seen = np.abs(drawn - p.sum()) > 1.959964 * np.sqrt((p * (1.0 - p)).sum())
    assert seen.mean() >= 0.935
