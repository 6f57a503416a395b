"""Pooling adjacent violators on tied scores, and what to do with blocks of exact 0 and 1."""

from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression

from calibrant._kernels.ties import distinct_scores, near_ties

__all__ = ["pool_ties", "pooled_blocks", "pooled_blocks_of", "smooth_ends"]


def pool_ties(score: np.ndarray, correct: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores ascending that differ by more than rounding, their total weights, and their weighted mean outcomes: three (m,) arrays."""
    step = np.diff(score)
    if (step >= 0.0).all() and len(near_ties(score)) == np.count_nonzero(step) + 1:  # sorted once for several maps
        first = np.flatnonzero(np.append(True, step > 0.0))
        mass = np.add.reduceat(weight, first)
        return score[first], mass, np.add.reduceat(weight * correct, first) / mass
    unique, inverse = distinct_scores(score)
    mass = np.bincount(inverse, weights=weight)
    return unique, mass, np.bincount(inverse, weights=weight * correct) / mass


def pooled_blocks(mean: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Isotonic fit as blocks: (first position of each block, last position, value in [0, 1], mass)."""
    fit = isotonic_regression(mean, weights=mass)
    first, last = fit.blocks[:-1], fit.blocks[1:] - 1
    return first, last, np.clip(fit.x[first], 0.0, 1.0), np.add.reduceat(mass, first)


def pooled_blocks_of(mean: np.ndarray, mass: np.ndarray):
    """Isotonic fit of any real means as blocks: (first position of each block, value, mass)."""
    fit = isotonic_regression(mean, weights=mass)
    first = fit.blocks[:-1]
    return first, fit.x[first], np.add.reduceat(mass, first)


def smooth_ends(value: Any, mass: np.ndarray):
    """Laplace's estimate for a first block of 0 and a last block of 1, kept between the neighbouring blocks."""
    value = value.copy()
    inner_low = value[1] if len(value) > 1 else 1.0
    inner_high = value[-2] if len(value) > 1 else 0.0
    if value[0] <= 0.0:
        value[0] = min(1.0 / (mass[0] + 2.0), 0.5 * inner_low if inner_low < 1.0 else 1.0)
    if value[-1] >= 1.0:
        value[-1] = max(1.0 - 1.0 / (mass[-1] + 2.0), 0.5 + 0.5 * inner_high if inner_high > 0.0 else 0.0)
    return value
