"""The difference of two mean scores and its standard error, against numbers by hand and
repetition.
"""

import numpy as np
import pytest

from calibrant.calibrators.trust import score_difference


def test_by_hand():
    gain, error = score_difference(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 1.0]), np.ones(3))
    assert gain == pytest.approx(1.0)
    assert error == pytest.approx(np.std([2.0, 0.0, 1.0], ddof=1) / np.sqrt(3.0))


def test_weight_is_repetition():
    rng = np.random.default_rng(0)
    before, after, weight = rng.normal(size=20), rng.normal(size=20), rng.integers(1, 4, 20)
    repeated = score_difference(
        np.repeat(before, weight), np.repeat(after, weight), np.ones(weight.sum())
    )
    assert score_difference(before, after, weight.astype(float)) == pytest.approx(repeated)


def test_the_same_scores_and_infinite_ones():
    same = np.array([1.0, 2.0])
    assert score_difference(same, same, np.ones(2)) == (0.0, 0.0)
    assert score_difference(np.array([1.0, np.inf]), same, np.ones(2)) == (np.inf, 0.0)
