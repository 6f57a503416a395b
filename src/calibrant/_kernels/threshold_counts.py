"""One sorted pass over risks and outcomes: how many events and others are at least at each threshold, or above it."""

from typing import Any

import numpy as np

from calibrant._kernels.risk_coverage import risk_coverage

__all__ = ["threshold_counts"]


def threshold_counts(
    score: np.ndarray, hit: np.ndarray, weight: np.ndarray, thresholds: Any, resolution: Any = 0.0, *, above: Any = False
) -> tuple[np.ndarray, np.ndarray, float, float]:
    """(weight of events flagged, of others flagged, of all events, of all others): the first two of the shape of ``thresholds``.

    Flagged is a score of at least the threshold; one below it by the share ``resolution`` of it counts as on it, as 0.7 of float32 is
    below that of float64. With ``above`` only scores above the threshold are flagged.
    """
    ranked, flagged, others = risk_coverage(score, hit, weight)
    flagged, others = np.append(0.0, flagged), np.append(0.0, others)
    limits = np.asarray(thresholds, dtype=np.float64) * (1.0 + (resolution if above else -resolution))
    place = len(ranked) - np.searchsorted(ranked[::-1], limits, side="right" if above else "left")
    # Sums of weights that are no whole numbers are rounded, and a count is never below 0.
    events = np.maximum(flagged - others, 0.0)
    return events[place], others[place], float(events[-1]), float(others[-1])
