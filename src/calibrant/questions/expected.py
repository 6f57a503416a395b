"""Thresholds of predicted risks, and what is expected above them, from scores without outcomes."""

import math

import numpy as np

from calibrant.questions.record import Questions

__all__ = ["LEVELS", "expected_of", "scores_beside", "thresholds_of"]

#: Predicted risks of the thresholds on a path, as multiples of the promised one.
LEVELS = np.geomspace(0.05, 4.0, 32)
#: Rows of a question from which its thresholds are learned, instead of from all questions.
ENOUGH = 20


def scores_beside(
    name: str, q: int, tested: Questions, beside: list[Questions]
) -> tuple[np.ndarray, np.ndarray]:
    """Confidences and weights of other rows of a question; of other questions, if there are too
    few.
    """
    own = [np.array([str(one) == name for one in part.question.names]) for part in beside]
    parts = [part.take(mask[part.question.index]) for part, mask in zip(beside, own, strict=True)]
    if sum(map(len, parts)) < ENOUGH:
        parts = [tested.take(tested.question.index != q), *beside]
    parts = [part for part in parts if len(part)]
    scores, weights = [part.confidence for part in parts], [part.weights for part in parts]
    return np.concatenate([np.empty(0), *scores]), np.concatenate([np.empty(0), *weights])


def expected_of(
    scores: np.ndarray, weight: np.ndarray, thresholds: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Predicted share of rows above each threshold, and of errors."""
    if not len(scores):
        share = np.linspace(0.05, 1.0, len(LEVELS))
        return share, share * np.minimum(LEVELS, 1.0) * 0.5
    above, part = scores[:, None] > thresholds, weight / weight.sum()
    return part @ above, (part * (1.0 - scores)) @ above


def thresholds_of(scores: np.ndarray, weight: np.ndarray, risks: np.ndarray) -> np.ndarray:
    """The lowest threshold above which the mean of 1 - score is at most each risk."""
    if not len(scores):
        return 1.0 - 2.0 * risks
    order = np.argsort(-scores, kind="stable")
    ordered, weight = scores[order], weight[order]
    mean = np.cumsum(weight * (1.0 - ordered)) / np.cumsum(weight)
    count = np.searchsorted(mean, risks * (1.0 + 1e-12), side="right")
    return np.append(ordered, -math.inf)[count]
