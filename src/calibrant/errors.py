"""What can go wrong, by name: the few errors and warnings that calibrant adds to Python's own."""

import sys
import warnings
from typing import Any

__all__ = [
    "CalibrationWarning",
    "FitWarning",
    "InputError",
    "MissingDependencyError",
    "SavedFileError",
    "SparseDataWarning",
    "warn",
]


class InputError(ValueError):
    """Data that cannot be used: the message names the argument, the rule, the value seen and the
    remedy.
    """


class MissingDependencyError(ImportError):
    """An optional library is needed for this feature and is not installed."""


class SavedFileError(ValueError):
    """A saved calibrator is damaged, foreign, or written by a newer version."""


class CalibrationWarning(UserWarning):
    """Base of all warnings that calibrant gives."""


class FitWarning(CalibrationWarning):
    """A fit did not end as it should; the fitted object's ``status_`` says how."""


class SparseDataWarning(CalibrationWarning):
    """Too few rows in some class or bin for its estimate to mean much; the message says how few."""


def warn(message: str, category: type[Any] = CalibrationWarning) -> None:
    """Warn at the line of the user's own code, however deep inside calibrant the reason is
    found.
    """
    level, frame = 2, sys._getframe(1)
    while (
        frame.f_back is not None
        and frame.f_globals.get("__name__", "").partition(".")[0] == "calibrant"
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
