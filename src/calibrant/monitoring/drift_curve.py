"""Calibration over time by batch, as numbers for the display."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._numerics.bins import binned_errors, inverted_limits
from calibrant._numerics.intervals import quotient
from calibrant.core.guarantee import Record
from calibrant.core.metric import require_level
from calibrant.monitoring.claims import PitClaim, ScoreClaim

__all__ = ["DriftCurve", "drift_curve"]

N_DRAWS = 200


@dataclass(frozen=True)
class DriftCurve(Record):
    """Table with one row a batch: its time, rows, confidence and accuracy, calibration error as
    measured, the debiased error with its interval, the log evidence for drift after it, and whether
    the alarm was on.

    For forecasts ``confidence`` and ``accuracy`` are the level and the coverage of the widest
    interval between levels, and the error is the mean gap over levels between the level and the
    share of outcomes below that quantile.
    """

    time: np.ndarray
    n: np.ndarray
    confidence: np.ndarray
    accuracy: np.ndarray
    ece: np.ndarray
    error: np.ndarray
    low: np.ndarray
    high: np.ndarray
    log_evidence: np.ndarray
    alarm: np.ndarray


def drift_curve(
    claim: ScoreClaim | PitClaim,
    batches: np.ndarray,
    times: Sequence[Any],
    path: np.ndarray,
    threshold: float,
    level: float | None = 0.95,
) -> DriftCurve:
    """Compute the curve of batches from their sums, the log evidence after each and the alarm's
    threshold.

    Noise is simulated from the hits of each bin, seeded. Without a level there are no intervals.
    """
    if level is not None:
        require_level(level)
    n, total, hits = claim.stated(batches).T
    counted = claim.errors(batches)
    error, low, high = (
        np.array([_limits(claim, *each, level) for each in zip(batches, counted, strict=True)])
        .reshape(-1, 3)
        .T
    )
    alarm = np.maximum.accumulate(path >= np.log(threshold))
    time = np.array(times, dtype=object)
    ece = binned_errors(counted[..., 0], counted[..., 1] - counted[..., 2], 1)
    return DriftCurve(
        time, n, quotient(total, n), quotient(hits, n), ece, error, low, high, path, alarm
    )


def _limits(claim: Any, sums: np.ndarray, counted: np.ndarray, level: float | None) -> Any:
    """Return (debiased error, low, high) of one batch; nan without rows, or without a level."""
    if level is None or not sums.any():
        return np.full(3, np.nan)
    return inverted_limits(counted[None], claim.redrawn(sums, N_DRAWS)[:, None], 1, level)[:3]
