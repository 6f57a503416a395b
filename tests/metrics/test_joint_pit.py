"""Joint PITs of calibrated forecasts are uniform, and each pre-rank sees what it is for."""

import numpy as np
import pytest
from scipy import stats

import calibrant as cb
from calibrant import metrics
from calibrant.errors import InputError
from calibrant.testing.data import joint_rows

PRE_RANKS = ("distance", "sum", "dependence")


def correlated(d, rho, n=400, seed=0):
    """(forecasts without correlations, forecasts with them, outcomes with them)."""
    cov, mean = np.full((d, d), rho) + (1.0 - rho) * np.eye(d), np.zeros((n, d))
    y = np.random.default_rng(seed).multivariate_normal(mean[0], cov, n)
    return (
        cb.regression.JointNormalForecast(mean, np.eye(d)),
        cb.regression.JointNormalForecast(mean, cov),
        y,
    )


def test_the_distance_is_chi_squared_and_the_sum_normal():
    mean, cov, y = joint_rows(50, 4)
    error, root = y - mean, np.sqrt(np.diagonal(cov, axis1=1, axis2=2))
    distance = np.einsum("ni,nij,nj->n", error, np.linalg.inv(cov), error)
    np.testing.assert_allclose(
        metrics.joint_pit(y, (mean, cov)), stats.chi2(4).cdf(distance), rtol=1e-10
    )
    spread = np.sqrt((cov / root[:, :, None] / root[:, None, :]).sum(axis=(1, 2)))
    np.testing.assert_allclose(
        metrics.joint_pit(y, (mean, cov), pre_rank="sum"),
        stats.norm.cdf((error / root).sum(axis=1) / spread),
        rtol=1e-10,
    )


def test_of_one_output_the_sum_is_the_usual_pit():
    rng = np.random.default_rng(0)
    y, mean, std = rng.normal(size=(3, 60)) ** 2 + 0.1
    joint = cb.regression.JointNormalForecast(mean[:, None], np.square(std)[:, None, None])
    ours = metrics.pit_histogram(y[:, None], joint, pre_rank="sum")
    assert ours.n.tolist() == metrics.pit_histogram(y, mean, std).n.tolist()


@pytest.mark.parametrize("pre_rank", PRE_RANKS)
def test_the_test_holds_its_level(pre_rank):
    """200 simulations of calibrated forecasts; ranks make the test of the dependence nearly
    exact, not exactly.
    """
    alarms = 0
    for seed in range(200):
        mean, cov, y = joint_rows(200, 3, seed)
        alarms += (
            metrics.pit_test(
                y, cb.regression.JointNormalForecast(mean, cov), pre_rank=pre_rank
            ).p_value
            <= 0.05
        )
    assert alarms / 200 <= 0.05 + 3.0 * np.sqrt(0.05 * 0.95 / 200)


def test_wrong_correlations_are_seen_by_what_looks_for_them():
    alone, together, y = correlated(5, 0.6)
    for said, least in ((alone, 1e-6), (together, None)):
        p = [metrics.pit_test(y, said, pre_rank=one).p_value for one in PRE_RANKS]
        assert max(p) < least if least else min(p) > 0.01
    # A bowl: together they rise and fall more than said.
    density = metrics.pit_histogram(y, alone, pre_rank="sum", n_bins=10).density
    assert min(density[0], density[-1]) > 1.5 > 0.8 > density[4:6].mean()


def test_only_the_distance_and_the_sum_see_wrong_margins():
    _, together, y = correlated(3, 0.6)
    narrow = together.scaled(0.3)
    p = {one: metrics.pit_test(y, narrow, pre_rank=one).p_value for one in PRE_RANKS}
    assert max(p["distance"], p["sum"]) < 1e-6
    assert p["dependence"] == pytest.approx(
        metrics.pit_test(y, together, pre_rank="dependence").p_value, rel=1e-6
    )
    assert p["dependence"] > 0.01


@pytest.mark.parametrize("pre_rank", PRE_RANKS)
def test_weight_is_repetition_and_clusters_count(pre_rank):
    mean, cov, y = joint_rows(60, 2)
    weight = np.arange(60) % 3
    rows, said = np.repeat(np.arange(60), weight), cb.regression.JointNormalForecast(mean, cov)
    weighed = metrics.pit_histogram(y, said, pre_rank=pre_rank, sample_weight=weight, n_bins=5)
    repeated = metrics.pit_histogram(y[rows], said.take(rows), pre_rank=pre_rank, n_bins=5)
    np.testing.assert_allclose(weighed.density, repeated.density)
    cluster = np.arange(60) // 5
    found = metrics.pit_histogram(
        y, said, pre_rank=pre_rank, sample_weight=weight, n_bins=5, cluster=cluster
    )
    assert found.density.tolist() == weighed.density.tolist()


def test_it_is_drawn_as_any_pit_and_far_outcomes_are_numbers():
    pytest.importorskip("matplotlib")
    alone, _, y = correlated(2, 0.5, n=50)
    y[0] = 1e6
    assert metrics.joint_pit(y, alone)[0] == 1.0
    display = cb.displays.PitHistogramDisplay.from_predictions(
        y, alone, pre_rank="distance", n_bins=5
    )
    assert display.curve.n.sum() == 50.0


def test_what_cannot_work_is_said():
    alone, _, y = correlated(2, 0.5, n=20)
    with pytest.raises(InputError, match="pre_rank must be"):
        metrics.joint_pit(y, alone, pre_rank="depth")
    with pytest.raises(InputError, match="pre_rank applies to joint forecasts"):
        metrics.pit_test(y[:, 0], np.zeros(20), np.ones(20), pre_rank="sum")
    with pytest.raises(InputError, match="got draws"):
        metrics.joint_pit(y, np.zeros((20, 2, 5)))
