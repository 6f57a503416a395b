import numpy as np
import pytest

from calibrant import metrics
from calibrant._numerics.intervals import wilson
from calibrant.errors import InputError

Y, P = np.array([1, 1, 0, 0, 0]), np.array([0.9, 0.2, 0.5, 0.1, 0.1])


def test_by_hand():
    table = metrics.threshold_table(
        Y, P, thresholds=[0.2], cost_false_positive=2, cost_false_negative=10
    )
    found = {name: column[0] for name, column in table.to_dict().items()}
    assert found["flagged"] == 0.6
    assert found["alerts_per_1000"] == pytest.approx(600.0)
    assert (found["sensitivity"], found["specificity"], found["npv"]) == (
        1.0,
        pytest.approx(2 / 3),
        1.0,
    )
    assert found["ppv"] == pytest.approx(2 / 3)
    assert found["net_benefit"] == pytest.approx(2 / 5 - 1 / 5 * 0.25)
    assert found["expected_cost"] == pytest.approx(2 / 5)
    assert (found["ppv_low"], found["ppv_high"]) == pytest.approx(
        [float(end) for end in wilson(2, 3)]
    )
    assert (found["specificity_low"], found["specificity_high"]) == pytest.approx(
        [float(end) for end in wilson(2, 3)]
    )


def test_its_net_benefit_is_the_decision_curves():
    rng = np.random.default_rng(0)
    p = rng.random(300)
    y = (rng.random(300) < p).astype(int)
    table, curve = (
        metrics.threshold_table(y, p),
        metrics.decision_curve(y, p, thresholds=metrics.threshold_table(y, p).threshold),
    )
    for ours, theirs in (
        ("net_benefit", "net_benefit"),
        ("net_benefit_low", "low"),
        ("net_benefit_high", "high"),
    ):
        np.testing.assert_array_equal(getattr(table, ours), getattr(curve, theirs))


def test_weights_are_repetition():
    weight = np.array([2, 1, 0, 3, 1])
    rows = np.repeat(np.arange(5), weight)
    costs = {"cost_false_positive": 1, "cost_false_negative": 4}
    weighted, repeated = (
        metrics.threshold_table(Y, P, sample_weight=weight, **costs),
        metrics.threshold_table(Y[rows], P[rows], **costs),
    )
    for name, column in weighted.to_dict().items():
        np.testing.assert_allclose(column, getattr(repeated, name), rtol=1e-12)


def test_costs_put_their_own_threshold_into_the_grid():
    assert (
        0.125
        in metrics.threshold_table(Y, P, cost_false_positive=1, cost_false_negative=7).threshold
    )
    assert np.isnan(metrics.threshold_table(Y, P).expected_cost).all()
    calibrated = np.random.default_rng(0).random(200_000)
    y = (np.random.default_rng(1).random(200_000) < calibrated).astype(int)
    table = metrics.threshold_table(y, calibrated, cost_false_positive=1, cost_false_negative=2)
    assert table.threshold[table.expected_cost.argmin()] == pytest.approx(1 / 3)


def test_nothing_flagged_or_no_event_is_nan_in_its_whole_range():
    table = metrics.threshold_table([0, 0], [0.1, 0.2], thresholds=[0.5])
    assert np.isnan([table.ppv[0], table.sensitivity[0]]).all()
    assert (
        table.ppv_low[0],
        table.ppv_high[0],
        table.sensitivity_low[0],
        table.sensitivity_high[0],
    ) == (0.0, 1.0, 0.0, 1.0)
    assert (table.specificity[0], table.npv[0], table.net_benefit[0]) == (1.0, 1.0, 0.0)


@pytest.mark.parametrize("costs", [(1, None), (None, 1), (0, 1), (1, -2), (1, np.inf)])
def test_costs_are_two_positive_numbers(costs):
    with pytest.raises(InputError, match="must be a number above 0"):
        metrics.threshold_table(Y, P, cost_false_positive=costs[0], cost_false_negative=costs[1])
