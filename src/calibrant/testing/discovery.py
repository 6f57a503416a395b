"""Everything exported, as the instances that the contract suite runs."""

import inspect
from typing import Any

import calibrant
from calibrant import metrics
from calibrant.contracts.calibrator import Calibrator
from calibrant.contracts.map import Map
from calibrant.contracts.metric import Metric
from calibrant.contracts.regression_calibrator import RegressionCalibrator
from calibrant.contracts.signal import Signal

__all__ = ["all_calibrators", "all_maps", "all_metrics", "all_regression_calibrators", "all_signals"]


def _examples_of(base):
    exported = [getattr(calibrant, name) for name in calibrant.__all__]
    classes: list[Any] = [c for c in exported if inspect.isclass(c) and issubclass(c, base) and not inspect.isabstract(c)]
    return [example for cls in classes for example in cls._examples()]


def all_calibrators() -> list[Calibrator]:
    """Example instances of every calibrator in ``calibrant.__all__``."""
    return _examples_of(Calibrator)


def all_maps() -> list[Map]:
    """Example instances of every map in ``calibrant.__all__``."""
    return _examples_of(Map)


def all_signals() -> list[Signal]:
    """Example instances of every signal in ``calibrant.__all__``."""
    return _examples_of(Signal)


def all_regression_calibrators() -> list[RegressionCalibrator]:
    """Example instances of every regression calibrator in ``calibrant.__all__``."""
    return _examples_of(RegressionCalibrator)


def all_metrics() -> list[Metric]:
    """Example instances of every metric in ``calibrant.metrics.__all__``."""
    exported = [getattr(metrics, name) for name in metrics.__all__]
    return [example for m in exported if isinstance(m, Metric) for example in type(m)._examples()]
