"""A proper score in three parts: miscalibration, discrimination, uncertainty."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.pava import pool_ties, pooled_blocks
from calibrant._kernels.softmax import ZERO_FLOOR
from calibrant.contracts.reading import read_labelled
from calibrant.errors import InputError
from calibrant.predictions import Inputs

__all__ = ["ScoreDecomposition", "brier_decomposition", "corp", "corp_of", "log_loss_decomposition"]


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
    y_true: ArrayLike, P: ArrayLike, *, target: int | str = "classes", sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None, inputs: Inputs = "probability",
) -> ScoreDecomposition:  # fmt: skip
    r"""The Brier score as miscalibration - discrimination + uncertainty (CORP), exactly, with ties and weights.

    .. math:: S = \underbrace{S(p) - S(\hat p)}_{MCB} - \underbrace{(S(\bar y) - S(\hat p))}_{DSC} + \underbrace{S(\bar y)}_{UNC}

    with p-hat the isotonic fit of the outcomes on the scores.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : {"classes", "answer", "event"} or a class label
        "classes" adds up the classes, each with its own isotonic fit: the sum is the multiclass ``brier_score``. The others decompose
        the squared error of one probability, which for two classes is half of it.
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
    The isotonic fit is on the same rows, so the miscalibration of a calibrated model is a little above 0 in small samples.

    References
    ----------
    Dimitriadis, Gneiting and Jordan, "Stable reliability diagrams for probabilistic classifiers", PNAS 2021.

    Examples
    --------
    >>> parts = brier_decomposition([0, 1, 0, 1], [0.1, 0.6, 0.6, 0.9], target="event")
    >>> round(parts.score, 3), round(parts.miscalibration, 3), parts.discrimination, parts.uncertainty
    (0.135, 0.01, 0.125, 0.25)
    """
    return _decomposed(y_true, P, target, "brier", sample_weight, classes, inputs)


def log_loss_decomposition(
    y_true: ArrayLike, P: ArrayLike, *, target: str = "answer", sample_weight: ArrayLike | None = None, classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> ScoreDecomposition:  # fmt: skip
    """The log loss of one probability as miscalibration - discrimination + uncertainty (CORP), exactly, with ties and weights.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : {"answer", "event"} or a class label
        Whose probability. There is no "classes": isotonic fits of several classes do not sum to 1, so they have no log loss together.
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
    Dimitriadis, Gneiting and Jordan, "Stable reliability diagrams for probabilistic classifiers", PNAS 2021.

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
        raise InputError('target="classes" is the name of a question and of a class; give the class another name.')
    if not whole:
        return ScoreDecomposition(*corp(*record.pair(target), record.weights, score))
    parts = [
        corp(record.probabilities[:, k], (record.labels == k).astype(np.float64), record.weights, score) for k in range(record.n_classes)
    ]
    return ScoreDecomposition(*(float(sum(column)) for column in zip(*parts, strict=True)))


def corp(score: np.ndarray, hit: np.ndarray, weight: np.ndarray, kind: str) -> tuple[float, float, float, float]:
    """(score, miscalibration, discrimination, uncertainty) of the "brier" score or the "log_loss"."""
    return corp_of(*pool_ties(score, hit, weight), kind)


def corp_of(unique: np.ndarray, mass: np.ndarray, mean: np.ndarray, kind: str) -> tuple[float, float, float, float]:
    """The same of distinct scores, ascending, their weights and mean outcomes, (m,) each."""
    first, last, value, _ = pooled_blocks(mean, mass)
    fitted = np.repeat(value, last - first + 1)
    loss = _brier if kind == "brier" else _log
    total = mass.sum()
    given, recalibrated, base = (float(loss(p, mean, mass) / total) for p in (unique, fitted, np.full_like(mean, mass @ mean / total)))
    return given, given - recalibrated, base - recalibrated, base


def _brier(p, mean, mass):
    return mass @ ((p - mean) ** 2 + mean * (1.0 - mean))


def _log(p, mean, mass):
    """Sum of the log losses, 0 log 0 = 0; an impossible outcome that happened counts as of probability 1e-12."""
    right, wrong = np.maximum(p, ZERO_FLOOR), np.maximum(1.0 - p, ZERO_FLOOR)
    return -(mass @ (mean * np.log(right) + (1.0 - mean) * np.log(wrong)))
