"""H1: a search that stepped too far ended in nan, or in an overflow on some processors only."""

import numpy as np
import pytest

from calibrant import calibrators


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_h01_a_step_too_far_does_not_end_a_gaussian_process(covariance):
    """Whether the last step was one, and overflowed, hung on the last digits of a product: so on
    the processor. These draws ended in nan on any.
    """
    for seed in (1, 9):
        rng = np.random.default_rng(seed)
        logits = 2.0 * rng.normal(size=(40, 3))
        y = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
        P = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        gp = calibrators.GaussianProcessCalibration(
            covariance=covariance, expectation="mean", n_inducing=2
        )
        Q = gp.fit(P, y, sample_weight=np.full(40, 1e12 / 40)).predict_proba(P)
        assert np.isfinite(Q).all()
        assert np.isfinite(gp.evidence_)
        chosen = np.arange(40), y
        assert np.log(Q[chosen]).mean() >= np.log(P[chosen]).mean() - 0.05
