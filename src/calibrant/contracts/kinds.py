"""What a part must be where one is asked for: said in one sentence at the door, not by an AttributeError below it."""

from calibrant.contracts.map import Map
from calibrant.contracts.regression_calibrator import RegressionCalibrator
from calibrant.errors import InputError

__all__ = ["require_map", "require_regression_calibrator"]


def require_map(part) -> Map:
    """The map itself, if it is one.

    Examples
    --------
    >>> from calibrant.maps.platt import Platt
    >>> require_map(Platt())
    Platt()
    """
    if not isinstance(part, Map):
        got = f"the class {part.__name__}; call it" if isinstance(part, type) else type(part).__name__
        raise InputError(f"map must be a Map, such as Beta() or Isotonic(); got {got}; whole-vector calibrators need no wrapper.")
    return part


def require_regression_calibrator(part) -> RegressionCalibrator:
    """The calibrator of forecasts itself, if it is one.

    Examples
    --------
    >>> from calibrant.regression.std_scaling import StdScaling
    >>> require_regression_calibrator(StdScaling())
    StdScaling()
    """
    if not isinstance(part, RegressionCalibrator):
        raise InputError(
            f"calibrator must be a calibrator of forecasts such as StdScaling(), fitted or not; got {type(part).__name__}; "
            "calibrators of classes take probabilities."
        )
    return part
