"""Everything exported, and on request what others registered, as the instances that the contract suite runs."""

import inspect
from typing import Any

import calibrant
from calibrant import metrics
from calibrant._support.registry import registered
from calibrant.contracts.calibrator import Calibrator
from calibrant.contracts.map import Map
from calibrant.contracts.metric import Metric
from calibrant.contracts.regression_calibrator import RegressionCalibrator
from calibrant.contracts.signal import Signal
from calibrant.decisions.conditional_sets import ConditionalSets
from calibrant.decisions.conformal_sets import ConformalSets

__all__ = ["all_calibrators", "all_maps", "all_metrics", "all_regression_calibrators", "all_sets", "all_signals"]


def _examples_of(base, extensions):
    exported = [getattr(calibrant, name) for name in calibrant.__all__]
    ours = [c for c in exported if inspect.isclass(c) and issubclass(c, base)]
    classes: list[Any] = [*ours, *(registered(base) if extensions else [])]
    return [example for cls in classes if not inspect.isabstract(cls) for example in cls._examples()]


def all_calibrators(*, extensions: bool = False) -> list[Calibrator]:
    """Example instances of every calibrator in ``calibrant.__all__``; with ``extensions``, of those registered too."""
    return _examples_of(Calibrator, extensions)


def all_maps(*, extensions: bool = False) -> list[Map]:
    """Example instances of every map in ``calibrant.__all__``; with ``extensions``, of those registered too."""
    return _examples_of(Map, extensions)


def all_signals(*, extensions: bool = False) -> list[Signal]:
    """Example instances of every signal in ``calibrant.__all__``; with ``extensions``, of those registered too."""
    return _examples_of(Signal, extensions)


def all_regression_calibrators(*, extensions: bool = False) -> list[RegressionCalibrator]:
    """Example instances of every regression calibrator in ``calibrant.__all__``; with ``extensions``, of those registered too."""
    return _examples_of(RegressionCalibrator, extensions)


def all_sets() -> list[ConformalSets | ConditionalSets]:
    """Example instances of what makes prediction sets."""
    return [*_examples_of(ConformalSets, extensions=False), *_examples_of(ConditionalSets, extensions=False)]


def all_metrics() -> list[Metric]:
    """Example instances of every metric in ``calibrant.metrics.__all__``."""
    exported = [getattr(metrics, name) for name in metrics.__all__]
    return [example for m in exported if isinstance(m, Metric) for example in type(m)._examples()]
