"""Checks of the kind of a component, with an error of one sentence instead of a later
AttributeError.
"""

from typing import TypeVar

from calibrant.core.calibrator import Calibrator, DomainCalibrator
from calibrant.core.map import Map, Signal
from calibrant.core.metric_kinds import Metric
from calibrant.core.regression_calibrator import RegressionCalibrator
from calibrant.errors import InputError

__all__ = [
    "require_any_calibrator",
    "require_calibrator",
    "require_map",
    "require_metric",
    "require_regression_calibrator",
    "require_signal",
]

Part = TypeVar("Part")

#: Kind of component -> its description, and examples.
KINDS: dict[type, tuple[str, str]] = {
    Calibrator: ("a calibrator of classes", "TemperatureScaling()"),
    RegressionCalibrator: ("a calibrator of forecasts", "StdScaling()"),
    Map: ("a map", "Isotonic()"),
    Signal: ("a signal", "LogOdds()"),
    Metric: ("a metric", "metrics.log_loss"),
}
#: (required kind, given kind) -> remedy.
BELONGS: dict[tuple[type, type], str] = {
    (Calibrator, Map): "wrap it, as OneVsRest({0}), PerClass({0}) or ConfidenceCalibrator(map={0})",
    (Calibrator, Signal): "wrap it, as ConfidenceCalibrator(signal={0})",
    (
        Calibrator,
        RegressionCalibrator,
    ): "forecasts of numbers take it: CalibratedRegressor(model, {0})",
    (
        RegressionCalibrator,
        Calibrator,
    ): "class probabilities take it: CalibratedClassifier(model, {0})",
    (RegressionCalibrator, Map): "a map is for class probabilities",
    (Map, Calibrator): "whole-vector calibrators need no wrapper",
    (Map, RegressionCalibrator): "forecasts of numbers take it: CalibratedRegressor(model, {0})",
    (Map, Signal): "it belongs in signal=",
    (Signal, Map): "it belongs in map=",
    (Signal, Calibrator): "a calibrator needs no signal around it",
}


def require_calibrator(
    part: object, argument: str = "calibrator", *, or_map: bool = False
) -> Calibrator:
    """The calibrator of classes itself, if it is one; with ``or_map`` a map is also allowed.

    Examples
    --------
    >>> from calibrant.calibrators.temperature import TemperatureScaling
    >>> require_calibrator(TemperatureScaling())
    TemperatureScaling()
    """
    return _require(
        Calibrator,
        part,
        argument,
        ", or a map such as Isotonic(), which then goes one-vs-rest" if or_map else "",
    )


def require_regression_calibrator(
    part: object, argument: str = "calibrator"
) -> RegressionCalibrator:
    """The calibrator of forecasts itself, if it is one."""
    return _require(RegressionCalibrator, part, argument)


def require_any_calibrator(part: object, argument: str = "calibrator") -> DomainCalibrator:
    """The calibrator itself, of any kind of prediction, if it is one."""
    return part if isinstance(part, DomainCalibrator) else _require(Calibrator, part, argument)


def require_map(part: object, argument: str = "map") -> Map:
    """The map itself, if it is one."""
    return _require(Map, part, argument)


def require_signal(part: object, argument: str = "signal") -> Signal:
    """The signal itself, if it is one."""
    return _require(Signal, part, argument)


def require_metric(part: object, argument: str = "metric") -> Metric:
    """The metric itself, if it is one."""
    return _require(Metric, part, argument)


def _require(wanted: type[Part], part: object, argument: str, more: str = "") -> Part:
    if isinstance(part, wanted):
        return part
    called, example = KINDS[wanted]
    raise InputError(
        f"{argument} must be {called} such as {example}{more}; got"
        f" {_said(part)}{_remedy(wanted, part)}."
    )


def _said(part: object) -> str:
    """Short description of the argument."""
    if isinstance(part, type):
        return f"the class {part.__name__}"
    kind = next((called for kind, (called, _) in KINDS.items() if isinstance(part, kind)), None)
    if kind is not None:
        return f"{type(part).__name__}, {kind}"
    return (
        repr(part)
        if isinstance(part, str | int | float | None) and len(repr(part)) < 40
        else f"a {type(part).__name__}"
    )


def _is_a(kind: type, part: object) -> bool:
    """Whether it has a kind, or is a class of that kind."""
    return issubclass(part, kind) if isinstance(part, type) else isinstance(part, kind)


def _remedy(wanted: type, part: object) -> str:
    name = f"{(part if isinstance(part, type) else type(part)).__name__}()"
    if _is_a(wanted, part):
        return f"; call it: {name}"
    found = next(
        (
            words
            for (want, given), words in BELONGS.items()
            if want is wanted and _is_a(given, part)
        ),
        None,
    )
    return "" if found is None else f"; {found.format(name)}"
