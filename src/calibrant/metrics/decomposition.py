"""Proper scores taken apart: miscalibration, discrimination, uncertainty, and what no
recalibration mends.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from calibrant._kernels.bootstrap import bootstrap_totals, draw_hits, percentile_limits
from calibrant._kernels.isotonic import pool_ties, pooled_blocks
from calibrant._kernels.softmax import ZERO_FLOOR
from calibrant._support.options import require_option
from calibrant.contracts.base_metric import by_options
from calibrant.contracts.metric import Interval
from calibrant.contracts.reading import read_labelled
from calibrant.errors import InputError
from calibrant.metrics.pair import PairMetric
from calibrant.predictions import Inputs

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
        What isotonic recalibration would gain (MCB), never negative.
    discrimination : float
        What the recalibrated probabilities gain over the base rate (DSC), never negative.
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
    r"""The Brier score as miscalibration - discrimination + uncertainty (CORP), exactly, with ties
    and weights.

    .. math:: S = \underbrace{S(p) - S(\hat p)}_{MCB} - \underbrace{(S(\bar y) - S(\hat p))}_{DSC}
        + \underbrace{S(\bar y)}_{UNC}

    with p-hat the isotonic fit of the outcomes on the scores.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : {"classes", "answer", "event"} or a class label
        "classes" adds up the classes, each with its own isotonic fit: the sum is the multiclass
        ``brier_score``. The others decompose the squared error of one probability, which for two
        classes is half of it.
    sample_weight : (n,), optional
        Weight 2 means the row twice, weight 0 no row.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    ScoreDecomposition

    Raises
    ------
    InputError
        When the predictions cannot be read or the target is unknown.

    See Also
    --------
    log_loss_decomposition : the same of the log loss.
    isotonic_curve : the recalibration that it rests on.

    Notes
    -----
    The isotonic fit is on the same rows, so the miscalibration of a calibrated model is a little
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
    """The log loss of one probability as miscalibration - discrimination + uncertainty (CORP),
    exactly, with ties and weights.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : {"answer", "event"} or a class label
        Whose probability. There is no "classes": isotonic fits of several classes do not sum to 1,
        so they have no log loss together.
    sample_weight : (n,), optional
        Weight 2 means the row twice, weight 0 no row.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    ScoreDecomposition

    Raises
    ------
    InputError
        When the predictions cannot be read or the target is unknown.

    See Also
    --------
    brier_decomposition : the same of the Brier score.
    isotonic_curve : the recalibration that it rests on.

    Notes
    -----
    A probability of exactly 0 for what happened counts as 1e-12, so the score is finite.

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
            'target="classes" is the name of a question and of a class; give the class another'
            " name."
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
    """The same of distinct scores, ascending, their weights and mean outcomes, (m,) each."""
    first, last, value, _ = pooled_blocks(mean, mass)
    fitted = np.repeat(value, last - first + 1)
    loss = _brier if kind == "brier" else _log
    total = mass.sum()
    given, recalibrated, base = (
        float(loss(p, mean, mass) / total)
        for p in (unique, fitted, np.full_like(mean, mass @ mean / total))
    )
    return given, given - recalibrated, base - recalibrated, base


def _brier(p, mean, mass):
    return mass @ ((p - mean) ** 2 + mean * (1.0 - mean))


def _log(p, mean, mass):
    """Sum of the log losses, 0 log 0 = 0; an impossible outcome that happened counts as of
    probability 1e-12.
    """
    right, wrong = np.maximum(p, ZERO_FLOOR), np.maximum(1.0 - p, ZERO_FLOOR)
    return -(mass @ (mean * np.log(right) + (1.0 - mean) * np.log(wrong)))


class RefinementError(
    PairMetric,
    name="refinement error",
    key="refinement_error",
    clustered=True,
    estimand="score left after isotonic recalibration on ever more rows",
    direction="minimize",
    range=(0.0, 1.0),
    examples=({"target": "event", "score": "log_loss"},),
):
    r"""Score that is left when the probabilities are recalibrated by isotonic regression:
    uncertainty less discrimination.

    .. math:: S(\hat p) = \mathrm{UNC} - \mathrm{DSC}, \quad \hat p = \text{isotonic fit of the
        hits on the scores}

    Parameters
    ----------
    target : {"answer", "event"} or a class label, default "answer"
        Whose probability: the predicted label's against its being right, class 1's of two, or the
        named class's.
    score : {"brier", "log_loss"}
        The squared error (p - c)^2, or the log loss.

    See Also
    --------
    brier_decomposition, log_loss_decomposition : both parts of a score.

    Notes
    -----
    Use it to choose what to train, and let a calibrator take care of the rest. The fit is on the
    same rows, so it is a little too low in small samples, the more so the more distinct scores
    there are; the interval allows for that.

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

    #: It is not an error that chance inflates, so resampling serves.
    inverted: ClassVar[bool] = False

    def _exceptions(self) -> Mapping[str, str]:
        """Certain and wrong every time is as well refined, for the top label, as certain and
        right: recalibration mends it.
        """
        return (
            {"perfect_is_best": "recalibration mends certain and wrong every time"}
            if self.target == "answer"
            else {}
        )

    exceptions: ClassVar[Mapping[str, str]] = by_options(_exceptions)

    def _check(self):
        require_option("score", self.score, ("brier", "log_loss"))

    def _pair_value(self, score, hit, weight):
        _, _, discrimination, uncertainty = corp(score, hit, weight, self.score)
        return max(uncertainty - discrimination, 0.0)

    def _interval(self, record, level, method, n_resamples, random_state):
        found = super()._interval(record, level, method, n_resamples, random_state)
        if method != "auto":
            return found
        # How far a fit falls below its own truth: outcomes drawn from the fit, one row of the base
        # rate joined to each of its levels.
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

    def _shortfall(self, score, fitted, times, rng):
        """The score that the fit would have for good, less that of a new fit to outcomes drawn
        from it, on so many of each row.
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


def _joined_fit(score, hit, weight):
    """The isotonic fit at each row, a row of the base rate joined to each of its levels, (n,)."""
    unique, mass, mean = pool_ties(score, hit, weight)
    first, last, value, _ = pooled_blocks(mean, mass)
    level = np.repeat(np.arange(len(value)), last - first + 1)
    rows = np.bincount(level, weights=mass)
    joined = (value * rows + weight @ hit / weight.sum()) / (rows + 1.0)
    return joined[level][np.searchsorted(unique, score)]


refinement_error: RefinementError = RefinementError()
