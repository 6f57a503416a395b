"""The numbers of predictions: finite, and of probabilities in [0, 1] with rows that sum to 1."""

from typing import Any

import numpy as np

from calibrant.errors import InputError

__all__ = ["check_values", "sound"]

#: How far a row's sum may be from 1, by the machine epsilon of the dtype the probabilities came in: that of bfloat16, float16, others.
ROW_SUM_TOLERANCE = {2.0**-7: 1e-2, 2.0**-10: 5e-3}
OTHER_ROW_SUM_TOLERANCE = 1e-5
#: Row sums all this near to 1 are those of rounded probabilities.
ROUNDED = 0.05
#: Row sums that differ by less than this share are one sum.
EQUAL = 1e-3
BLOCK_ROWS = 65_536


def sound(block: Any) -> bool:
    """Whether the values of a record pass ``check_values`` (a quick yes; the slow check finds the words for a no)."""
    if block.kind == "logit":
        return bool(np.isfinite(block.values).all())
    columns = block.by_class
    off = np.abs(block.row_sums - 1.0).max()
    return bool(columns.min() >= 0.0 and columns.max() <= 1.0 + 2.0 * block.resolution and off <= _tolerance(block.resolution))


def check_values(values: np.ndarray, inputs: str, resolution: float) -> None:
    """Refuse what is no prediction, with the first rows at fault; ``resolution`` is the machine epsilon of the dtype it came in."""
    for start in range(0, len(values), BLOCK_ROWS):
        block = values[start : start + BLOCK_ROWS]
        finite = np.isfinite(block).all(axis=1)
        if not finite.all():
            _reject(~finite, start, block, "must be finite", "remove or repair these rows")
        if inputs == "probability":
            _check_probabilities(block, start, resolution)


def _check_probabilities(block, start, resolution):
    bad = (block < 0.0).any(axis=1) | (block > 1.0 + 2.0 * resolution).any(axis=1)
    if bad.any():
        _reject(
            bad, start, block, "must be probabilities in [0, 1]", 'pass inputs="logit" if these are logits, and divide percentages by 100'
        )
    sums = block.sum(axis=1, dtype=np.float64)
    tolerance = _tolerance(resolution)
    bad = np.abs(sums - 1.0) > tolerance
    if bad.any():
        first = np.flatnonzero(bad)[:3]
        seen = ", ".join(f"row {start + i} sums to {sums[i]:.6g}" for i in first)
        raise InputError(f"rows of P must sum to 1 within {tolerance:g}; {seen} ({int(bad.sum())} such rows); {_sum_remedy(sums)}.")


def _sum_remedy(sums):
    """Rows that nearly sum to 1 are rounded, those of one sum scaled; others may be answers to several questions, not to be mixed up."""
    if np.abs(sums - 1.0).max() <= ROUNDED or (len(sums) > 1 and np.ptp(sums) < EQUAL * sums.min()):
        return 'divide P by its row sums, or pass inputs="logit" if these are logits'
    return (
        'pass inputs="logit" if these are logits; if a row can have several labels or none, calibrate the columns one by one, '
        "P[:, k] with its own labels of 0 and 1; if it has exactly one, make the scores probabilities first, as the model means them"
    )


def _tolerance(resolution):
    return ROW_SUM_TOLERANCE.get(resolution, OTHER_ROW_SUM_TOLERANCE)


def _reject(bad, start, block, rule, remedy):
    first = np.flatnonzero(bad)[:3]
    seen = ", ".join(f"row {start + i} is {np.array2string(block[i], precision=4, threshold=6)}" for i in first)
    raise InputError(f"P {rule}; {seen} ({int(bad.sum())} such rows); {remedy}.")
