"""Blocks of consecutive rows, and splits into past and next, for rows that are ordered in time."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant.core.arrays import plain_array
from calibrant.core.options import require_count
from calibrant.errors import InputError

__all__ = ["past_and_next", "time_blocks", "time_ranks"]


def time_blocks(times: ArrayLike | int, length: int | None = None) -> np.ndarray:
    """Number the blocks of consecutive rows, as ``cluster=`` of intervals and tests for
    autocorrelated rows.

    Parameters
    ----------
    times : (n,) numbers, dates or sortable texts, in any order; or the number of rows, if they are
        ordered in time. Rows of equal time are in one block.
    length : int, optional
        Rows in a block; default n to the power 1/3, rounded up. It should exceed the range of the
        autocorrelation.

    Returns
    -------
    (n,) int
        From 0, in order of time.

    Raises
    ------
    InputError
        When a time is missing, or the length is not a whole number of at least 1.

    See Also
    --------
    rolling_evaluation : uses them for its intervals.

    Notes
    -----
    An interval that resamples rows treats each as independent; with autocorrelated errors it is too
    narrow. Whole blocks preserve the order of rows, except at their ends. At least ten blocks are
    needed, and thirty are better.

    References
    ----------
    Kunsch, "The jackknife and the bootstrap for general stationary observations", Annals of
    Statistics 17, 1989.

    Examples
    --------
    >>> time_blocks(7, length=3).tolist()
    [0, 0, 0, 1, 1, 1, 2]
    >>> time_blocks(["2026-03", "2026-01", "2026-02", "2026-01"], length=2).tolist()
    [1, 0, 1, 0]
    """
    first = time_ranks(np.arange(_number(times)) if isinstance(times, int | np.integer) else times)
    if length is not None:
        require_count("length", length)
    return np.unique(
        first // (length or max(1, int(np.ceil(len(first) ** (1.0 / 3.0) - 1e-9)))),
        return_inverse=True,
    )[1]


def time_ranks(times: Any) -> np.ndarray:
    """Return (n,) the number of rows before each row's time."""
    values = plain_array(times, "times")
    if values.ndim != 1 or len(values) == 0:
        raise InputError(f"times must be (n,), one for each row; got shape {values.shape}.")
    missing = np.array([value is None or value != value for value in values.tolist()])
    if values.dtype.kind in "mM":
        missing |= np.isnat(values)
    if missing.any():
        raise InputError(
            f"times must have the time of every row; row {int(np.flatnonzero(missing)[0])} has"
            " none; drop such rows."
        )
    try:
        _, index, count = np.unique(values, return_inverse=True, return_counts=True)
    except TypeError as error:
        raise InputError(f"times must be of one kind, numbers, dates or texts; {error}.") from error
    return (np.cumsum(count) - count)[index]


def past_and_next(ranks: np.ndarray, n_splits: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Return (rows before, rows next) of each of ``n_splits`` steps, from ``time_ranks``, so that
    rows of equal time stay together.

    Examples
    --------
    >>> [
    ...     (past.tolist(), after.tolist())
    ...     for past, after in past_and_next(np.array([0, 1, 2, 3]), 1)
    ... ]
    [([0, 1], [2, 3])]
    """
    part = ranks * (n_splits + 1) // len(ranks)
    for k in range(1, n_splits + 1):
        past, after = np.flatnonzero(part < k), np.flatnonzero(part == k)
        if not (len(past) and len(after)):
            raise InputError(
                f"{len(np.unique(ranks))} different times cannot be cut into {n_splits + 1} parts;"
                " use fewer splits."
            )
        yield past, after


def _number(n: int | np.integer[Any]) -> int:
    require_count("times", n)
    return int(n)
