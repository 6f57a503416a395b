"""The benchmark of intervals runs, and judges ends that are known."""

import numpy as np
import pytest
from benchmarks.intervals import joint
from benchmarks.intervals.cases import LEVELS, case, rows_of
from benchmarks.intervals.few_rows import few_rows
from benchmarks.intervals.methods import METHODS, ours
from benchmarks.intervals.table import judged, table


def test_ends_are_judged_by_hand():
    y = np.array([0.0, 1.0, 5.0])
    ends = np.stack([np.stack([np.zeros(3), np.full(3, 2.0)])] * len(LEVELS))
    cover, width, score, seconds = judged(ends, y, 0.5)[1]  # 90 %: 2 and 20 a unit missed
    assert (cover, width, seconds) == (pytest.approx(2 / 3), 2.0, 0.5)
    assert score == pytest.approx(2.0 + 20.0 * 3.0 / 3.0)


def test_a_small_run():
    one = case("skewed", 0)
    results = {}
    for method, ends, seconds in ours(one):
        for j, values in enumerate(judged(ends, one.held["y_test"], seconds)):
            results["skewed", 0, method, j] = values
    assert len(results) == len(METHODS) * len(LEVELS)
    assert table(results, ["skewed"], "calibrant scaled").count("\n") == len(METHODS)
    for (_, _, method, j), (cover, _, _, _) in results.items():
        if "as it is" not in method and "as they are" not in method:
            assert cover == pytest.approx(LEVELS[j], abs=0.07), method


def test_few_rows_of_a_simulated_set():
    assert rows_of("constant", 0, 50)[0].shape == (50, 4)
    assert few_rows(["constant"], 1, 24).count("\n") == 5


def test_outputs_together_are_judged_and_a_covariance_that_is_none_is_no_number():
    mean, cov, y, rows = joint.CASES["no correlations said"](2, 0)
    found = {
        method: joint.judged(forecast, y[rows:])
        for method, forecast, _ in joint.ours(mean, cov, y, rows)
    }
    nll = {method: values[0] for method, values in found.items()}
    assert nll["CovarianceScaling full"] < nll["CovarianceScaling one"] < nll["as said"]
    assert abs(found["CovarianceScaling full"][2] - 0.9) < 0.04
    assert np.isnan(joint.judged((mean[rows:], -cov[rows:]), y[rows:])).all()
