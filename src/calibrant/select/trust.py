"""How much held-out rows trust each candidate."""

import numpy as np

__all__ = [
    "ERRORS",
    "EVIDENCE",
    "LEAST_ROWS",
    "beside_nothing",
    "score_difference",
    "trusted_share",
    "with_one_row_more",
]

#: Fewer rows than this, and doing nothing is the answer.
LEAST_ROWS = 20
#: A choice must beat the uncalibrated predictions out of fold by this many standard errors of the
#: difference.
EVIDENCE = 0.5


def score_difference(
    before: np.ndarray, after: np.ndarray, weight: np.ndarray
) -> tuple[float, float]:
    """Weighted mean of before - after, (n,) scores of the same rows, and its standard error;
    infinite and 0 where ``before`` is.
    """
    if not np.isfinite(before).all():
        return float("inf"), 0.0
    total = weight.sum()
    gap = before - after
    mean = weight @ gap / total
    return float(mean), float(np.sqrt(weight @ (gap - mean) ** 2 / total / max(total - 1.0, 1.0)))


#: The average has half of the weight where it gains this many standard errors, over the square root
#: of the number of rows: 1.7 at 100 rows, 0.5 at 1,000. Of 15, 17 and 19 the least with which at
#: most 3 % of the runs at 100 rows and 1 % at 250 were more than 0.5 % worse than nothing, on the
#: half of the arena's tabular sets that is there to choose by (58 sets, 116 pairs of a set and a
#: model).
ERRORS = 17.0
#: Of the row of unknown class, so much of what it adds to the gain (a sum over rows) is its error
#: too; more is a risk that is taken as known. Of 0 to 6 nats the one with the least loss on
#: simulated near-perfect models, of which 42 % were made worse at 100 rows before, 13 % with it; on
#: the tabular half the loss and the harm stay as they were.
MOST_UNKNOWN = 2.0
#: How steeply the share rises: of 2, 4, 6 and 8 the least log loss at equal harm; a gate, which is
#: the limit, costs the most.
STEEPNESS = 4.0


def trusted_share(gain: float, error: float, n: float, errors: float = ERRORS) -> float:
    """Share in [0, 1] of an average whose mean score is lower by ``gain``, with a standard error of
    ``error``, on n rows (sum of weights).

    z^4 / (z^4 + c^4) of z = gain / error and c = errors / sqrt(n); 0 without a gain, 1 where it has
    no error.
    """
    if not gain > 0.0:
        return 0.0
    return 1.0 / (1.0 + (errors * error / (gain * n**0.5)) ** STEEPNESS)


def with_one_row_more(gain: float, error: float, unknown: float, n: float) -> tuple[float, float]:
    """A mean gain and its standard error once a row that nobody saw is counted, whose own gain is
    ``unknown``, beside n rows.

    The row is as unsure as it is large, up to 2 nats. Where a model is right on all rows, nearly
    the whole gain of a flatter one is this row's, and by the rows that were seen it would be beyond
    doubt.
    """
    return gain + unknown / n, float(np.hypot(error, min(abs(unknown), MOST_UNKNOWN) / n))


def beside_nothing(
    kept: list[int], pool: np.ndarray, share: float, least: float
) -> tuple[list[int], np.ndarray]:
    """(members, their weights) once only ``share`` of the pool is used, the rest going to member 0;
    none below ``least`` of the share.

    A share below ``least`` is none.
    """
    if share < least:
        return [0], np.ones(1)
    full = np.bincount([0, *kept], weights=[1.0 - share, *(share * pool)])
    members = np.flatnonzero(full >= least * share)
    return members.tolist(), full[members] / full[members].sum()
