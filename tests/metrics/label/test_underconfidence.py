"""Mean doubt of what is right; Theorem 1, which ties it to overconfidence, is in
tests/laws/test_overconfidence.py.
"""

import numpy as np
import pytest

from calibrant import metrics

P = [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.3, 0.7]]
Y = [0, 1, 0, 1]


def test_by_hand():
    # Right: the first (doubt 0.1) and the last (0.3).
    assert metrics.underconfidence(Y, P) == pytest.approx(0.2)


def test_what_is_wrong_does_not_count():
    assert metrics.underconfidence(
        Y, [P[0], [0.99, 0.01], [0.49, 0.51], P[3]]
    ) == metrics.underconfidence(Y, P)


def test_weights_are_repetition():
    weight = [2, 1, 0, 3]
    assert metrics.underconfidence(Y, P, sample_weight=weight) == pytest.approx(
        (2 * 0.1 + 3 * 0.3) / 5
    )
    repeated = metrics.underconfidence(np.repeat(Y, weight), np.repeat(P, weight, axis=0))
    assert metrics.underconfidence(Y, P, sample_weight=weight) == pytest.approx(repeated)


def test_nothing_right_is_no_underconfidence():
    assert metrics.underconfidence([1, 0], [[0.9, 0.1], [0.1, 0.9]]) == 0.0
    assert metrics.underconfidence([0, 1], [[1.0, 0.0], [0.0, 1.0]]) == 0.0


def test_the_most_doubt_there_is():
    assert metrics.underconfidence([0, 0], np.full((2, 4), 0.25)) == pytest.approx(0.75)


def test_it_is_the_overconfidence_of_the_opposite_for_two_classes():
    """1 - c for the right ones: give every label the other way and what was right is wrong, with
    the same confidence.
    """
    rng = np.random.default_rng(0)
    p = rng.random(200)
    y = (rng.random(200) < p).astype(int)
    assert metrics.underconfidence(y, p) == pytest.approx(1.0 - metrics.overconfidence(1 - y, p))
