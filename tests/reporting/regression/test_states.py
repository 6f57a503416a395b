"""Sections of a report on forecasts come from states that add up: those of parts, merged, are
those of the whole.
"""

from functools import reduce
from operator import add

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.core.forecast_record import read_forecast
from calibrant.core.guarantee import plain
from calibrant.reporting.regression.quality import quality
from calibrant.reporting.regression.states import (
    ForecastCounts,
    ForecastSeen,
    chance_errors,
    curves,
)
from calibrant.reporting.regression.task import REGRESSION

FORMS = ("plain", "weighted", "tied", "quantiles")


@pytest.fixture(scope="module", params=FORMS)
def record(request):
    rng = np.random.default_rng(0)
    mean, std = rng.normal(size=900), np.exp(0.6 * rng.normal(size=900))
    if request.param == "tied":
        std = std.round(1) + 0.1
    y, levels = mean + 1.4 * std * rng.normal(size=900), np.linspace(0.1, 0.9, 9)
    forecast = (
        cb.QuantileForecast(levels, mean[:, None] + std[:, None] * np.linspace(-1.3, 1.3, 9))
        if request.param == "quantiles"
        else mean
    )
    weight = rng.random(900) + 0.01 if request.param == "weighted" else None
    return read_forecast(
        forecast, None if request.param == "quantiles" else std, y, sample_weight=weight
    )


def parts(record):
    return [record.take(slice(*ends)) for ends in ((0, 100), (100, 101), (101, 900))]


def numbers(value):
    """The numbers of a dictionary of dictionaries and lists, in their order."""
    if isinstance(value, dict):
        value = list(value.values())
    return (
        [number for one in value for number in numbers(one)]
        if isinstance(value, list)
        else [np.nan if value is None else float(value)]
    )


def test_three_parts_merged_say_what_the_whole_says(record):
    merged, whole = (
        ForecastSeen.of(parts(record), (7, 10), rows=record),
        ForecastSeen.of([record], (7, 10)),
    )
    said = [
        plain([quality(seen, seen), chance_errors(seen), curves(seen, n_bins=7)])
        for seen in (merged, whole)
    ]
    np.testing.assert_allclose(*map(numbers, said), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("values", ["std", "mean"])
def test_regions_of_parts_add_up(record, values):
    cut = reduce(add, map(ForecastCounts.of, parts(record)))
    cut = getattr(cut, values).cut(10)
    summed = reduce(
        add,
        (
            REGRESSION.sums(part, cut.index(getattr(part, values)), len(cut))
            for part in parts(record)
        ),
    )
    np.testing.assert_allclose(
        summed, REGRESSION.sums(record, cut.index(getattr(record, values)), len(cut)), rtol=1e-12
    )


def test_the_report_reads_the_whole_at_once(record):
    """So the numbers of a report are those of its record to the bit."""
    found = curves(ForecastSeen.of([record], (10,)), n_bins=10)
    assert found.reliability.to_dict() == metrics.rmse_rmv_curve.of(record).to_dict()
    assert (
        found.intervals.to_dict() == metrics.interval_curve.of(record, simultaneous=True).to_dict()
    )
    assert found.pit.to_dict() == metrics.pit_histogram.of(record).to_dict()
    assert [one.seen for one in found.coverage] == [
        metrics.interval_coverage.with_options(level=one.claimed).of(record)
        for one in found.coverage
    ]
    assert [one.width for one in found.coverage] == [
        metrics.interval_width.with_options(level=one.claimed).of(record) for one in found.coverage
    ]
    assert chance_errors(ForecastSeen.of([record], (10,)))[
        "ence"
    ].observed == metrics.expected_normalized_calibration_error.of(record)


def test_the_median_of_the_std_is_that_of_the_rows(record):
    assert ForecastCounts.of(record).median_std == np.median(record.std)
    assert ForecastCounts.of(record.take(slice(0, 899))).median_std == np.median(record.std[:899])
