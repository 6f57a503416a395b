"""The reduction parameter of the paper: data shrink by t squared."""

import numpy as np

from calibrant.errors import InputError

__all__ = ["check_step"]


def check_step(t: int) -> None:
    """Refuse anything but a whole number of at least 1."""
    if isinstance(t, bool) or not isinstance(t, int | np.integer) or t < 1:
        raise InputError(f"t must be a whole number of at least 1; got {t!r}.")
