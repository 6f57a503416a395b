"""Mean confidence of what is wrong; Theorem 1, which ties it to underconfidence, is in
tests/laws/test_overconfidence.py.
"""

import numpy as np
import pytest

from calibrant import metrics

P = [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.3, 0.7]]
Y = [0, 1, 0, 1]


def test_by_hand():
    # Wrong: the second (0.6) and the third (0.8).
    assert metrics.overconfidence(Y, P) == pytest.approx(0.7)


def test_what_is_right_does_not_count():
    assert metrics.overconfidence(
        Y, [[0.51, 0.49], *P[1:3], [0.01, 0.99]]
    ) == metrics.overconfidence(Y, P)


def test_weights_are_repetition():
    weight = [2, 1, 3, 0]
    assert metrics.overconfidence(Y, P, sample_weight=weight) == pytest.approx((0.6 + 3 * 0.8) / 4)
    repeated = metrics.overconfidence(np.repeat(Y, weight), np.repeat(P, weight, axis=0))
    assert metrics.overconfidence(Y, P, sample_weight=weight) == pytest.approx(repeated)


def test_nothing_wrong_is_no_overconfidence():
    assert metrics.overconfidence([0, 1], [[0.9, 0.1], [0.1, 0.9]]) == 0.0
    assert metrics.overconfidence([1, 0], [[1.0, 0.0], [0.0, 1.0]]) == 1.0


def test_sharpening_the_probabilities_raises_it_and_lowers_underconfidence():
    rng = np.random.default_rng(0)
    soft = rng.dirichlet(np.ones(3), 500)
    y = (rng.random((500, 1)) > soft.cumsum(axis=1)[:, :-1]).sum(axis=1)
    sharp = soft**3 / (soft**3).sum(axis=1, keepdims=True)
    assert metrics.overconfidence(y, sharp) > metrics.overconfidence(y, soft) + 0.1
    assert metrics.underconfidence(y, sharp) < metrics.underconfidence(y, soft) - 0.1
