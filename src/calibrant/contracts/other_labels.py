"""Rows as they have not been seen yet: with another label."""

from dataclasses import replace
from typing import Any

import numpy as np

__all__ = ["with_other_labels"]


def with_other_labels(record: Any, weight: np.ndarray, rng: np.random.Generator) -> Any:
    """Predictions of these weights, some of whose rows have another label, drawn in proportion to the others' probabilities.

    As many rows as a row more of exponential weight stands for: none in half of the draws, one in a quarter, and so on.
    """
    count = int(rng.geometric(0.5)) - 1
    labels = record.labels.copy()
    for row in rng.choice(len(labels), count, p=weight / weight.sum()):
        others = record.probabilities[row].copy()
        others[labels[row]] = 0.0
        # The least share for each, where nothing at all is left for the others.
        others[np.arange(len(others)) != labels[row]] += 1e-12
        labels[row] = rng.choice(len(others), p=others / others.sum()) if others.sum() > 0.0 else labels[row]
    return replace(record, labels=labels, weight=weight).take(weight > 0.0)
