"""The mean length of a normal vector against its closed forms and draws."""

import numpy as np
import pytest
from scipy import special

from calibrant._kernels.normal_scores import mean_norm


@pytest.mark.parametrize("variance", [1e-20, 1.0, 1e8])
def test_in_one_dimension_it_is_the_folded_normal(variance):
    centre, std = np.array([0.0, 1e-9, 0.3, 50.0, 1e6]), np.sqrt(variance)
    z = centre / std
    exact = std * (
        z * (2.0 * special.ndtr(z) - 1.0) + 2.0 * np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
    )
    np.testing.assert_allclose(
        mean_norm(centre[:, None], np.full((5, 1), variance)), exact, rtol=1e-11
    )


def test_about_zero_it_is_the_mean_of_chi():
    for d in (2, 10):
        exact = np.sqrt(2.0) * special.gamma(0.5 * d + 0.5) / special.gamma(0.5 * d)
        np.testing.assert_allclose(mean_norm(np.zeros((1, d)), np.ones((1, d))), exact, rtol=1e-11)


def test_between_them_it_is_the_mean_of_draws():
    rng = np.random.default_rng(0)
    centre, variance = np.array([[0.5, -1.0, 2.0]]), np.array([[0.01, 1.0, 9.0]])
    drawn = np.linalg.norm(centre + np.sqrt(variance) * rng.normal(size=(400_000, 3)), axis=1)
    assert abs(mean_norm(centre, variance)[0] - drawn.mean()) < 4.0 * drawn.std() / np.sqrt(
        len(drawn)
    )
    assert mean_norm(np.array([[3.0, 4.0]]), np.zeros((1, 2)))[0] == pytest.approx(5.0, rel=1e-11)
