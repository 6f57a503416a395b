"""Test of loaded objects on synthetic rows: a broken state fails at load, not at predict."""

from copy import copy
from functools import singledispatch
from typing import Any

import numpy as np

__all__ = ["require_valid", "trial", "trial_options", "trial_rows", "with_few_draws"]

#: Rows of a trial: one for each class up to this many, so that the state of each class is used.
MOST_CLASSES = 64
#: Random draws of a trial: a forged number of draws could take any time.
MOST_DRAWS = 100


@singledispatch
def trial(fitted: Any) -> None:
    """Run a fitted object once; raises if its state is broken. Templates register their trial;
    other objects have none.
    """


def with_few_draws(fitted: Any) -> Any:
    """Return the object, or a copy with fewer draws if it declares many."""
    draws = getattr(fitted, "n_draws", None)
    if not isinstance(draws, int) or draws <= MOST_DRAWS:
        return fitted
    out = copy(fitted)
    out.n_draws = MOST_DRAWS
    return out


def trial_rows(n_classes: int, inputs: str, slow: bool = False) -> np.ndarray:
    """(m, K) probabilities (or logits): each class likely once, one row of equal ones, one
    certain.
    """
    few = min(n_classes, 2 if slow else MOST_CLASSES)
    rows = np.full((few + 2, n_classes), 0.3 / n_classes)
    rows[np.arange(few), np.arange(few)] += 0.7
    rows[-2], rows[-1] = 1.0 / n_classes, np.arange(n_classes) == n_classes - 1
    return rows if inputs == "probability" else np.log(np.maximum(rows, 1e-9))


def trial_options(fitted: Any, n: int) -> dict[str, np.ndarray]:
    """``X`` for an object that uses features: (n, d) zeros if its stored points have d features;
    else none.
    """
    if not fitted.tags.uses_features:
        return {}
    held = [
        getattr(fitted, f"{name}_") for name in ("signal", "signals") if hasattr(fitted, name)
    ] or fitted
    signal = next((part for part in _parts(held) if hasattr(part, "index_")), None)
    if signal is None or signal.features is not None:
        return {}
    return {"X": np.zeros((n, signal.index_.points_.n_features))}


def _parts(value: Any) -> Any:
    """The object, and all objects in its attributes, lists and dicts."""
    if isinstance(value, list | tuple | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _parts(each)
    elif hasattr(value, "__dict__"):
        yield value
        yield from _parts(vars(value))


def require_valid(
    values: np.ndarray, shape: tuple[int, ...], low: float = -np.inf, high: float = np.inf
) -> None:
    """ValueError unless the values are finite numbers of this shape within the limits."""
    values = np.asarray(values)
    if (
        values.shape != shape
        or values.dtype.kind != "f"
        or not np.isfinite(values).all()
        or (values < low).any()
        or (values > high).any()
    ):
        raise ValueError(
            f"it gives {values.dtype} of shape {values.shape} for {shape}, or numbers out of range"
        )
