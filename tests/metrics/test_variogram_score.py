"""The variogram score against its definition, and what it sees."""

import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import InputError
from calibrant.regression import JointNormalForecast
from calibrant.testing.data import joint_rows


def test_it_is_its_definition():
    mean, cov, y = joint_rows(4, 3)
    forecast = JointNormalForecast(mean, cov)
    draws = forecast.sample(200_000, random_state=0)
    for power in (0.5, 1.0, 2.0):
        exact = 0.0
        for j in range(3):
            for k in range(3):
                said = (np.abs(draws[:, j] - draws[:, k]) ** power).mean(axis=1)
                exact += np.square(np.abs(y[:, j] - y[:, k]) ** power - said).mean()
        assert metrics.variogram_score.interval(y, forecast, power=power).value == pytest.approx(
            exact, rel=0.02
        )
        assert metrics.variogram_score.interval(y, draws, power=power).value == pytest.approx(
            exact, rel=1e-10
        )


def test_the_square_is_exact_near_and_far():
    for gap in (0.0, 3.0, 29.0, 31.0, 1e6):
        # E (X_1 - X_2)^2 = gap^2 + 2.
        found = metrics.variogram_score.interval(
            [[0.0, 0.0]], ([[gap, 0.0]], [np.eye(2)]), power=2.0
        ).value
        assert found == pytest.approx(2.0 * (gap**2 + 2.0) ** 2, rel=1e-10)


@pytest.mark.parametrize("power", [0.3, 0.5, 1.0, 1.7])
def test_the_mean_power_has_no_step(power):
    y = [[0.0, 0.0]]
    below, above = (
        metrics.variogram_score.interval(
            y, ([[np.sqrt(2.0) * z, 0.0]], [np.eye(2)]), power=power
        ).value
        for z in (29.9999999, 30.0000001)
    )
    assert above == pytest.approx(below, rel=1e-7)


def test_wrong_correlations_cost():
    rng = np.random.default_rng(0)
    cov = np.array([[1.0, 0.8], [0.8, 1.0]])
    y = rng.multivariate_normal([0.0, 0.0], cov, size=400)
    right, wrong = (
        metrics.variogram_score.interval(y, (np.zeros((400, 2)), each)) for each in (cov, np.eye(2))
    )
    assert right.high < wrong.low


def test_one_output_and_powers_out_of_range_are_refused():
    with pytest.raises(InputError, match="at least two outputs"):
        metrics.variogram_score.interval([[0.0]], ([[0.0]], [[1.0]]))
    with pytest.raises(InputError, match="power must be"):
        metrics.variogram_score.interval([[0.0, 1.0]], ([[0.0, 0.0]], np.eye(2)), power=3.0)
