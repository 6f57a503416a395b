"""Checks of the contracts, for the tests of calibrant and of its extensions.

``check_calibrator(MyCalibrator())`` runs every check that applies.
"""

from calibrant.core.exports import of_kinds
from calibrant.testing.calibrator_checks import calibrator_checks, check_calibrator
from calibrant.testing.check import Check, check_guarantee, parameters
from calibrant.testing.data import Problem, problems
from calibrant.testing.map_checks import check_map, map_checks
from calibrant.testing.metric_checks import check_metric, check_state, metric_checks, state_checks
from calibrant.testing.runs import (
    all_calibrators,
    all_maps,
    all_metrics,
    all_regression_calibrators,
    all_sets,
    all_signals,
    every_calibrator,
)
from calibrant.testing.set_checks import check_sets, set_checks
from calibrant.testing.signal_checks import check_signal, signal_checks

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
    "every_calibrator",
    "map_checks",
    "metric_checks",
    "parameters",
    "problems",
    "set_checks",
    "signal_checks",
    "state_checks",
]

of_kinds("checks")
