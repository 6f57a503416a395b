"""Checks of constructor options that several methods share, done when ``fit`` is called."""

import math
from collections.abc import Callable, Iterable
from functools import wraps
from numbers import Integral, Real
from typing import ParamSpec, TypeVar

import numpy as np

from calibrant.core.limits import MOST_COUNT
from calibrant.errors import InputError

__all__ = [
    "require_count",
    "require_matrix_size",
    "require_not_negative",
    "require_option",
    "require_seed",
    "seeded",
]

Given = ParamSpec("Given")
Result = TypeVar("Result")

#: Above it one step of a matrix fit takes minutes, and its penalty removes almost everything off
#: the diagonal.
MOST_MATRIX_CLASSES = 2_000


def require_count(
    name: str, value: object, least: int = 1, *, most: int = MOST_COUNT, usual: int | None = None
) -> None:
    """Raise InputError unless ``value`` is an integer from ``least`` to ``most``."""
    if isinstance(value, bool) or not (isinstance(value, Integral) and least <= int(value) <= most):
        small = most == MOST_COUNT and not (isinstance(value, Integral) and int(value) > most)
        rule = f"of at least {least}" if small else f"from {least} to {most:,}"
        hint = "" if usual is None else f"; {usual} is usual"
        raise InputError(f"{name} must be a whole number {rule}; got {value!r}{hint}.")


def require_seed(name: str, value: object) -> None:
    """Raise InputError unless ``value`` is a seed of NumPy's generators."""
    require_count(name, value, 0, most=2**32 - 1, usual=0)


def seeded(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Decorator of a function with a ``random_state``, or of a method of an object with one, that
    checks it before anything is computed; None and generators are left to the function.
    """

    @wraps(function)
    def checked(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        # Of a method, the first argument is its object; a data frame's columns are not looked at.
        value = {**getattr(args[0] if args else None, "__dict__", {}), **kwargs}.get("random_state")
        if not isinstance(value, np.random.Generator | np.random.RandomState | None):
            require_seed("random_state", value)
        return function(*args, **kwargs)

    return checked


def require_option(name: str, value: object, options: Iterable[object]) -> None:
    """Raise InputError unless ``value`` is one of these options."""
    known = list(options)
    # An array compares item by item, so that the search itself would fail.
    if not (isinstance(value, str | Real | np.generic | None) and value in known):
        *most, last = (f'"{one}"' if isinstance(one, str) else str(one) for one in known)
        raise InputError(f"{name} must be {', '.join(most)} or {last}; got {value!r}.")


def require_not_negative(name: str, value: bool | float | str) -> None:
    """Raise InputError unless ``value`` is a finite number of at least 0."""
    if (
        isinstance(value, bool)
        or not isinstance(value, Real)
        or not math.isfinite(value)
        or value < 0
    ):
        raise InputError(
            f"{name} must be a finite number of at least 0; got {value!r}; use 0 for no penalty."
        )


def require_matrix_size(method: str, n_classes: int) -> None:
    """Raise InputError if a full matrix over the classes would be too large to fit."""
    if n_classes > MOST_MATRIX_CLASSES:
        raise InputError(
            f"{method} fits K * K numbers and takes at most {MOST_MATRIX_CLASSES:,} classes; got"
            f" {n_classes:,}; use StructuredVectorScaling, which hardly differs there."
        )
