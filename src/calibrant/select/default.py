"""Default calibrators, for all functions that need one."""

from calibrant.select.auto import AutoCalibrator
from calibrant.select.auto_regression import AutoRegressionCalibrator

__all__ = ["default_calibrator", "default_regression_calibrator"]


def default_calibrator() -> AutoCalibrator:
    """Return a new, unfitted default calibrator.

    Examples
    --------
    >>> default_calibrator()
    AutoCalibrator()
    """
    return AutoCalibrator()


def default_regression_calibrator() -> AutoRegressionCalibrator:
    """Return a new, unfitted default calibrator of forecasts.

    Examples
    --------
    >>> default_regression_calibrator()
    AutoRegressionCalibrator()
    """
    return AutoRegressionCalibrator()
