"""The mean softmax over draws and their negatives, beside the plain mean over all of them."""

import numpy as np
import pytest

from calibrant._kernels import gaussian_process as gp
from calibrant._kernels.gaussian_process_fit import Independent, Joint, by_draws
from calibrant._kernels.softmax import softmax


@pytest.mark.parametrize("variance", [1.5, 1e6])
@pytest.mark.parametrize("n_draws", [10, 11])
@pytest.mark.parametrize("kind", [Independent, Joint])
def test_the_mean_over_draws_and_their_negatives(kind, n_draws, variance):
    rng = np.random.default_rng(0)
    hyper, posterior = gp.Hyper(variance, 1.0, 0.1), gp.Posterior(rng.normal(size=4), np.eye(4))
    law, scores = kind(np.linspace(-2.0, 2.0, 4), hyper, posterior), 2.0 * rng.normal(size=(300, 3))
    draws = law.draw(rng, (n_draws + 1) // 2, 3)
    shift, spread = (
        one.reshape(scores.shape)
        for one in gp.latent(scores.ravel(), law.inducing, hyper, posterior)
    )
    half = law.deviations(scores, spread, draws)
    around = [
        softmax(scores + shift + sign * one)
        for sign in (1.0, -1.0)
        for one in half.transpose(2, 0, 1)
    ]
    np.testing.assert_allclose(
        by_draws(law, scores, scores, draws, n_draws), np.mean(around[:n_draws], axis=0), atol=1e-13
    )
