"""The contracts as checks, for our tests and for yours: ``check_calibrator(MyCalibrator())`` runs every one that applies."""

from calibrant.testing.calibrator_checks import calibrator_checks as calibrator_checks
from calibrant.testing.calibrator_checks import check_calibrator as check_calibrator
from calibrant.testing.check import Check as Check
from calibrant.testing.check import parameters as parameters
from calibrant.testing.data import Problem as Problem
from calibrant.testing.data import problems as problems
from calibrant.testing.discovery import all_calibrators as all_calibrators
from calibrant.testing.discovery import all_maps as all_maps
from calibrant.testing.discovery import all_metrics as all_metrics
from calibrant.testing.discovery import all_regression_calibrators as all_regression_calibrators
from calibrant.testing.discovery import all_sets as all_sets
from calibrant.testing.discovery import all_signals as all_signals
from calibrant.testing.guarantee_checks import check_guarantee as check_guarantee
from calibrant.testing.map_checks import check_map as check_map
from calibrant.testing.map_checks import map_checks as map_checks
from calibrant.testing.metric_checks import check_metric as check_metric
from calibrant.testing.metric_checks import metric_checks as metric_checks
from calibrant.testing.set_checks import check_sets as check_sets
from calibrant.testing.set_checks import set_checks as set_checks
from calibrant.testing.signal_checks import check_signal as check_signal
from calibrant.testing.signal_checks import signal_checks as signal_checks
from calibrant.testing.state_checks import check_state as check_state
from calibrant.testing.state_checks import state_checks as state_checks

__all__ = [
    "Check",
    "Problem",
    "all_calibrators",
    "all_maps",
    "all_metrics",
    "all_regression_calibrators",
    "all_sets",
    "all_signals",
    "calibrator_checks",
    "check_calibrator",
    "check_guarantee",
    "check_map",
    "check_metric",
    "check_sets",
    "check_signal",
    "check_state",
    "map_checks",
    "metric_checks",
    "parameters",
    "problems",
    "set_checks",
    "signal_checks",
    "state_checks",
]
