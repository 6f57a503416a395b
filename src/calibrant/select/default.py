"""The calibrators used where none is named, decided in this one place."""

from calibrant.select.auto import AutoCalibrator
from calibrant.select.auto_regression import AutoRegressionCalibrator

__all__ = ["default_calibrator", "default_regression_calibrator"]


def default_calibrator() -> AutoCalibrator:
    """A new, unfitted calibrator for users who name none.

    Examples
    --------
    >>> default_calibrator()
    AutoCalibrator()
    """
    return AutoCalibrator()


def default_regression_calibrator() -> AutoRegressionCalibrator:
    """The same for forecasts.

    Examples
    --------
    >>> default_regression_calibrator()
    AutoRegressionCalibrator()
    """
    return AutoRegressionCalibrator()
