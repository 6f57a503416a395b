"""The isotonic reliability curve (CORP), and its state."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from calibrant._numerics.bins import Distinct, distinct_scores
from calibrant._numerics.bootstrap import hit_drawer, null_generator
from calibrant._numerics.isotonic import pool_ties, pooled_blocks
from calibrant.core.arrays import ArrayLike
from calibrant.core.estimators import require_count, require_option
from calibrant.core.given import Inputs
from calibrant.core.groups import WeightKind
from calibrant.core.guarantee import Record
from calibrant.core.metric_kinds import on_record
from calibrant.core.predictions import Predictions
from calibrant.core.reading import read_clustered, read_labelled
from calibrant.errors import InputError, warn
from calibrant.metrics.decomposition import ScoreDecomposition, corp_of

__all__ = [
    "CorpState",
    "IsotonicCurve",
    "corp_state",
    "isotonic_band",
    "isotonic_curve",
    "isotonic_curve_of",
    "isotonic_fit",
    "largest_dip",
]

#: The 95 % quantile of the largest dip under a constant truth, the worst increasing truth: that of
#: Brownian motion over its greatest convex minorant.
LARGE_DIP = 1.47


@dataclass(frozen=True)
class IsotonicCurve(Record):
    """Isotonic curve, one row per distinct score: its weight, its recalibrated value, and the band
    under calibration.
    """

    score: np.ndarray
    n: np.ndarray
    recalibrated: np.ndarray
    low: np.ndarray
    high: np.ndarray


def _isotonic_curve_of(
    record: Predictions,
    *,
    target: Any = "answer",
    level: float = 0.95,
    n_draws: int = 1000,
    random_state: int = 0,
) -> IsotonicCurve:
    require_count("n_draws", n_draws, 0, usual=1000)
    score, hit = record.pair(target)
    pooled = pool_ties(score, hit, record.weights)
    if n_draws == 0:
        return isotonic_curve_of(*pooled, np.full((2, len(pooled[0])), np.nan))
    draw = hit_drawer(score, hit, record.weights, record.cluster)
    return isotonic_curve_of(
        *pooled, isotonic_band(score, record.weights, draw, level, n_draws, random_state)
    )


def isotonic_curve_of(
    score: np.ndarray, mass: np.ndarray, mean: np.ndarray, band: np.ndarray
) -> IsotonicCurve:
    """Make the curve from distinct scores, ascending, their weights and mean outcomes, (m,) each;
    warns where the truth seems to decrease.
    """
    fit = isotonic_fit(mean, mass)
    if (dip := largest_dip(mean, mass, fit)) > LARGE_DIP:
        warn(
            "the outcomes seem to decrease somewhere as the score increases (a dip of"
            f" {dip:.2f}; 5 of 100 increasing truths show {LARGE_DIP}), which an isotonic curve"
            " cannot follow, so its miscalibration and discrimination are biased; see"
            " smooth_curve or loess_curve."
        )
    return IsotonicCurve(score, mass, fit, *band)


def largest_dip(mean: np.ndarray, mass: np.ndarray, fit: np.ndarray) -> float:
    """Largest excess of the cumulative outcomes over those of their increasing fit, in standard
    deviations of their sum.
    """
    variance = mass @ (fit * (1.0 - fit))
    return (
        float(np.cumsum(mass * (mean - fit)).max() / np.sqrt(variance)) if variance > 0.0 else 0.0
    )


def isotonic_fit(mean: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Increasing fit of the mean outcomes of distinct scores, ascending, (m,) each."""
    first, last, value, _ = pooled_blocks(mean, mass)
    return np.repeat(value, last - first + 1)


def isotonic_band(
    score: np.ndarray,
    weight: np.ndarray,
    draw: Callable[..., np.ndarray],
    level: float,
    n_draws: int,
    random_state: int,
    rows: Any = slice(None),
) -> np.ndarray:
    """Simulate the band of the fit of calibrated scores, (2, m): low and high at each distinct
    score; ``draw(rng)`` returns their outcomes.

    ``rows`` selects the distinct scores, ascending, of the band.
    """
    rng, place = null_generator(random_state), distinct_scores(score)[1]
    mass = np.bincount(place, weights=weight)
    hits = (np.bincount(place, weights=weight * draw(rng)) for _ in range(n_draws))
    return np.quantile(
        [isotonic_fit(sums / mass, mass)[rows] for sums in hits],
        [0.5 - 0.5 * level, 0.5 + 0.5 * level],
        axis=0,
    )


@on_record(_isotonic_curve_of)
def isotonic_curve(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    target: Any = "answer",
    level: float = 0.95,
    n_draws: int = 1000,
    random_state: int = 0,
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: WeightKind = "frequency",
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> IsotonicCurve:
    """Fit the isotonic regression of the hits on the scores, with a consistency band around the
    diagonal.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : {"answer", "event"} or a class label
    level : float, default 0.95
        The pointwise level of the consistency band: the share of curves of calibrated scores inside
        it.
    n_draws : int, default 1000
        Number of simulated outcomes for the band; 0 omits it (nan).
    random_state : int, default 0
    cluster : (n,) labels of any kind, optional
        Clusters of dependent rows (visits of one patient, answers to one question). The band then
        simulates correlated outcomes.
    sample_weight : (n,), optional
        Weight 2 counts a row twice; weight 0 drops it.
    weight_kind : {"frequency", "sampling"}
        "frequency": a weight counts identical rows. "sampling": a weighted row is one row that
        stands for others, as with design or importance weights.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    IsotonicCurve
        ``.frame()`` returns a data frame.

    Raises
    ------
    InputError
        When the predictions are invalid or the target is unknown.

    See Also
    --------
    IsotonicCurveDisplay : the plot of it.
    corp_state : the same for parts of the rows. reliability_curve, smooth_curve, loess_curve :
        curves in bins, by a kernel, or by local regression.

    Notes
    -----
    The curve is the recalibration of ``brier_decomposition``: values outside the band show
    miscalibration. It never decreases. Where the truth decreases it is biased. It warns when the
    cumulative outcomes exceed those of the fit more than in 5 of 100 increasing truths (if the
    truth is constant; fewer otherwise).

    References
    ----------
    Dimitriadis, Gneiting and Jordan, "Stable reliability diagrams for probabilistic classifiers",
    PNAS 2021. Durot, "A Kolmogorov-type test for monotonicity of regression", Statistics and
    Probability Letters 2003.

    Examples
    --------
    >>> curve = isotonic_curve([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9], target="event")
    >>> curve.recalibrated.tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    record = read_clustered(
        y_true, P, cluster, weight_kind, sample_weight=sample_weight, classes=classes, inputs=inputs
    )
    return isotonic_curve.of(
        record, target=target, level=level, n_draws=n_draws, random_state=random_state
    )


@dataclass(frozen=True, eq=False)
class CorpState:
    """Weight and hits of each distinct score; states of parts add up to that of the whole, exactly
    up to the order of summation.

    Attributes
    ----------
    target : {"answer", "event"} or a class label
    by_score : Distinct
        ``values`` (m,), the distinct scores, ascending, and ``sums`` (m, 2) of their weights and
        the weights of their hits.

    See Also
    --------
    corp_state : returns it.
    """

    target: Any
    by_score: Distinct

    def __add__(self, other: Any) -> "CorpState":
        if not isinstance(other, CorpState):
            return NotImplemented
        if self.target != other.target:
            raise InputError(
                f"states must have the same target to be added; got {self.target!r} and"
                f" {other.target!r}."
            )
        return CorpState(self.target, self.by_score + other.by_score)

    def __radd__(self, other: Any) -> "CorpState":
        return self if other == 0 else NotImplemented

    def curve(
        self, *, level: float = 0.95, n_draws: int = 1000, random_state: int = 0
    ) -> IsotonicCurve:
        """Compute ``isotonic_curve`` of all rows; its band is simulated by score instead of by
        row.
        """
        score, n, mean = self._pooled()
        draw = hit_drawer(score, mean, n, None)
        band = (
            isotonic_band(score, n, draw, level, n_draws, random_state)
            if n_draws
            else np.full((2, len(n)), np.nan)
        )
        return isotonic_curve_of(score, n, mean, band)

    def decomposition(self, score: Literal["brier", "log_loss"] = "brier") -> ScoreDecomposition:
        """Compute ``brier_decomposition`` or ``log_loss_decomposition`` of all rows."""
        require_option("score", score, ("brier", "log_loss"))
        return ScoreDecomposition(*corp_of(*self._pooled(), score))

    def _pooled(self):
        n, hits = self.by_score.sums.T
        return pool_ties(self.by_score.values, hits / n, n)


def _corp_state_of(record: Predictions, *, target: Any = "answer") -> CorpState:
    score, hit = record.pair(target)
    return CorpState(target, Distinct.of(score, [hit], record.weight))


@on_record(_corp_state_of)
def corp_state(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    target: Any = "answer",
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> CorpState:
    """Compute the state of a part of the rows for isotonic curve and CORP decomposition: hits by
    distinct score.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : {"answer", "event"} or a class label
    sample_weight : (n,), optional
        Weight 2 counts a row twice; weight 0 drops it.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    CorpState
        Use ``sum(states)``, then ``.curve()`` and ``.decomposition()``.

    Raises
    ------
    InputError
        When the predictions are invalid or the target is unknown.

    See Also
    --------
    isotonic_curve, brier_decomposition, log_loss_decomposition : the same for rows in memory.

    Notes
    -----
    Use it for rows in separate files or on separate machines. Its size grows with the number of
    distinct scores: 24 bytes each, so 10 million take 240 MB, and scores rounded to 4 digits at
    most 240 kB.

    Examples
    --------
    >>> parts = [
    ...     corp_state([0, 1], [0.1, 0.4], target="event"),
    ...     corp_state([0, 1], [0.6, 0.9], target="event"),
    ... ]
    >>> sum(parts).curve().recalibrated.tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    return corp_state.of(
        read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs),
        target=target,
    )
