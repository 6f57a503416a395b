"""F5: the full-covariance Gaussian process was fitted by the joint law of a row's latent values,
and predicted by their marginals.

A shift common to all of them costs the bound nothing, so the marginal variances grow without limit;
softmax does not see it.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant._numerics.logistic import softmax
from calibrant.datasets.sets import data_folder, stored


def overconfident(n, K, seed=0):
    rng = np.random.default_rng(seed)
    logits = 2.0 * rng.normal(size=(n, K))
    return 2.0 * logits, (logits + rng.gumbel(size=(n, K))).argmax(axis=1)


@pytest.fixture(scope="module", params=["probability", "logit"])
def shifted(request):
    """A fit whose posterior is then widened by a large shift of the latent function as a whole,
    which no label can tell.
    """
    logits, y = overconfident(200, 3)
    P = logits if request.param == "logit" else softmax(logits)
    cal = cb.calibrators.GaussianProcessCalibration(
        inputs=request.param, covariance="full", n_inducing=4, n_draws=400
    ).fit(P, y)
    narrow = cal.set_params(expectation="mean").predict_proba(P)
    inducing, (variance, length, noise) = cal.inducing_, cal.kernel_
    gap = (inducing[:, None] - inducing) / length
    root = np.linalg.cholesky(variance * np.exp(-0.5 * gap * gap) + (noise + 1e-6) * np.eye(4))
    level = np.linalg.solve(root, np.full(4, 3.0))
    cal.root_ = np.linalg.cholesky(cal.root_ @ cal.root_.T + np.outer(level, level))
    return cal, P, y, narrow


@pytest.mark.parametrize("expectation", ["monte_carlo", "taylor"])
def test_f05_a_common_shift_of_the_latent_function_changes_no_prediction(shifted, expectation):
    cal, P, y, narrow = shifted
    latent = cal.latent(P.ravel())
    assert (latent.high - latent.low).min() > 8.0, (
        "the marginals are not wide enough to show the error"
    )
    Q = cal.set_params(expectation=expectation).predict_proba(P)
    assert metrics.log_loss(y, Q) < metrics.log_loss(y, narrow) + 0.02
    assert metrics.accuracy(y, Q) > metrics.accuracy(y, narrow) - 0.02


@pytest.mark.data
def test_f05_draws_and_expansion_agree_with_the_mean_on_mnist():
    if not (data_folder() / "classifier_outputs" / "xgboost-mnist.npz").is_file():
        pytest.skip("needs CALIBRANT_DATA")
    arrays = stored("classifier_outputs/xgboost-mnist")
    P, y = arrays["probabilities"], arrays["labels"]
    cal = cb.calibrators.GaussianProcessCalibration(covariance="full").fit(P[:1000], y[:1000])
    losses = [
        metrics.log_loss(y[1000:], cal.set_params(expectation=e).predict_proba(P[1000:]))
        for e in ("monte_carlo", "taylor", "mean")
    ]
    assert np.ptp(losses) < 0.005
