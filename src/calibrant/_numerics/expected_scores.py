"""Accuracy, losses, F1 and AUROC of rows whose labels are known by their probabilities only.

Every row has a mass for each class, whose sum over all rows is 1. Each function returns the value
and its derivatives by the masses, so that a standard error follows.
"""

import numpy as np

__all__ = ["expected_auroc", "expected_f1", "expected_mean"]


def expected_mean(mass: np.ndarray, loss: np.ndarray) -> tuple[float, np.ndarray]:
    """(value, (n, K) derivatives) of the mean loss: sum of mass times loss, both (n, K)."""
    value = float(np.einsum("ij,ij->", mass, loss))
    return value, loss - value


def expected_f1(mass: np.ndarray, chosen: np.ndarray) -> tuple[float, np.ndarray]:
    """(value, (n, 2) derivatives) of F1 as a ratio of expectations, where ``chosen`` (n,) are the
    rows that the model names positive.
    """
    total = float(mass[chosen].sum() + mass[:, 1].sum())
    if not total > 0.0:
        return np.nan, np.zeros(mass.shape)
    value = 2.0 * float(mass[chosen, 1].sum()) / total
    second = (2.0 * chosen - value * (chosen + 1.0)) / total
    return value, np.column_stack([-value * chosen / total, second])


def expected_auroc(
    mass: np.ndarray, score: np.ndarray, own: float = 0.0
) -> tuple[float, np.ndarray]:
    """(value, (n, 2) derivatives) of the probability that a positive row has a higher score than a
    negative one; ties count half.

    ``own`` is the sum of the products of both masses of each row that is one and the same row: a
    row is not compared with itself.
    """
    _, place = np.unique(score, return_inverse=True)
    at = np.array([np.bincount(place, weights=part) for part in mass.T])
    upto = np.cumsum(at, axis=1)
    below = upto[0] - 0.5 * at[0]
    above = upto[1, -1] - upto[1] + 0.5 * at[1]
    pairs = float(upto[0, -1] * upto[1, -1]) - own
    if not pairs > 0.0:
        return np.nan, np.zeros(mass.shape)
    value = (float(mass[:, 1] @ below[place]) - 0.5 * own) / pairs
    first = (above[place] - value * upto[1, -1]) / pairs
    return value, np.column_stack([first, (below[place] - value * upto[0, -1]) / pairs])
