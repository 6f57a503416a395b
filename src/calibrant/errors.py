"""Errors and warnings that calibrant adds to Python's own."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Self

__all__ = [
    "MOST_COUNT",
    "CalibrationWarning",
    "FitWarning",
    "InputError",
    "MissingDependencyError",
    "NotFittedError",
    "Note",
    "SavedFileError",
    "SparseDataWarning",
    "UsageError",
    "naming",
    "warn",
]


#: Largest count that needs no other limit: bins, draws and windows beyond it fill the memory. It is
#: here because the command line names it in its help, without loading NumPy.
MOST_COUNT = 1_000_000


class InputError(ValueError):
    """Invalid input: the message names the argument, the rule, the value seen and the remedy."""


class UsageError(InputError):
    """Options that exclude each other, or that have no effect on what is read."""


class MissingDependencyError(ImportError):
    """An optional library is needed for this feature and is not installed."""


class NotFittedError(ValueError, AttributeError):
    """An object predicts before its fit; also scikit-learn's error of this name, where that is
    loaded.

    Examples
    --------
    >>> import calibrant as cb
    >>> try:
    ...     cb.TemperatureScaling().predict_proba([0.5])
    ... except NotFittedError as error:
    ...     print(error)
    this TemperatureScaling is not fitted; call fit first.
    """

    def __new__(cls, *words: object) -> Self:
        theirs = getattr(sys.modules.get("sklearn.exceptions"), "NotFittedError", None)
        return super().__new__(cls if theirs is None else _both(cls, theirs), *words)

    def __reduce__(self) -> tuple[Any, ...]:
        return NotFittedError, self.args


@cache
def _both(ours: type[Any], theirs: type[Any]) -> type[Any]:
    """An error that handlers of either class catch."""
    return type(ours.__name__, (ours, theirs), {"__module__": ours.__module__})


class SavedFileError(ValueError):
    """A saved file is damaged, foreign, or written by a newer version."""


class CalibrationWarning(UserWarning):
    """Base class of all warnings of calibrant."""


class FitWarning(CalibrationWarning):
    """A fit did not end normally; the fitted object's ``status_`` has the details."""


class SparseDataWarning(CalibrationWarning):
    """Too few rows in a class or bin for a useful estimate; the message gives the number."""


class Note(CalibrationWarning):
    """Note of a reader on a table, such as the number of rows that were left out."""


def warn(message: str, category: type[Any] = CalibrationWarning) -> None:
    """Warn at the line of the user's code, however deep inside calibrant the cause is."""
    level, frame = 2, sys._getframe(1)
    while (
        frame.f_back is not None
        and frame.f_globals.get("__name__", "").partition(".")[0] == "calibrant"
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def naming(word: str, argument: str) -> Iterator[None]:
    """Let errors within that begin with ``word`` begin with ``argument``, which the caller passed.

    Examples
    --------
    >>> with naming("P", "P_new"):
    ...     raise InputError("P must be finite; row 1 is nan.")
    Traceback (most recent call last):
    calibrant.errors.InputError: P_new must be finite; row 1 is nan.
    """
    try:
        yield
    except InputError as error:
        first, _, rest = str(error).partition(" ")
        raise InputError(f"{argument if first == word else first} {rest}") from None
