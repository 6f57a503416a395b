"""Checks of constructor options that several methods share, done when ``fit`` is called."""

import math
from collections.abc import Iterable
from numbers import Integral, Real

from calibrant.errors import InputError

__all__ = [
    "MOST_COUNT",
    "require_count",
    "require_matrix_size",
    "require_not_negative",
    "require_option",
    "require_seed",
]

#: Largest count that needs no other limit: bins, draws and windows beyond it fill the memory.
MOST_COUNT = 1_000_000
#: Above it one step of a matrix fit takes minutes, and its penalty removes almost everything off
#: the #: diagonal.
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


def require_option(name: str, value: object, options: Iterable[str]) -> None:
    """Raise InputError unless ``value`` is one of these options."""
    *most, last = options
    if value not in (*most, last):
        said = ", ".join(f'"{option}"' for option in most)
        raise InputError(f'{name} must be {said} or "{last}"; got {value!r}.')


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
