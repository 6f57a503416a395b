"""F23: a suite that runs no check passed, so that a metric or calibrator of the other task was
found good whatever it did.
"""

from typing import ClassVar

import pytest

import calibrant as cb
from calibrant import metrics, testing
from calibrant.testing import check_calibrator, check_metric
from calibrant.testing.check import run_all


def _names(checks):
    return {check.name for check in checks}


def test_f23_a_metric_of_either_task_has_checks():
    shared = {
        "value_is_valid",
        "weights_are_repetition",
        "row_order",
        "inputs_untouched",
        "interval",
        "unknown_option",
        "state_chunks",
    }
    for metric in (metrics.log_loss, metrics.negative_log_likelihood):
        assert shared <= _names(testing.metric_checks(metric))
        assert {"state_identity", "state_order"} <= _names(testing.state_checks(metric))


def test_f23_a_calibrator_of_either_kind_has_checks():
    shared = {
        "output_is_valid",
        "weights_are_repetition",
        "row_order",
        "fit_twice",
        "saving",
        "unfitted",
        "containers",
    }
    for calibrator in (cb.TemperatureScaling(), cb.StdScaling()):
        assert shared <= _names(testing.calibrator_checks(calibrator))


def test_f23_a_broken_calibrator_of_forecasts_fails():
    class Careless(cb.core.RegressionCalibrator):
        """Its spread is not a number."""

        learns: ClassVar[tuple[str, ...]] = ()

        def _fit_output(self, record):
            return {}

        def _predict_output(self, forecast):
            return forecast.stretched(float("nan"))

    with pytest.raises(AssertionError, match="breaks the contract 'output_is_valid'"):
        check_calibrator(Careless())


def test_f23_a_broken_metric_of_forecasts_fails():
    class BelowItsRange(type(metrics.negative_log_likelihood)):
        range: ClassVar = (1e6, 1e7)

    with pytest.raises(AssertionError, match="breaks the contract 'value_is_valid'"):
        check_metric(BelowItsRange())


def test_f23_a_suite_of_nothing_fails():
    with pytest.raises(AssertionError, match="no check was given"):
        run_all([])
    with pytest.raises(AssertionError, match="no check was given"):
        testing.parameters(check for check in ())
