"""The calibrator used where none is named, decided in this one place.

By name, because the class stands further down the line of imports than some who need it (wrappers around models).
"""

from calibrant._base.registry import class_named

__all__ = ["default_calibrator", "default_regression_calibrator"]

NAME = "AutoCalibrator"
REGRESSION_NAME = "AutoRegressionCalibrator"


def default_calibrator():
    """A new, unfitted calibrator for users who name none.

    Examples
    --------
    >>> import calibrant
    >>> default_calibrator()
    AutoCalibrator()
    """
    return class_named(NAME)()


def default_regression_calibrator():
    """The same for forecasts.

    Examples
    --------
    >>> import calibrant
    >>> default_regression_calibrator()
    AutoRegressionCalibrator()
    """
    return class_named(REGRESSION_NAME)()
