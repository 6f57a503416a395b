"""Whether new class rates explain new inputs as well as a change of the inputs alone does."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from calibrant.core.predictions import Predictions
from calibrant.monitoring.expected_outcomes import Moved, class_chances

__all__ = ["NewRates", "new_rates"]

#: Parts of the scores, and of the weights, by which distributions are compared.
PARTS = 10
#: Most classes of the test.
MOST_CLASSES = 10
#: New class rates remain possible unless rejected at this level.
LEVEL = 0.05
#: Steps of expectation maximisation.
STEPS = 300


@dataclass(frozen=True)
class NewRates:
    """Class rates of new rows under the assumption that the inputs given the class have not
    changed.

    Attributes
    ----------
    rates : (K,)
    weight : (n,) of the labelled rows, at these rates
    p_value : float
        p-value of the test that the new rows are a mixture of the classes.
    """

    rates: np.ndarray
    weight: np.ndarray
    p_value: float

    @property
    def possible(self) -> bool:
        """Whether the new rows do not reject them."""
        return self.p_value > LEVEL


def new_rates(old: Predictions, new: Predictions, moved: Moved, seed: int) -> NewRates | None:
    """Estimate and test new class rates; None without a change of the inputs, with more than ten
    classes, or with a class of fewer than two rows.
    """
    count = np.bincount(old.strata, minlength=old.n_classes).astype(np.float64)
    if old.n_classes > MOST_CLASSES or count.min() < 2.0 or (moved.old == moved.old[0]).all():
        return None
    alone = Moved(np.ones(len(old)), np.ones(len(new)))
    own, other = class_chances(old, new, alone, seed)
    seen = own.mean(axis=0)
    rates = seen
    for _ in range(STEPS):
        parts = other * (rates / seen)
        rates = (parts / parts.sum(axis=1, keepdims=True)).mean(axis=0)
    tests = [
        _mixture_p_value(cells, old.strata, rates)
        for cells in (_score_cells(own, other), _parts(moved.old, moved.new))
    ]
    weight = (rates * count.sum() / count)[old.strata]
    return NewRates(rates, weight, min(1.0, 2.0 * min(tests)))


def _score_cells(own: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cells of labelled and of new rows: parts of the score of two classes, or the most likely
    class and whether it is likelier than half of its rows.
    """
    if own.shape[1] == 2:
        return _parts(own[:, 1], other[:, 1])
    out = [2 * one.argmax(axis=1) for one in (own, other)]
    top = [one.max(axis=1) for one in (own, other)]
    for k in range(own.shape[1]):
        both = np.concatenate([t[c == 2 * k] for t, c in zip(top, out, strict=True)])
        middle = np.median(both) if len(both) else 0.0
        for t, c in zip(top, out, strict=True):
            c[(c == 2 * k) & (t > middle)] += 1
    return out[0], out[1]


def _parts(own: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    edges = np.quantile(np.concatenate([own, other]), np.arange(1, PARTS) / PARTS)
    return np.searchsorted(edges, own), np.searchsorted(edges, other)


def _inverse(matrix: np.ndarray) -> np.ndarray:
    return np.linalg.pinv(matrix, rcond=1e-9, hermitian=True)


def _mixture_p_value(cells: Any, labels: np.ndarray, rates: np.ndarray) -> float:
    """The p-value of the minimum chi-squared test that the new rows' shares of the cells are a
    mixture of those of the classes.
    """
    own, other = cells
    n_cells, k = int(max(own.max(), other.max())) + 1, len(rates)
    count = np.bincount(labels * n_cells + own, minlength=k * n_cells).reshape(k, n_cells)
    used = count.sum(axis=0) + np.bincount(other, minlength=n_cells) > 0.0
    count = count[:, used]
    each = count.sum(axis=1, keepdims=True)
    share, new = count / each, np.bincount(other, minlength=n_cells)[used] / len(other)
    mixed = rates @ share
    spread = (np.diag(mixed) - np.outer(mixed, mixed)) / len(other)
    for rate, one, rows in zip(rates, share, each[:, 0], strict=True):
        spread += rate**2 * (np.diag(one) - np.outer(one, one)) / rows
    inverse = _inverse(spread)
    # The rates that fit best, whose sum is 1.
    directions = (share[:-1] - share[-1]).T
    gap = new - mixed
    moment = directions.T @ inverse
    left = gap - directions @ (_inverse(moment @ directions) @ (moment @ gap))
    freedom = int(used.sum()) - k
    distance = float(left @ inverse @ left)
    return float(special.chdtrc(freedom, distance)) if freedom > 0 else 1.0  # pyright: ignore
