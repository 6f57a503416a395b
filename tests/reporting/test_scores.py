import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.core.predictions import read
from calibrant.metrics import expected_calibration_error, interval_coverage, interval_width
from calibrant.reporting.classification import ERRORS, SCORES, SIDES
from calibrant.reporting.compared_scores import Change, Estimate, Measure, reading, score_table
from calibrant.reporting.event.task import METRICS as OF_EVENTS
from calibrant.reporting.report_table import RANKING


def test_calibration_errors_differ_only_where_their_intervals_lie_apart():
    """Their paired bootstrap does not cover near 0: the change is what the intervals before and
    after leave to it.
    """
    rng = np.random.default_rng(5)
    p = rng.uniform(0.5, 1.0, 2000)
    y = (rng.random(2000) < 0.5 + 0.6 * (p - 0.5)).astype(int)
    before = read(p, y)
    for after, said in (
        (before.recalibrated(_second(0.5 + 0.6 * (p - 0.5))), "better"),
        (before, "no clear change"),
    ):
        (found,) = score_table(before, after, [Measure(expected_calibration_error, 200)])
        assert found.change.method == "both intervals"
        assert found.change.meaning == said
        assert found.change.low == found.after.low - found.before.high
        assert found.change.low <= found.change.value <= found.change.high


def _second(p):
    return np.column_stack([1.0 - p, p])


def estimate(value):
    return Estimate(value, value - 0.1, value + 0.1)


def read_as(metric, before, after, meaning):
    return reading(
        metric, estimate(before), estimate(after), Change(after - before, meaning=meaning)
    )


@pytest.mark.parametrize(
    ("metric", "before", "after", "meaning", "told"),
    [
        # A number with a target is never "larger".
        (metrics.observed_expected_ratio, 0.6, 0.95, "larger", "closer to 1: better"),
        (metrics.observed_expected_ratio, 1.4, 1.05, "smaller", "closer to 1: better"),
        (metrics.observed_expected_ratio, 1.1, 1.4, "larger", "further from 1: worse"),
        (metrics.observed_expected_ratio, 0.95, 0.6, "smaller", "further from 1: worse"),
        (metrics.observed_expected_ratio, 0.8, 1.1, "larger", "closer to 1: better"),
        (metrics.observed_expected_ratio, 0.9, 1.2, "larger", "further from 1: worse"),
        (metrics.calibration_slope, 0.5, 0.98, "larger", "closer to 1: better"),
        (metrics.calibration_in_the_large, -0.5, 0.05, "larger", "closer to 0: better"),
        (metrics.calibration_in_the_large, 0.1, 0.5, "larger", "further from 0: worse"),
        (interval_coverage, 0.7, 0.89, "larger", "closer to 0.9: better"),
        (interval_coverage.with_options(level=0.5), 0.7, 0.52, "smaller", "closer to 0.5: better"),
        # A certain change below a hundredth of the distance to the best is none.
        (metrics.observed_expected_ratio, 0.5, 0.504, "larger", "no real change"),
        (metrics.calibration_slope, 0.5, 0.506, "larger", "closer to 1: better"),
        (metrics.log_loss, 0.6, 0.5945, "better", "no real change"),
        (metrics.log_loss, 0.6, 0.6055, "worse", "no real change"),
        (metrics.log_loss, 0.6, 0.5935, "better", "better"),
        (metrics.accuracy, 0.9, 0.9009, "better", "no real change"),
        (metrics.accuracy, 0.9, 0.9011, "better", "better"),
        (metrics.expected_calibration_error, 0.0528, 0.0529, "worse", "no real change"),
        # No evidence, or no interval, stays what it is.
        (metrics.log_loss, 0.6, 0.3, "no clear change", "no clear change"),
        (metrics.calibration_slope, 0.5, 0.98, "not compared", "not compared"),
        # No value is best: the direction alone.
        (metrics.confidence_spread, 0.2, 0.1, "smaller", "smaller"),
        (interval_width, 3.0, 2.0, "better", "better"),
    ],
)
def test_a_change_is_read_by_the_best_value(metric, before, after, meaning, told):
    assert read_as(metric, before, after, meaning) == told


def test_no_metric_with_a_target_is_ever_read_as_larger_or_smaller():
    """Of every metric that a report shows, whatever the numbers are."""
    shown = [*OF_EVENTS, *SCORES, *ERRORS, *SIDES, *RANKING, interval_coverage]
    rng = np.random.default_rng(0)
    for metric in shown:
        for before, after in rng.uniform(0.01, 0.99, (50, 2)):
            direction = {"none": ("smaller", "larger"), "minimize": ("better", "worse")}
            low, high = direction.get(metric.direction, ("worse", "better"))
            told = read_as(metric, before, after, high if after > before else low)
            if metric.ideal is not None and metric.direction == "none":
                assert "better" in told or "worse" in told or told == "no real change"
                near = abs(after - metric.ideal) < abs(before - metric.ideal)
                assert ("better" in told) == (near and told != "no real change")
            elif metric.ideal is None:
                assert told in ("smaller", "larger", "better", "worse")


def test_a_report_reads_the_slope_by_its_target():
    rng = np.random.default_rng(1)
    z = rng.normal(size=3000)
    y = (rng.random(3000) < 1.0 / (1.0 + np.exp(-z))).astype(int)
    p = 1.0 / (1.0 + np.exp(-2.5 * z - 0.5))
    found = cb.report(y, p, calibrator=cb.Platt(), n_resamples=100)
    rows = {row["key"]: row for row in found.to_dict()["metrics"]}
    assert rows["calibration_slope"]["reading"] == "closer to 1: better"
    assert rows["observed_expected_ratio"]["reading"] == "closer to 1: better"
    assert rows["calibration_in_the_large"]["reading"] == "closer to 0: better"
    assert rows["event_auroc"]["reading"] in ("no real change", "no clear change")
    assert not [row for row in rows.values() if row["reading"] in ("larger", "smaller")]
    assert "closer to 1: better" in found.to_markdown()
