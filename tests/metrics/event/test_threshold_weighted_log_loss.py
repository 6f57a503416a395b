import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import InputError

RNG = np.random.default_rng(0)
P = RNG.random(200)
Y = (RNG.random(200) < P).astype(int)
score = metrics.threshold_weighted_log_loss


def test_over_all_thresholds_it_is_the_log_loss():
    assert score(Y, P) == pytest.approx(metrics.log_loss(Y, P), rel=1e-12)
    assert score([1, 0], [0.0, 1.0]) == pytest.approx(
        metrics.log_loss([1, 0], [0.0, 1.0]), rel=1e-12
    )
    logits = np.array([-40.0, 800.0])
    assert score([1, 0], logits, inputs="logit") == pytest.approx(
        metrics.log_loss([1, 0], logits, inputs="logit"), rel=1e-12
    )


def test_thresholds_inside_bound_it():
    worst = score([1, 0], [0.0, 1.0], low=0.001, high=0.9)
    assert worst == pytest.approx(0.5 * (np.log(0.9 / 0.001) + np.log(0.999 / 0.1)), rel=1e-12)


def test_a_density_that_leaves_no_bound_is_refused():
    with pytest.raises(InputError, match="beta must be a pair of numbers above 1"):
        score(Y, P, beta=(1.0, 2.0))
