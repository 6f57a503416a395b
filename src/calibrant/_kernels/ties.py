"""Scores that differ by no more than rounding are one score: a step between them would fall to another side in every language."""

from typing import Any

import numpy as np

__all__ = ["ROUNDING", "distinct_scores", "flat_knots", "just_above", "just_below", "near_ties", "settled"]

#: Computed in another order or by another exponential, scores differ by some units of their last place: half of this, at most.
ROUNDING = 2.0**-48
#: Small probabilities keep their digits; only relatively this near are they one.
NEAREST = 2.0**-26


def _width(score: Any) -> Any:
    """The distance up to which a computed score may be off, (n,) -> (n,)."""
    size = np.abs(score)
    return np.minimum(ROUNDING * np.maximum(size, 1.0), NEAREST * size)


def just_below(knots: np.ndarray) -> np.ndarray:
    """Edges so far below the knots, (m,) -> (m,), that a score which differs from a knot by rounding is not below its edge."""
    return knots - _width(knots)


def just_above(knots: np.ndarray) -> np.ndarray:
    """Edges so far above the knots, (m,) -> (m,), that a score which differs from a knot by rounding is not above its edge."""
    return knots + _width(knots)


def flat_knots(first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """The ends of flat blocks, (2 m,), from the first and the last score of each, (m,): a score off by rounding stays on its block."""
    return np.column_stack([just_below(first), just_above(last)]).ravel()


def near_ties(unique: np.ndarray) -> np.ndarray:
    """Positions of the first of each run of ascending scores (m,) that differ by rounding.

    Runs are twice as far apart as edges are from their knots, so that no edge comes near a score of another run.
    """
    with np.errstate(invalid="ignore"):
        return np.flatnonzero(np.append(True, np.diff(unique) > 2.0 * _width(unique[1:])))


def distinct_scores(score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(distinct scores ascending (m,), place of each score among them (n,)); the middle of a run stands for it."""
    unique, inverse = np.unique(score, return_inverse=True)
    first = near_ties(unique)
    if len(first) == len(unique):
        return unique, inverse
    last = np.append(first[1:], len(unique)) - 1
    run = np.repeat(np.arange(len(first)), last - first + 1)
    return unique[first] + 0.5 * (unique[last] - unique[first]), run[inverse]


def settled(score: np.ndarray) -> np.ndarray:
    """The scores (n,), and 0 where rounding alone keeps a difference from 0."""
    return np.where(score * score >= ROUNDING**2, score, 0.0)
