"""Trust in each candidate, from held-out rows."""

import numpy as np

__all__ = [
    "ENOUGH",
    "ERRORS",
    "ERRORS_OF_FEW",
    "EVIDENCE",
    "LEAST_ROWS",
    "beside_nothing",
    "score_difference",
    "trusted_share",
    "with_one_row_more",
]

#: Below this number of rows there is no calibration.
LEAST_ROWS = 20
#: Minimum out-of-fold gain of a choice over the uncalibrated predictions, in standard errors of the
#: difference.
EVIDENCE = 0.5


def score_difference(
    before: np.ndarray,
    after: np.ndarray,
    weight: np.ndarray,
    cluster: np.ndarray | None = None,
) -> tuple[float, float]:
    """Return the weighted mean of before - after, (n,) scores of the same rows, and its standard
    error; infinite and 0 if ``before`` is infinite.

    ``cluster`` holds the cluster number of each row, (n,): the error is then that of a mean over
    independent clusters.
    """
    if not np.isfinite(before).all():
        return float("inf"), 0.0
    total = weight.sum()
    gap = before - after
    mean = weight @ gap / total
    if cluster is None:
        return float(mean), float(
            np.sqrt(weight @ (gap - mean) ** 2 / total / max(total - 1.0, 1.0))
        )
    sums = np.bincount(cluster, weight * (gap - mean)) / total
    n = max(len(np.unique(cluster)), 2)
    return float(mean), float(np.sqrt(sums @ sums * n / (n - 1.0)))


#: The average has half of the weight at a gain of this many standard errors over the square root
#: of the number of rows: 1 at 100 rows, 0.3 at 1,000. On the tables to choose by (benchmarks/arena,
#: part "tables") 10 instead of 17 lowered the log loss at 100 rows by 0.45 % (standard error
#: 0.11 %) and raised the runs made worse from 4.2 to 7.0 %; on 185 simulated tasks of two classes
#: by 0.26 % (0.08 %) and from 3.2 to 3.8 %. A share learned from ten numbers of the evidence was no
#: better at equal harm.
ERRORS = 10.0
#: The same with fewer than ``ENOUGH`` telling rows: 1.7 at 100 rows. Of 15, 17 and 19 the smallest
#: with which at most 3 % of the runs at 100 rows and 1 % at 250 were more than 0.5 % worse than no
#: calibration, on the development half of the arena's tabular sets (58 sets, 116 pairs of a set and
#: a model).
ERRORS_OF_FEW, ENOUGH = 17.0, 10.0
#: Share of the gain due to the row of unknown class (a sum over rows) that is its error too; beyond
#: it the risk is treated as known. Of 0 to 6 nats the one with the lowest loss on simulated
#: near-perfect models: at 100 rows it made 13 % of these worse, against 42 % before. On the tabular
#: half loss and harm did not change.
MOST_UNKNOWN = 2.0
#: Steepness of the share: of 2, 4, 6 and 8 the lowest log loss at equal harm; a gate, which is the
#: limit, costs the most.
STEEPNESS = 4.0


def trusted_share(gain: float, error: float, n: float, telling: float) -> float:
    """Return the share in [0, 1] of an average with mean score lower by ``gain``, with a standard
    error of ``error``, on n rows (sum of weights), ``telling`` of them of a rare class or a wrong
    answer.

    It is z^4 / (z^4 + c^4) with z = gain / error and c = 10 / sqrt(n), or 17 / sqrt(n) with fewer
    than ten telling rows; 0 without a gain, 1 without an error.
    """
    if not gain > 0.0:
        return 0.0
    errors = ERRORS if telling >= ENOUGH else ERRORS_OF_FEW
    return 1.0 / (1.0 + (errors * error / (gain * n**0.5)) ** STEEPNESS)


def with_one_row_more(gain: float, error: float, unknown: float, n: float) -> tuple[float, float]:
    """Return a mean gain and its standard error after adding one unobserved row with gain
    ``unknown`` to n rows.

    The row's error equals its gain, up to 2 nats. Where a model is right on all rows, almost the
    whole gain of a flatter one comes from this row; the observed rows alone would make it
    significant.
    """
    return gain + unknown / n, float(np.hypot(error, min(abs(unknown), MOST_UNKNOWN) / n))


def beside_nothing(
    kept: list[int], pool: np.ndarray, share: float, least: float
) -> tuple[list[int], np.ndarray]:
    """Return (members, their weights) if only ``share`` of the pool is used, and the rest goes to
    member 0; members below ``least`` of the share are dropped.

    A share below ``least`` counts as 0.
    """
    if share < least:
        return [0], np.ones(1)
    full = np.bincount([0, *kept], weights=[1.0 - share, *(share * pool)])
    members = np.flatnonzero(full >= least * share)
    return members.tolist(), full[members] / full[members].sum()
