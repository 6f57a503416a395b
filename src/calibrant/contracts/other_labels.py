"""Rows as they have not been seen yet: with another label."""

from collections.abc import Callable
from typing import Any

import numpy as np

from calibrant._kernels.bootstrap import bootstrap_totals

__all__ = ["other_draws"]


def other_draws(
    record: Any, value: Callable[..., float], n_resamples: int, random_state: int
) -> np.ndarray:
    """``value(weight, labels=...)`` on resamples of the rows, (n_resamples,), some of them with
    another label.
    """
    rng = np.random.default_rng([random_state, 1])
    return bootstrap_totals(
        record.weights,
        lambda w: value(w, labels=_other_labels(record, w, rng)),
        n_resamples,
        random_state,
    )


def _other_labels(record: Any, weight: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labels of predictions of these weights, (n,), some of them another one, drawn in proportion
    to the others' probabilities.

    As many rows as a row more of exponential weight stands for: none in half of the draws, one in a
    quarter, and so on.
    """
    count = int(rng.geometric(0.5)) - 1
    labels = record.labels.copy()
    for row in rng.choice(len(labels), count, p=weight / weight.sum()):
        others = record.probabilities[row].copy()
        others[labels[row]] = 0.0
        # The least share for each, where nothing at all is left for the others.
        others[np.arange(len(others)) != labels[row]] += 1e-12
        labels[row] = (
            rng.choice(len(others), p=others / others.sum()) if others.sum() > 0.0 else labels[row]
        )
    return labels
