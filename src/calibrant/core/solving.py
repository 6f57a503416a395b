"""Newton's method from tempered scores, and the warning if it does not converge."""

from collections.abc import Callable
from typing import Any

import numpy as np

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
from calibrant.core.predictions_record import Predictions
from calibrant.errors import FitWarning, warn

__all__ = [
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
