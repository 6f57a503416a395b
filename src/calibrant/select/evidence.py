"""How sure a difference between two mean scores is."""

import numpy as np

__all__ = ["EVIDENCE", "LEAST_ROWS", "score_difference"]

#: Fewer rows than this, and doing nothing is the answer.
LEAST_ROWS = 20
#: A choice must beat the uncalibrated predictions out of fold by this many standard errors of the difference.
EVIDENCE = 0.5


def score_difference(before: np.ndarray, after: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Weighted mean of before - after, (n,) scores of the same rows, and its standard error; infinite and 0 where ``before`` is."""
    if not np.isfinite(before).all():
        return float("inf"), 0.0
    total = weight.sum()
    gap = before - after
    mean = weight @ gap / total
    return float(mean), float(np.sqrt(weight @ (gap - mean) ** 2 / total / max(total - 1.0, 1.0)))
