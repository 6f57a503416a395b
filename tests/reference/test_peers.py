"""Measures that peers have, beside their stored numbers
(``python -m benchmarks.metrics.peers``), and where no peer says it right.
"""

import numpy as np
import pytest
from benchmarks.metrics.peers import APART, OURS, classes, differences, numbers
from scipy import stats

from calibrant import metrics
from calibrant.errors import InputError
from calibrant.regression import SampleForecast

DIFFERENCES = differences()


def test_every_measure_is_compared():
    assert set(DIFFERENCES) == set(OURS)


@pytest.mark.parametrize("name", DIFFERENCES)
def test_it_is_the_number_of_the_peer(name):
    assert DIFFERENCES[name] <= APART.get(name, (2e-9, ""))[0]


def test_the_weighted_interval_score_by_its_definition():
    """scoringrules adds the median, not its distance to the outcome."""
    y, mean, std, _ = numbers(0)
    levels = (0.2, 0.5, 0.9)
    score = 0.5 * np.abs(y - mean)
    for level in levels:
        low, high = stats.norm(mean, std).interval(level)
        score += 0.5 * (1 - level) * (high - low) + np.maximum(low - y, 0) + np.maximum(y - high, 0)
    assert metrics.weighted_interval_score(y, mean, std, levels=levels) == pytest.approx(
        np.mean(score) / 3.5
    )


def test_the_fair_score_of_few_samples_is_that_of_many():
    rng = np.random.default_rng(0)
    y, draws = rng.normal(size=4000), rng.normal(size=(4000, 2000))
    crps = metrics.continuous_ranked_probability_score
    many = crps(y, SampleForecast(draws))
    few = SampleForecast(draws[:, :3])
    assert crps(y, few, estimator="fair") == pytest.approx(many, abs=0.02)
    assert crps(y, few) > many + 0.1


def test_medians_are_those_of_repeated_rows():
    rng = np.random.default_rng(1)
    for _ in range(50):
        error, weight = np.round(rng.random(6), 1), rng.integers(0, 3, 6) + np.eye(6, dtype=int)[0]
        found = metrics.median_absolute_error(error, np.zeros(6), sample_weight=weight)
        assert found == np.median(np.repeat(error, weight))


def test_labels_whose_errors_cancel():
    P = np.repeat([[0.7, 0.3], [0.3, 0.7]], 100, axis=0)
    y = np.repeat([0, 1, 1, 0], [90, 10, 50, 50])
    assert metrics.expected_calibration_error(y, P) == pytest.approx(0.0, abs=1e-12)
    for average in ("row", "label"):
        assert metrics.per_label_calibration_error(y, P, average=average) == pytest.approx(0.2)


def test_the_test_of_any_error_holds_its_size_and_sees_a_planted_error():
    test, error = (
        metrics.calibration_error_test,
        metrics.full_calibration_error.with_options(n_bins=4),
    )
    rng = np.random.default_rng(2)
    p_values = []
    for _ in range(60):
        P = rng.dirichlet(np.ones(3), 100)
        y = (rng.random((100, 1)) > np.cumsum(P, axis=1)[:, :-1]).sum(axis=1)
        p_values.append(test(error, y, P, n_draws=39).p_value)
    assert np.mean(np.array(p_values) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)
    y, P = classes(0)
    assert test(error, y, P).p_value <= 0.01
    with pytest.raises(InputError, match="metric must be a calibration error of classes"):
        test(metrics.accuracy, y, P)


def test_a_row_of_weight_two_gets_two_labels():
    y, P = classes(1)
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    found = [
        metrics.calibration_error_test(metrics.expected_calibration_error, *given, n_draws=19)
        for given in ((np.repeat(y, weight), np.repeat(P, weight, axis=0)),)
    ]
    found.append(
        metrics.calibration_error_test(
            metrics.expected_calibration_error, y, P, n_draws=19, sample_weight=weight
        )
    )
    assert found[0] == found[1]


def test_groups_of_few_rows_look_worse():
    y, mean, std, _ = numbers(0)
    curve = metrics.adversarial_group_calibration(y, mean, std, n_sizes=4, norm=2)
    assert (np.diff(curve.error) < 0).all()
    assert curve.error[-1] == pytest.approx(
        metrics.root_mean_square_interval_calibration_error(y, mean, std)
    )


def test_width_and_coverage_that_hang_together():
    rng = np.random.default_rng(3)
    std = rng.choice([0.5, 2.0], 600)
    alike, narrow = (
        metrics.width_dependence(s * rng.normal(size=600), np.zeros(600), std) for s in (std, 1.0)
    )
    assert alike < 0.05 < narrow
    assert (
        metrics.size_stratified_coverage(rng.normal(size=600), np.zeros(600), std, n_bins=2) < 0.7
    )
