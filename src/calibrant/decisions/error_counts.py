"""Counts of rows and errors by score, to certify a threshold on data of any size."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant.core import arrays
from calibrant.core.saving import Saved
from calibrant.decisions.certainty import repetitions
from calibrant.errors import InputError

__all__ = ["ErrorCounts"]

#: Cells have equal width in the logit and reach to 1.5e-8 from 0 and 1. No cell of a smooth
#: distribution holds a share of 1e-4 of the rows.
N_CELLS, REACH = 2**18, 18.0
EDGES: np.ndarray = 1.0 / (1.0 + np.exp(-np.linspace(-REACH, REACH, N_CELLS - 1)))


class ErrorCounts(Saved):
    """Counts of rows and errors in 262,144 cells of a score in [0, 1], to certify a threshold where
    the rows do not fit in memory.

    Parameters
    ----------
    counts : (262144, 2) array, optional
        Rows and errors of each cell; empty by default.

    See Also
    --------
    SelectiveClassifier : ``fit_counts`` reads them.

    Notes
    -----
    Add the counts of the parts with ``+`` or ``sum``; they take four megabytes for any number of
    rows. The threshold is the lower end of a cell, so the certificate is as exact as from the rows;
    it only accepts up to a cell of rows less.

    Examples
    --------
    >>> a = ErrorCounts().add([0.9, 0.6], [0, 1])
    >>> b = ErrorCounts().add([0.8], [0])
    >>> (a + b).n
    3.0
    """

    def __init__(self, counts: np.ndarray | None = None) -> None:
        self.counts: np.ndarray = np.zeros((N_CELLS, 2)) if counts is None else counts

    def add(
        self, score: ArrayLike, loss: ArrayLike, *, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Add scores (n,) in [0, 1] and losses (n,) of 0 and 1, and return self."""
        values = arrays.scores(score, domain="unit")
        wrong = arrays.binary_outcomes(loss, len(values))
        weight, kept = arrays.weights(sample_weight, len(values))
        if kept is not None:
            values, wrong = values[kept], wrong[kept]
        cell = np.searchsorted(EDGES, values, side="right")
        times = None if weight is None else repetitions(weight)
        rows = np.bincount(cell, times, N_CELLS)
        self.counts = self.counts + np.column_stack(
            [rows, np.bincount(cell, wrong if times is None else wrong * times, N_CELLS)]
        )
        return self

    @property
    def n(self) -> float:
        """Number of rows."""
        return float(self.counts[:, 0].sum())

    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (score, loss, repetitions) in place of the rows, for both outcomes; the score is
        the largest number below the next cell.
        """
        if self.n == 0.0:
            raise InputError("counts must hold rows; got none; call add first.")
        ends = np.append(np.nextafter(EDGES, -np.inf), 1.0)
        wrong, right = self.counts[:, 1], self.counts[:, 0] - self.counts[:, 1]
        score, loss, times = (
            np.tile(ends, 2),
            np.repeat([1.0, 0.0], N_CELLS),
            np.concatenate([wrong, right]),
        )
        held = times > 0.0
        return score[held], loss[held], times[held]

    def __add__(self, other: Any) -> "ErrorCounts":
        return (
            ErrorCounts(self.counts + other.counts)
            if isinstance(other, ErrorCounts)
            else NotImplemented
        )

    def __radd__(self, other: Any) -> "ErrorCounts":
        return self if other == 0 else NotImplemented
