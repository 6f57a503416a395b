"""The energy score against its definition, the CRPS, and the score of draws."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.errors import InputError
from calibrant.regression import JointNormalForecast
from calibrant.testing.data import joint_rows


def test_with_one_output_it_is_the_crps():
    rng = np.random.default_rng(0)
    mean, std, y = rng.normal(size=50), rng.uniform(0.1, 3.0, 50), rng.normal(size=50)
    found = metrics.energy_score.interval(
        y[:, None], (mean[:, None], np.square(std)[:, None, None])
    )
    assert found.value == pytest.approx(
        metrics.continuous_ranked_probability_score(y, mean, std), rel=1e-10
    )


def test_it_is_the_mean_distance_of_draws_less_half_of_that_between_them():
    mean, cov, y = joint_rows(5, 4)
    forecast = JointNormalForecast(mean, cov)
    one, two = forecast.sample(100_000, random_state=1), forecast.sample(100_000, random_state=2)
    each = np.linalg.norm(one - y[..., None], axis=1) - 0.5 * np.linalg.norm(one - two, axis=1)
    noise = each.std(axis=1).mean() / np.sqrt(each.size)
    assert abs(metrics.energy_score.interval(y, forecast).value - each.mean()) < 4.0 * noise


def test_draws_are_their_own_distribution():
    draws = np.array([[[0.0, 2.0], [0.0, 0.0]]])
    # Distances to (0, 0): 0 and 2; between draws, of all four pairs: 0, 2, 2, 0.
    assert metrics.energy_score.interval([[0.0, 0.0]], draws).value == pytest.approx(1.0 - 0.5)


def test_the_truth_scores_best_and_weight_is_repetition():
    mean, cov, y = joint_rows(400, 3)
    best = metrics.energy_score.interval(y, (mean, cov))
    for other in ((mean + 0.5, cov), (mean, 3.0 * cov), (mean, cov / 3.0)):
        assert metrics.energy_score.interval(y, other).value > best.value
    weight = np.random.default_rng(0).integers(0, 3, 400)
    rows = np.repeat(np.arange(400), weight)
    weighed, repeated = (
        metrics.energy_score.interval(y, (mean, cov), sample_weight=weight),
        metrics.energy_score.interval(y[rows], (mean[rows], cov[rows])),
    )
    np.testing.assert_allclose(
        [weighed.value, weighed.low, weighed.high],
        [repeated.value, repeated.low, repeated.high],
        rtol=1e-9,
    )


@pytest.mark.parametrize(
    ("forecast", "match"),
    [
        ((np.zeros((2, 2)), np.ones((2, 2))), "positive definite"),
        ((np.zeros((3, 2)), np.eye(2)), "shape of the forecast"),
        (np.zeros((2, 2, 1)), "m at least 2"),
        (np.zeros((2, 2)), "does not determine their correlations"),
    ],
)
def test_what_does_not_fit_is_refused(forecast, match):
    with pytest.raises(InputError, match=match):
        metrics.energy_score.interval(np.zeros((2, 2)), forecast)


def test_members_have_weights_as_repetition_and_one_output_is_the_crps():
    rng = np.random.default_rng(5)
    y, draws = rng.normal(size=(30, 2)), rng.normal(size=(30, 2, 6))
    weight = np.array([1.0, 2.0, 1.0, 3.0, 1.0, 1.0])
    repeated = np.repeat(draws, weight.astype(int), axis=2)
    found = metrics.energy_score.interval(y, draws, member_weight=weight).value
    assert found == pytest.approx(metrics.energy_score.interval(y, repeated).value, abs=1e-12)
    assert found == pytest.approx(
        metrics.energy_score.interval(y, draws, member_weight=np.tile(5.0 * weight, (30, 1))).value,
        abs=1e-12,
    )
    one = metrics.energy_score.interval(y[:, :1], draws[:, :1], estimator="fair").value
    crps = type(metrics.continuous_ranked_probability_score)(estimator="fair")
    assert one == pytest.approx(crps(y[:, 0], cb.regression.SampleForecast(draws[:, 0])), abs=1e-12)


def test_fair_scores_of_few_members_are_those_of_many_on_average():
    rng = np.random.default_rng(6)
    y, draws = rng.normal(size=(20_000, 2)), rng.normal(size=(20_000, 2, 4))
    weight = np.array([0.1, 0.2, 0.3, 0.4])
    exact = metrics.energy_score.interval(y, (np.zeros((20_000, 2)), np.eye(2))).value
    assert metrics.energy_score.interval(
        y, draws, member_weight=weight, estimator="fair"
    ).value == pytest.approx(exact, abs=0.01)
    assert metrics.energy_score.interval(y, draws, member_weight=weight).value > exact + 0.1


@pytest.mark.parametrize("weight", [np.ones(3), [1.0, 0.0, 0.0, 0.0], [1.0, -1.0, 1.0, 1.0]])
def test_weights_that_are_none_are_refused(weight):
    with pytest.raises(InputError, match="member_weight must be"):
        metrics.energy_score.interval(
            np.zeros((2, 1)), np.ones((2, 1, 4)) * np.arange(4.0), member_weight=weight
        )


def test_weights_of_members_are_of_all_metrics_that_are_read_together():
    rng = np.random.default_rng(3)
    y, draws, weight = rng.normal(size=(30, 2)), rng.normal(size=(30, 2, 5)), np.arange(1.0, 6.0)
    weighted = metrics.energy_score.with_options(member_weight=weight)
    others = [weighted, metrics.variogram_score]
    assert metrics.compute(others, y, draws)["energy_score"] == weighted(y, draws)
    with pytest.raises(InputError, match="the same member_weight"):
        metrics.compute([weighted, metrics.energy_score], y, draws)
