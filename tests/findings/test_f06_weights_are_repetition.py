"""F6: weights that sum to 1 gave -1.8e15 and intervals of no width; weights mean repetition, and
one row has no spread.
"""

import warnings

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.errors import CalibrationWarning, InputError
from calibrant.testing.data import problems

DATA = problems()[1]
SHARES = np.full(len(DATA.y), 1.0 / len(DATA.y))
quiet = pytest.mark.filterwarnings(
    "ignore:sample_weight adds up:calibrant.errors.CalibrationWarning"
)


@quiet
def test_f06_a_u_statistic_of_one_row_is_refused():
    with pytest.raises(
        InputError,
        match=(
            "sample_weight must add up to more than 1 for HSIC; got 1 over 120 rows; weights mean"
            " repetition"
        ),
    ):
        metrics.width_dependence(
            DATA.P[:, 0], DATA.P[:, 1], np.ones(len(DATA.y)), sample_weight=SHARES
        )


@quiet
@pytest.mark.parametrize(
    "name",
    [
        "refinement_error",
        "confidence_spread",
        "excess_area_under_risk_coverage",
    ],
)
def test_f06_an_interval_of_one_row_is_refused(name):
    with pytest.raises(InputError, match="must add up to more than 1"):
        getattr(metrics, name).interval(DATA.y, DATA.P, sample_weight=SHARES)


@quiet
def test_f06_an_interval_of_one_forecast_is_refused():
    with pytest.raises(InputError, match="must add up to more than 1"):
        metrics.interval_calibration_error.interval(
            [0.0, 1.0], [0.0, 0.5], [1.0, 1.0], sample_weight=[0.5, 0.5]
        )


@quiet
def test_f06_a_report_of_one_row_is_refused():
    with pytest.raises(
        InputError, match="must add up to more than 1 for the intervals of a report"
    ):
        cb.report(DATA.y, DATA.P, sample_weight=SHARES)


def test_f06_shares_warn_once_where_they_are_read():
    with pytest.warns(
        CalibrationWarning,
        match=(
            "sample_weight adds up to 1, so that its 120 rows count as 1: weights mean repetition"
        ),
    ) as seen:
        metrics.accuracy(DATA.y, DATA.P, sample_weight=SHARES)
    assert len(seen) == 1
    with pytest.warns(CalibrationWarning, match="weights mean repetition") as seen:
        cb.TemperatureScaling().fit(DATA.P, DATA.y, sample_weight=SHARES)
    assert len(seen) == 1
    with pytest.warns(CalibrationWarning, match="weights mean repetition") as seen:
        cb.ConfidenceCalibrator().fit(DATA.P, DATA.y, sample_weight=SHARES)
    assert len(seen) == 1


def test_f06_counts_and_a_light_group_never_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        metrics.accuracy(DATA.y, DATA.P, sample_weight=DATA.weight)
        warnings.simplefilter("ignore", cb.errors.SparseDataWarning)
        light = np.where(DATA.P.argmax(axis=1) == 0, 0.01, 1.0)
        cb.ConfidenceCalibrator(per_class=True).fit(DATA.P, DATA.y, sample_weight=light)
        metrics.log_loss.state(DATA.y, DATA.P, sample_weight=np.full(len(DATA.y), 7.0))
