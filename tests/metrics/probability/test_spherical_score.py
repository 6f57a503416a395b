import numpy as np
import pytest

from calibrant import metrics


def test_by_hand_and_by_logits():
    P = np.random.default_rng(0).dirichlet(np.ones(4), 50)
    y = np.arange(50) % 4
    expected = np.mean(P[np.arange(50), y] / np.linalg.norm(P, axis=1))
    assert metrics.spherical_score(y, P) == pytest.approx(expected, abs=1e-12)
    assert metrics.spherical_score(y, np.log(P), inputs="logit") == pytest.approx(
        expected, abs=1e-12
    )
