"""Murphy diagram: mean elementary score by threshold; proper scores are its mixtures."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._numerics.intervals import multinomial_correlation, sum_limits, wilson
from calibrant._numerics.isotonic import pool_ties, pooled_blocks
from calibrant._numerics.thresholds import threshold_counts
from calibrant.core.arrays import ArrayLike
from calibrant.core.given import Inputs
from calibrant.core.guarantee import Record
from calibrant.core.metric import require_level
from calibrant.core.metric_kinds import on_record
from calibrant.core.predictions import Predictions
from calibrant.core.reading import read_labelled
from calibrant.metrics.decisions import read_thresholds

__all__ = ["MurphyCurve", "murphy_curve"]

#: Largest number of distinct risks used as corners of the curve; with more, this many at equal
#: ranks.
CORNERS = 1000


@dataclass(frozen=True)
class MurphyCurve(Record):
    """Murphy curve, one row per threshold: mean elementary score, its interval, and its parts (nan
    without ``decompose``).
    """

    threshold: np.ndarray
    score: np.ndarray
    low: np.ndarray
    high: np.ndarray
    miscalibration: np.ndarray
    discrimination: np.ndarray
    uncertainty: np.ndarray


def _of(
    record: Predictions,
    *,
    target: int | str = "event",
    thresholds: ArrayLike | None = None,
    decompose: bool = False,
    level: float = 0.95,
) -> MurphyCurve:
    require_level(level)
    score, hit = record.pair(target)
    weight = record.weights
    t, above = (
        _corners(score)
        if thresholds is None
        else (given := read_thresholds(thresholds), np.ones(len(given), dtype=bool))
    )
    missed, alarmed, n = _errors(score, hit, weight, t, above)
    value = _elementary(missed, alarmed, n, t)
    low, high = _limits(missed / n, alarmed / n, n, t, level)
    unasked = np.full_like(t, np.nan)
    parts = (unasked, unasked, unasked)
    if decompose:
        recalibrated = _elementary(
            *_errors(_recalibrated(score, hit, weight), hit, weight, t, above), t
        )
        constant = _elementary(
            *_errors(np.full_like(score, weight @ hit / n), hit, weight, t, above), t
        )
        parts = (value - recalibrated, constant - recalibrated, constant)
    return MurphyCurve(t, value, np.minimum(low, value), np.maximum(high, value), *parts)


def _corners(score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each risk twice, for ties above and then below the threshold: the curve jumps there
    and is straight between.
    """
    distinct = np.unique(score)
    if len(distinct) > CORNERS:
        distinct = distinct[np.linspace(0, len(distinct) - 1, CORNERS).round().astype(np.intp)]
    inner = np.repeat(distinct[(distinct > 0.0) & (distinct < 1.0)], 2)
    return np.concatenate([[0.0], inner, [1.0]]), np.concatenate(
        [[True], np.arange(len(inner)) % 2 == 1, [False]]
    )


def _errors(
    score: np.ndarray, hit: np.ndarray, weight: np.ndarray, t: np.ndarray, above: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """(weight of events at or below each threshold, weight of others above it, total weight)."""
    sides = [threshold_counts(score, hit, weight, t, above=side) for side in (False, True)]
    true, false = (
        np.where(above, strict, loose)
        for loose, strict in zip(sides[0][:2], sides[1][:2], strict=True)
    )
    events, others = sides[0][2:]
    return np.maximum(events - true, 0.0), false, events + others


def _elementary(missed: np.ndarray, alarmed: np.ndarray, n: Any, t: np.ndarray) -> np.ndarray:
    return 2.0 * ((1.0 - t) * missed + t * alarmed) / n


def _limits(
    missed: np.ndarray, alarmed: np.ndarray, n: Any, t: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Combine Wilson's limits of the two shares."""
    costs = ((missed, 2.0 * (1.0 - t)), (alarmed, 2.0 * t))
    first, second = (
        [cost * side for side in (share, *wilson(share * n, n, level))] for share, cost in costs
    )
    return sum_limits(first, second, multinomial_correlation(missed, alarmed))


def _recalibrated(score: np.ndarray, hit: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(n,) isotonic fit of the outcomes, the best increasing recalibration for all thresholds."""
    unique, mass, mean = pool_ties(score, hit, weight)
    first, last, value, _ = pooled_blocks(mean, mass)
    return np.repeat(value, last - first + 1)[np.searchsorted(unique, score)]


@on_record(_of)
def murphy_curve(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    target: int | str = "event",
    thresholds: ArrayLike | None = None,
    decompose: bool = False,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> MurphyCurve:
    r"""Compute the mean elementary score by threshold; its integral is the Brier score of the
    event.

    .. math:: S_\theta = \frac{2}{n} \sum_i |y_i - \theta| \cdot 1\{\min(p_i, y_i) \le \theta <
        \max(p_i, y_i)\}

    It is the cost of acting where the risk is above :math:`\theta`, when a false alarm costs
    :math:`2\theta` and a missed event :math:`2 (1 - \theta)`. The log loss is the integral of
    :math:`S_\theta / (2 \theta (1 - \theta))`.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : "event", "answer" or a class label, default "event"
        The second of two classes; of more classes name one.
    thresholds : (T,) numbers in [0, 1), optional
        By default 0, 1, and each distinct risk twice, from its left and its right. The curve is
        straight between them, so the trapezoid rule is exact. With more than 1,000 distinct risks,
        1,000 at equal ranks.
    decompose : bool, default False
        Whether to split the score into miscalibration - discrimination + uncertainty, by isotonic
        recalibration.
    level : float, default 0.95
        The level of the pointwise interval, which combines Wilson's for both kinds of error.
    sample_weight : (n,), optional
        Weight 2 counts a row twice; weight 0 drops it.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    MurphyCurve
        ``.frame()`` returns a data frame.

    Raises
    ------
    InputError
        When the predictions are invalid or a threshold is out of range.

    See Also
    --------
    MurphyDisplay : the plot of it.
    event_brier_score : its integral.
    brier_decomposition : the parts of the whole score.

    Notes
    -----
    Use it to compare two models without choosing a score: the model with the lower curve everywhere
    is better under every proper score. Where curves cross, the order depends on the costs. Other
    libraries omit the factor 2.

    References
    ----------
    Ehm, Gneiting, Jordan and Krueger, "Of quantiles and expectiles", Journal of the Royal
    Statistical Society B, 2016.

    Examples
    --------
    >>> curve = murphy_curve([0, 1], [0.25, 0.5])
    >>> curve.threshold.tolist(), curve.score.tolist()
    ([0.0, 0.25, 0.25, 0.5, 0.5, 1.0], [0.0, 0.25, 0.0, 0.0, 0.5, 0.0])
    >>> float(np.trapezoid(curve.score, curve.threshold))
    0.15625
    """
    record = read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs)
    return murphy_curve.of(
        record, target=target, thresholds=thresholds, decompose=decompose, level=level
    )
