"""The laws that several tables share, and how their shares are counted."""

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = [
    "Draw",
    "Line",
    "asked",
    "counted_by_truth",
    "holds",
    "mild",
    "mixed",
    "share",
    "sharp",
    "sigmoid",
]

#: What is counted, the share found, and what it should be.
Line = tuple[str, float, str]
Draw = Callable[[np.random.Generator, int], np.ndarray]


def sigmoid(z: Any) -> Any:
    """The logistic function."""
    return 1.0 / (1.0 + np.exp(-np.asarray(z)))


def share(found: Callable[[int], bool], repeats: int) -> float:
    """Of the seeds, those for which it is so."""
    return sum(bool(found(seed)) for seed in range(repeats)) / repeats


def sharp(rng: np.random.Generator, n: int) -> np.ndarray:
    """Log-odds of a model that is right to be sure."""
    return rng.choice([-1.0, 1.0], n) * rng.normal(5.0, 1.5, n)


def mild(rng: np.random.Generator, n: int) -> np.ndarray:
    """Log-odds of a standard normal law."""
    return rng.normal(0.0, 1.0, n)


def mixed(rng: np.random.Generator, n: int) -> np.ndarray:
    """One row in twenty is sure."""
    return np.where(rng.random(n) < 0.05, rng.choice([-7.0, 7.0], n), rng.normal(0.0, 1.0, n))


def asked(function: Callable[..., Any], given: dict[str, Any], **options: Any) -> Any:
    """What a metric or test answers for ``{"y", "p", and its other arguments}``."""
    rest = {name: value for name, value in given.items() if name not in ("y", "p")}
    return function(given["y"], given["p"], **rest, **options)


def holds(metric: Any, truth: float, given: dict[str, Any]) -> bool:
    """Whether the metric's interval holds the truth."""
    found = asked(metric.interval, given, n_resamples=200)
    return bool(found.low <= truth <= found.high)


def counted_by_truth(metric: Any, said: np.ndarray, true: np.ndarray) -> float:
    """The metric on these rows, both labels of each counted by their true probability."""
    weight = np.column_stack([1.0 - true, true]).ravel()
    return float(metric(np.tile([0, 1], len(said)), np.repeat(said, 2), sample_weight=weight))
