"""Checks of constructor options that several methods share, done when ``fit`` is called."""

import math
from numbers import Real

from calibrant.errors import InputError

__all__ = ["require_matrix_size", "require_not_negative"]

#: Above it one step of a matrix fit takes minutes, and its penalty leaves next to nothing off the diagonal.
MOST_MATRIX_CLASSES = 2_000


def require_not_negative(name: str, value: bool | float | str) -> None:
    """Raise InputError unless ``value`` is a finite number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value) or value < 0:
        raise InputError(f"{name} must be a finite number of at least 0; got {value!r}; use 0 for no penalty.")


def require_matrix_size(method: str, n_classes: int) -> None:
    """Raise InputError where a full matrix over the classes would be too large to fit."""
    if n_classes > MOST_MATRIX_CLASSES:
        raise InputError(
            f"{method} fits K * K numbers and takes at most {MOST_MATRIX_CLASSES:,} classes; got {n_classes:,}; "
            "use StructuredVectorScaling, from which it hardly differs there."
        )
