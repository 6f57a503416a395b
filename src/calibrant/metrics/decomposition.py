"""Decompositions of proper scores into miscalibration, discrimination and uncertainty; refinement
error.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import special

from calibrant._numerics.bootstrap import bootstrap_totals, draw_hits, percentile_limits
from calibrant._numerics.isotonic import pool_ties, pooled_blocks
from calibrant._numerics.logistic import ZERO_FLOOR
from calibrant.core.arrays import ArrayLike
from calibrant.core.estimators import require_option
from calibrant.core.given import Inputs
from calibrant.core.metric import by_options
from calibrant.core.metric_kinds import Interval
from calibrant.core.reading import read_labelled
from calibrant.errors import InputError
from calibrant.metrics.events import PairMetric

__all__ = [
    "RefinementError",
    "ScoreDecomposition",
    "brier_decomposition",
    "corp",
    "corp_of",
    "log_loss_decomposition",
    "refinement_error",
]


@dataclass(frozen=True)
class ScoreDecomposition:
    """A score S and its parts: S = miscalibration - discrimination + uncertainty.

    Attributes
    ----------
    score : float
    miscalibration : float
        The gain of isotonic recalibration (MCB), never negative.
    discrimination : float
        The gain of the recalibrated probabilities over the base rate (DSC), never negative.
    uncertainty : float
        The score of the base rate (UNC).
    """

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float


def brier_decomposition(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    target: int | str = "classes",
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> ScoreDecomposition:
    r"""Decompose the Brier score exactly as miscalibration - discrimination + uncertainty (CORP),
    with ties and weights.

    .. math:: S = \underbrace{S(p) - S(\hat p)}_{MCB} - \underbrace{(S(\bar y) - S(\hat p))}_{DSC}
        + \underbrace{S(\bar y)}_{UNC}

    Here p-hat is the isotonic fit of the outcomes on the scores.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : {"classes", "answer", "event"} or a class label
        "classes" adds up the classes, each with its own isotonic fit: the sum is the multiclass
        ``brier_score``. The others decompose the squared error of one probability, which for two
        classes is half of it.
    sample_weight : (n,), optional
        Weight 2 counts a row twice; weight 0 drops it.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    ScoreDecomposition

    Raises
    ------
    InputError
        When the predictions are invalid or the target is unknown.

    See Also
    --------
    log_loss_decomposition : the decomposition of the log loss.
    isotonic_curve : the recalibration that it uses.

    Notes
    -----
    The isotonic fit uses the same rows, so the miscalibration of a calibrated model is slightly
    above 0 in small samples.

    References
    ----------
    Dimitriadis, Gneiting and Jordan, "Stable reliability diagrams for probabilistic classifiers",
    PNAS 2021.

    Examples
    --------
    >>> parts = brier_decomposition([0, 1, 0, 1], [0.1, 0.6, 0.6, 0.9], target="event")
    >>> (
    ...     round(parts.score, 3),
    ...     round(parts.miscalibration, 3),
    ...     parts.discrimination,
    ...     parts.uncertainty,
    ... )
    (0.135, 0.01, 0.125, 0.25)
    """
    return _decomposed(y_true, P, target, "brier", sample_weight, classes, inputs)


def log_loss_decomposition(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    target: str = "answer",
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> ScoreDecomposition:
    """Decompose the log loss of one probability exactly as miscalibration - discrimination +
    uncertainty (CORP), with ties and weights.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : {"answer", "event"} or a class label
        The probability to evaluate. "classes" is not available: isotonic fits of several classes do
        not sum to 1, so they have no joint log loss.
    sample_weight : (n,), optional
        Weight 2 counts a row twice; weight 0 drops it.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    ScoreDecomposition

    Raises
    ------
    InputError
        When the predictions are invalid or the target is unknown.

    See Also
    --------
    brier_decomposition : the decomposition of the Brier score.
    isotonic_curve : the recalibration that it uses.

    Notes
    -----
    A probability of exactly 0 for the observed outcome counts as 1e-12, so the score is finite.

    References
    ----------
    Dimitriadis, Gneiting and Jordan, "Stable reliability diagrams for probabilistic classifiers",
    PNAS 2021.

    Examples
    --------
    >>> parts = log_loss_decomposition([0, 1, 0, 1], [0.1, 0.5, 0.5, 0.9], target="event")
    >>> round(parts.miscalibration - parts.discrimination + parts.uncertainty - parts.score, 12)
    0.0
    """
    return _decomposed(y_true, P, target, "log_loss", sample_weight, classes, inputs)


def _decomposed(y_true, P, target, score, sample_weight, classes, inputs):
    record = read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs)
    whole = score == "brier" and isinstance(target, str) and target == "classes"
    if whole and target in record.classes.tolist():
        raise InputError(
            'target="classes" is ambiguous, because a class has that name; rename the class.'
        )
    if not whole:
        return ScoreDecomposition(*corp(*record.pair(target), record.weights, score))
    parts = [
        corp(
            record.probabilities[:, k],
            (record.labels == k).astype(np.float64),
            record.weights,
            score,
        )
        for k in range(record.n_classes)
    ]
    return ScoreDecomposition(*(float(sum(column)) for column in zip(*parts, strict=True)))


def corp(
    score: np.ndarray, hit: np.ndarray, weight: np.ndarray, kind: str
) -> tuple[float, float, float, float]:
    """(score, miscalibration, discrimination, uncertainty) of the "brier" score or the
    "log_loss".
    """
    return corp_of(*pool_ties(score, hit, weight), kind)


def corp_of(
    unique: np.ndarray, mass: np.ndarray, mean: np.ndarray, kind: str
) -> tuple[float, float, float, float]:
    """The same from distinct scores, ascending, their weights and mean outcomes, (m,) each."""
    first, last, value, _ = pooled_blocks(mean, mass)
    fitted = np.repeat(value, last - first + 1)
    loss = _brier if kind == "brier" else _log
    total = mass.sum()
    given, recalibrated, base = (
        float(loss(p, mean, mass) / total)
        for p in (unique, fitted, np.full_like(mean, mass @ mean / total))
    )
    return given, given - recalibrated, base - recalibrated, base


def _brier(p: np.ndarray, mean: np.ndarray, mass: np.ndarray) -> Any:
    return mass @ ((p - mean) ** 2 + mean * (1.0 - mean))


def _log(p: np.ndarray, mean: np.ndarray, mass: np.ndarray) -> Any:
    """Sum of the log losses, with 0 log 0 = 0; an observed outcome of probability 0 counts as
    1e-12.
    """
    right, wrong = np.maximum(p, ZERO_FLOOR), np.maximum(1.0 - p, ZERO_FLOOR)
    return -(mass @ (mean * np.log(right) + (1.0 - mean) * np.log(wrong)))


class RefinementError(
    PairMetric,
    name="refinement error",
    key="refinement_error",
    clustered=True,
    estimand="score that remains after isotonic recalibration as the number of rows grows",
    direction="minimize",
    range=(0.0, 1.0),
    examples=({"target": "event", "score": "log_loss"},),
):
    r"""Score that remains after isotonic recalibration of the probabilities: uncertainty minus
    discrimination.

    .. math:: S(\hat p) = \mathrm{UNC} - \mathrm{DSC}, \quad \hat p = \text{isotonic fit of the
        hits on the scores}

    Parameters
    ----------
    target : {"answer", "event"} or a class label, default "answer"
        The probability to evaluate: the predicted label's (against whether it is correct), class
        1's of two, or the named class's.
    score : {"brier", "log_loss"}
        The squared error (p - c)^2, or the log loss.

    See Also
    --------
    brier_decomposition, log_loss_decomposition : all parts of a score.

    Notes
    -----
    Use it to select the model to train if a calibrator corrects the miscalibration later. The fit
    uses the same rows, so the value is slightly too low in small samples, more so with many
    distinct scores. The interval accounts for that.

    References
    ----------
    Dimitriadis, Gneiting and Jordan, "Stable reliability diagrams for probabilistic classifiers",
    PNAS 2021; Berta et al., "Rethinking early stopping: refine, then calibrate", 2025.

    Examples
    --------
    >>> refinement_error([0, 1, 0, 1], [0.1, 0.2, 0.2, 0.3], target="event")
    0.125
    """

    target: Any = "answer"
    score: Literal["brier", "log_loss"] = "brier"

    #: Chance does not inflate it, as it does a calibration error, so resampling works.
    inverted: ClassVar[bool] = False

    def _exceptions(self) -> Mapping[str, str]:
        """Recalibration corrects top labels that are certain and always wrong, so they score as
        well as correct ones.
        """
        return (
            {"perfect_is_best": "recalibration corrects certain, always wrong predictions"}
            if self.target == "answer"
            else {}
        )

    exceptions: ClassVar[Mapping[str, str]] = by_options(_exceptions)

    def _check(self) -> None:
        require_option("score", self.score, ("brier", "log_loss"))

    def _pair_value(self, score: np.ndarray, hit: np.ndarray, weight: np.ndarray) -> float:
        _, _, discrimination, uncertainty = corp(score, hit, weight, self.score)
        return max(uncertainty - discrimination, 0.0)

    def _interval(
        self, record: Any, level: float, method: str, n_resamples: int, random_state: int
    ) -> Interval:
        found = super()._interval(record, level, method, n_resamples, random_state)
        if method != "auto":
            return found
        # Estimates how far a fit falls below the true score, from outcomes drawn from the fit with
        # one row of the base rate added to each level.
        score, hit = record.pair(self.target)
        weight, rng = record.weights, np.random.default_rng([random_state, 2])
        fitted = _joined_fit(score, hit, weight)
        below = bootstrap_totals(
            weight,
            lambda times: self._shortfall(score, fitted, times, rng),
            n_resamples,
            random_state,
        )
        low, high = percentile_limits(found.value + below, level)
        return Interval.holding(
            found.value,
            (max(min(low, found.low), 0.0), max(high, found.high)),
            level,
            "bootstrap",
            found.n,
        )

    def _shortfall(
        self, score: np.ndarray, fitted: np.ndarray, times: np.ndarray, rng: Any
    ) -> float:
        """Score of the fit on new data minus that of a refit to outcomes drawn from it, with this
        many copies of each row.
        """
        kept = times > 0.0
        score, fitted, times = score[kept], fitted[kept], times[kept]
        entropy = (
            special.entr(fitted) + special.entr(1.0 - fitted)
            if self.score == "log_loss"
            else fitted * (1.0 - fitted)
        )
        return float(times @ entropy / times.sum()) - self._pair_value(
            score, draw_hits(fitted, times, rng), times
        )


def _joined_fit(score: np.ndarray, hit: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Isotonic fit at each row, (n,), with one row of the base rate added to each of its levels."""
    unique, mass, mean = pool_ties(score, hit, weight)
    first, last, value, _ = pooled_blocks(mean, mass)
    level = np.repeat(np.arange(len(value)), last - first + 1)
    rows = np.bincount(level, weights=mass)
    joined = (value * rows + weight @ hit / weight.sum()) / (rows + 1.0)
    return joined[level][np.searchsorted(unique, score)]


refinement_error: RefinementError = RefinementError()
