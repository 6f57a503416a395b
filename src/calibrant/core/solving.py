"""Fits that several calibrators share: Newton's method from tempered scores with the warning if it
does not converge, rates by predicted class, and the rows of one class against the others.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._numerics.bins import in_cells
from calibrant._numerics.logistic import SINGLE_ENTRIES, log_softmax, log_softmax_mixed, softmax
from calibrant._numerics.multinomial import DENSE_MATRIX
from calibrant._numerics.newton import Search, minimise, minimise_near
from calibrant._numerics.temperature import (
    inverse_temperature,
    is_separable,
    tilted_losses,
    tilted_root,
    tilts,
)
from calibrant.core.predictions import Predictions
from calibrant.errors import FitWarning, SparseDataWarning, warn

__all__ = [
    "MIN_ROWS",
    "ClassRates",
    "event_rows",
    "least_nll",
    "own_tempered",
    "scores_at",
    "solve",
    "tempered_scores",
    "tempering",
    "tolerance_for",
    "warn_unless_converged",
]


#: Relative change of 1 / T up to which a Taylor series of four terms is exact to about nine digits.
WIDEST_TILT = 0.02


def solve(
    objective: Callable[..., Any],
    start: np.ndarray,
    search: Search | None = None,
    tolerance: float = 1e-8,
) -> tuple[np.ndarray, str, float]:
    """:func:`calibrant._numerics.newton.minimise`; with a search, from its last end."""
    if search is None:
        return minimise(objective, start, tolerance)
    return minimise_near(objective, start, search, tolerance)


def warn_unless_converged(name: str, status: str, gradient: float, advice: str) -> None:
    """FitWarning with the status, the remaining gradient and a remedy; nothing for "converged"."""
    if status != "converged":
        warn(f"{name} ended {status} with a gradient of {gradient:.1e}; {advice}.", FitWarning)


def least_nll(record: Predictions) -> tuple[float, str]:
    """(1 / T, status) of least log loss of softmax(logits / T), the start of many calibrators;
    computed once.
    """
    if record.derived.temperature is None:
        record.derived.temperature = _least_nll(record)
    return record.derived.temperature


def _least_nll(record: Predictions) -> tuple[float, str]:
    work, near = record.work, record.derived.tilts
    start = work.inverse_temperature
    if near is not None and not is_separable(record.logits, record.labels):
        change = tilted_root(near, record.weights, WIDEST_TILT * start)
        if change is not None:
            return start + change, "converged"
    found = inverse_temperature(record.logits, record.labels, record.weights, start=start)
    if work.shared and start is None and found[1] == "converged":
        # Losses and their derivatives at this temperature by row: subsets of the record reuse them
        # without a search.
        work.inverse_temperature = found[0]
        record.derived.tilts = tilts(found[0], record.logits, record.labels)
    return found


def own_tempered(record: Predictions) -> np.ndarray:
    """(n,) probability of the true class after temperature scaling of these rows."""
    beta, _ = least_nll(record)
    near, first = record.derived.tilts, record.work.inverse_temperature
    if near is not None and first is not None and abs(beta - first) <= WIDEST_TILT * beta:
        return np.exp(-tilted_losses(near, beta - first))
    return softmax(record.logits * beta)[np.arange(len(record)), record.labels]


def tempering(record: Predictions, smooth: bool) -> tuple[float, float]:
    """(temperature, mixing) of a fit on the record: mixing is 1 / (n + 1), none where it is not
    ``smooth``.
    """
    beta, _ = least_nll(record)
    return 1.0 / beta, 1.0 / (float(record.weights.sum()) + 1.0) if smooth else 0.0


def scores_at(record: Predictions, temperature: float, mixing: float) -> np.ndarray:
    """z (n, K) = log((1 - mixing) softmax(logits / T) + mixing / K) of the rows of any record."""
    logits = record.logits * (1.0 / temperature)
    return log_softmax_mixed(logits, mixing) if mixing else log_softmax(logits)


def tempered_scores(record: Predictions) -> tuple[np.ndarray, float, float]:
    """(z, temperature, mixing) of the rows of a fit: z (n, K) = log((1 - mixing) softmax(logits /
    T) + mixing / K), mixing = 1 / (n + 1).

    An open selection computes it once for all fits on the record, in float32 for many classes: it
    compares losses to five digits, and products take half the time.
    """
    beta, _ = least_nll(record)
    mixing = 1.0 / (float(record.weights.sum()) + 1.0)
    if record.derived.tempered is not None:
        return record.derived.tempered, 1.0 / beta, mixing
    z = log_softmax_mixed(record.logits, mixing, beta)
    if record.work.open:
        if record.n_classes * (record.n_classes + 1) > DENSE_MATRIX:
            z = z.astype(np.float32, copy=False)
        if z.size < SINGLE_ENTRIES:
            record.derived.tempered = z
    return z, 1.0 / beta, mixing


def tolerance_for(z: np.ndarray) -> float:
    """The gradient tolerance for such scores, from their rounding."""
    return 1e-6 if z.dtype == np.float32 else 1e-8


# -- Rates by class --------------------------------------------------------------------------------

#: Rows, right and wrong, below which a class keeps its own rate instead of a map.
MIN_ROWS = 5


@dataclass(frozen=True)
class ClassRates:
    """Weights of right and wrong rows of each predicted class, (K,) each."""

    right: np.ndarray
    wrong: np.ndarray

    @classmethod
    def count(cls, record: Predictions) -> "ClassRates":
        """Count the rows of a record with labels."""
        right = np.bincount(
            record.predicted, weights=record.weights * record.correct, minlength=record.n_classes
        )
        total = np.bincount(record.predicted, weights=record.weights, minlength=record.n_classes)
        return cls(right, total - right)

    @property
    def enough(self) -> np.ndarray:
        """(K,) bool: at least MIN_ROWS right and as many wrong."""
        return (self.right >= MIN_ROWS) & (self.wrong >= MIN_ROWS)

    @property
    def shrunk(self) -> np.ndarray:
        """(K,) the rate of right rows, (right + 1/2) / (n + 1); that of all rows for a class
        never predicted.
        """
        total = self.right + self.wrong
        overall = (self.right.sum() + 0.5) / (total.sum() + 1.0)
        return np.where(total > 0.0, (self.right + 0.5) / (total + 1.0), overall)

    def warn(self, classes: np.ndarray) -> None:
        """One SparseDataWarning that names the classes without enough rows; none when all have
        them.
        """
        sparse = np.flatnonzero(~self.enough)
        if not len(sparse):
            return
        named = [
            f"{classes[k]} ({self.right[k]:g} right, {self.wrong[k]:g} wrong)" for k in sparse[:6]
        ]
        more = f" and {len(sparse) - 6} more" if len(sparse) > 6 else ""
        warn(
            f"{len(sparse)} of {len(classes)} predicted classes have fewer than {MIN_ROWS} right or"
            f" {MIN_ROWS} wrong rows: {', '.join(named)}{more}; each gets its own rate, (right +"
            " 1/2) / (n + 1), as a constant confidence.",
            SparseDataWarning,
        )


def event_rows(
    record: Predictions, k: int, smooth: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """(scores, outcomes, weights or None) of class k.

    An open selection, which fits many maps, gets them sorted by score, and merged in cells for
    smooth maps.
    """
    if not record.work.open:
        return record.probabilities[:, k], (record.labels == k).astype(np.float64), record.weight
    events, cells = record.derived.events, record.derived.cells
    if k not in events:
        order = record.probabilities[:, k].argsort()
        hit = np.asarray(record.labels == k, dtype=np.float64)[order]
        events[k] = record.probabilities[order, k], hit, record.weights[order]
    if smooth and k not in cells:
        cells[k] = in_cells(*events[k])
    return cells[k] if smooth else events[k]
