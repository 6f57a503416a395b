"""Normal distributions of several outputs together, against scipy's and by what they promise."""

import numpy as np
import pytest
from scipy import stats

import calibrant as cb
from calibrant.errors import InputError
from calibrant.testing.data import joint_rows


def test_the_density_is_scipys():
    mean, cov, y = joint_rows(20, 4)
    forecast = cb.regression.JointNormalForecast(mean, cov)
    exact = [
        stats.multivariate_normal(m, c).logpdf(one) for m, c, one in zip(mean, cov, y, strict=True)
    ]
    np.testing.assert_allclose(forecast.log_density(y), exact, rtol=1e-10)
    np.testing.assert_allclose(forecast.marginals.std, np.sqrt(np.diagonal(cov, axis1=1, axis2=2)))


def test_draws_have_its_mean_and_covariance():
    mean, cov, _ = joint_rows(1, 3)
    drawn = cb.regression.JointNormalForecast(mean, cov).sample(200_000, random_state=0)[0]
    np.testing.assert_allclose(drawn.mean(axis=1), mean[0], atol=0.03)
    np.testing.assert_allclose(np.cov(drawn), cov[0], atol=0.1)


def test_scaled_and_taken_rows_keep_their_covariance():
    mean, cov, y = joint_rows(6, 3)
    forecast = cb.regression.JointNormalForecast(mean, cov)
    np.testing.assert_allclose(forecast.take([4, 1]).cov, cov[[4, 1]], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(forecast.scaled(4.0).cov, 4.0 * cov, rtol=1e-10, atol=1e-12)
    crossed = forecast.scaled([100.0, 1.0, 0.01])
    assert (np.diff(crossed.principal_variance, axis=1) >= 0.0).all()
    np.testing.assert_allclose(
        crossed.distance(y),
        cb.regression.JointNormalForecast(mean, crossed.cov).distance(y),
        rtol=1e-8,
    )


def test_one_covariance_may_be_said_for_all_rows():
    one = cb.regression.JointNormalForecast(np.zeros((3, 2)), [[2.0, 0.5], [0.5, 1.0]])
    assert one.cov.shape == (3, 2, 2)
    assert repr(one) == "<JointNormalForecast: 3 rows of 2 outputs together>"


@pytest.mark.parametrize(
    ("cov", "match"),
    [
        ([[1.0, 0.9], [0.0, 1.0]], "symmetric; pass the covariance, not its Cholesky factor"),
        ([[1.0, 1.0], [1.0, 1.0]], "positive definite"),
        ([[1.0, 2.0], [2.0, 1.0]], "positive definite"),
        ([[1.0, np.nan], [np.nan, 1.0]], "cov must be finite"),
        ([1.0, 1.0], "cov must be"),
    ],
)
def test_what_is_no_covariance_is_refused(cov, match):
    with pytest.raises(InputError, match=match):
        cb.regression.JointNormalForecast(np.zeros((3, 2)), cov)


def test_one_output_and_other_shapes_are_refused():
    with pytest.raises(InputError, match="NormalForecast for one output"):
        cb.regression.JointNormalForecast([0.0], [[1.0]])
    with pytest.raises(InputError, match="y must have the shape"):
        cb.regression.JointNormalForecast([[0.0, 0.0]], np.eye(2)).distance([0.0, 0.0])
