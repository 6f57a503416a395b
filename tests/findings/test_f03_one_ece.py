"""F3: float32 predictions on bin edges are in one bin, whichever part of the page counts them."""

import numpy as np
import pytest

import calibrant as cb


@pytest.fixture(scope="module")
def tenths():
    """Binary predictions at tenths, in float32, where 0.7 is a little less than in float64."""
    rng = np.random.default_rng(0)
    p = (rng.integers(5, 11, 600) / 10).astype(np.float32)
    P = np.column_stack([p, np.float32(1.0) - p])
    return (rng.random(600) > p).astype(int), P


def test_f03_the_table_and_the_slider_say_the_same_ece(tenths):
    y, P = tenths
    found = cb.report(
        y, P, calibrator=cb.calibrators.Identity(), n_bins=10, n_resamples=100, target="answer"
    ).to_dict()
    table = {row["key"]: row["before"]["value"] for row in found["metrics"]}["ece"]
    assert found["binned"]["before"]["10"]["ece"] == pytest.approx(table, rel=1e-12)
    assert found["chance"]["observed"] == pytest.approx(table, rel=1e-12)


def test_f03_calibrated_rows_are_binned_alike_too(tenths):
    y, P = tenths
    found = cb.report(
        y, P, calibrator=cb.TemperatureScaling, n_bins=10, n_resamples=100, target="answer"
    ).to_dict()
    for when in ("before", "after"):
        table = {row["key"]: row[when]["value"] for row in found["metrics"]}["ece"]
        assert found["binned"][when]["10"]["ece"] == pytest.approx(table, rel=1e-12)
