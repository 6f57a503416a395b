"""Probabilities of labels and expected sizes of errors, of new rows, and of labelled rows by fits
without their fold; and new class rates as an explanation of new inputs.

The question is whether they explain the inputs as well as a change of the inputs alone does.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from calibrant._numerics.logistic import clipped_log_odds, fit_logistic, sigmoid
from calibrant.calibrators.matrix import VectorScaling
from calibrant.core.folds import fit_clone, stratified_folds
from calibrant.core.predictions import Predictions

__all__ = ["Moved", "NewRates", "class_chances", "error_sizes", "log_odds_of_second", "new_rates"]


# Neither scikit-learn nor SciPy ship types.
# pyright: basic


FOLDS = 5
#: Rows' worth of evidence against a curve, and against a slope along the weights.
RIDGE = 1.0
#: Effective number of rows at which fits use half of the weights.
EVEN = 100.0
#: Probabilities this near to 0 or 1 count as one.
NEAR = 1e-6
#: Share of labelled rows at either end whose weights do not move the fit any further.
OUTER = 0.02
#: Standard units beyond which the curve of the log-odds is straight.
STRAIGHT = 3.0


@dataclass(frozen=True)
class Moved:
    """Out-of-fold importance weights of labelled rows (n,) and of new rows (m,)."""

    old: np.ndarray
    new: np.ndarray

    @property
    def for_fits(self) -> np.ndarray:
        """Weights of the labelled rows in fits: nearer to 1 the fewer rows they are worth."""
        worth = float(self.old.sum() ** 2 / (self.old @ self.old))
        share = worth / (worth + EVEN)
        return share * self.old * (len(self.old) / self.old.sum()) + 1.0 - share

    def directions(self) -> tuple[np.ndarray, np.ndarray]:
        """Standardised logarithms of the weights, within the range of nearly all labelled rows, so
        that nothing is extrapolated; zeros if they do not differ.
        """
        old, new = (np.log(np.maximum(values, NEAR)) for values in (self.old, self.new))
        spread = float(np.append(old, new).std())
        if spread <= NEAR:
            return np.zeros(len(old)), np.zeros(len(new))
        low, high = np.quantile(old, [OUTER, 1.0 - OUTER])
        centre = old.mean()
        clipped = (np.clip(values, low, high) for values in (old, new))
        return tuple((values - centre) / spread for values in clipped)  # pyright: ignore


def log_odds_of_second(record: Predictions) -> np.ndarray:
    """(n,) log-odds of the second of two classes."""
    return clipped_log_odds(record.probabilities[:, 1], (NEAR, NEAR))


def class_chances(
    old: Predictions, new: Predictions, moved: Moved, random_state: int
) -> tuple[np.ndarray, np.ndarray]:
    """((n, K) probabilities of the labelled rows, (m, K) of the new ones by the mean of the fits).

    Two classes: logistic regression on powers of the log-odds and on the logarithm of the weight,
    with the weights. More classes: vector scaling with the weights.
    """
    fit = _fit_two_classes if old.n_classes == 2 else _fit_many_classes
    direction, weight = moved.directions(), moved.for_fits

    def fitted(rows: np.ndarray) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
        predict = fit(old.take(rows), weight[rows], direction[0][rows])
        return lambda: (predict(old, direction[0]), predict(new, direction[1]))

    return _cross_fitted(old.strata, fitted, random_state)


def _cross_fitted(
    strata: np.ndarray, fitted: Callable[[np.ndarray], Any], random_state: int
) -> tuple[np.ndarray, np.ndarray]:
    folds = stratified_folds(strata, FOLDS, random_state)
    parts = [fitted(np.flatnonzero(folds != k))() for k in range(FOLDS)]
    out = np.empty_like(parts[0][0])
    for k, (labelled, _) in enumerate(parts):
        out[folds == k] = labelled[folds == k]
    return out, np.mean([new for _, new in parts], axis=0)


def _fit_two_classes(part: Predictions, weight: np.ndarray, direction: np.ndarray) -> Any:
    odds = log_odds_of_second(part)
    centre, spread = odds.mean(), max(float(odds.std()), NEAR)

    def design(record: Predictions, direction: np.ndarray) -> np.ndarray:
        z = (log_odds_of_second(record) - centre) / spread
        bounded = np.clip(z, -STRAIGHT, STRAIGHT)
        return np.column_stack([np.ones(len(z)), z, bounded**2, bounded**3, direction])

    ridge = np.array([0.0, 0.0, RIDGE, RIDGE, RIDGE])
    target = part.strata.astype(np.float64)
    theta, _ = fit_logistic(design(part, direction), target, weight, [np.zeros(5)], ridge=ridge)

    def predict(record: Predictions, direction: np.ndarray) -> np.ndarray:
        p = sigmoid(design(record, direction) @ theta)
        return np.column_stack([1.0 - p, p])

    return predict


def _fit_many_classes(part: Predictions, weight: np.ndarray, direction: np.ndarray) -> Any:
    fit = fit_clone(VectorScaling(), part.weighted(weight))
    return lambda record, direction: fit.predict_record(record)


def error_sizes(
    size: np.ndarray, std: tuple[np.ndarray, np.ndarray], moved: Moved, random_state: int
) -> tuple[np.ndarray, np.ndarray]:
    """(expected sizes of the errors of labelled rows (n,), those of new rows (m,)), log-linear in
    the logarithms of the stated std and of the weight.
    """
    direction, weight = moved.directions(), moved.for_fits
    logs = [np.log(scale) for scale in std]
    centre, spread = logs[0].mean(), max(float(logs[0].std()), NEAR)
    designs = [
        np.column_stack([np.clip((s - centre) / spread, -5.0, 5.0), d])
        for s, d in zip(logs, direction, strict=True)
    ]
    # Imported here, because every report imports this file.
    from sklearn.linear_model import PoissonRegressor

    unit = max(float(size.mean()), np.finfo(np.float64).tiny)
    # Errors of exactly 0 have no logarithm of their mean.
    target = size / unit + 1e-12

    def fitted(rows: np.ndarray) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
        # Its mean is that of the errors, as the Poisson likelihood needs no Poisson counts.
        model: Any = PoissonRegressor(alpha=1e-3, max_iter=500)
        model.fit(designs[0][rows], target[rows], sample_weight=weight[rows])
        return lambda: (unit * model.predict(designs[0]), unit * model.predict(designs[1]))

    return _cross_fitted(np.zeros(len(size), dtype=np.intp), fitted, random_state)


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
    unweighted = Moved(np.ones(len(old)), np.ones(len(new)))
    chances, chances_new = class_chances(old, new, unweighted, seed)
    base_rates = chances.mean(axis=0)
    rates = base_rates
    for _ in range(STEPS):
        parts = chances_new * (rates / base_rates)
        rates = (parts / parts.sum(axis=1, keepdims=True)).mean(axis=0)
    tests = [
        _mixture_p_value(cells, old.strata, rates)
        for cells in (_score_cells(chances, chances_new), _parts(moved.old, moved.new))
    ]
    weight = (rates * count.sum() / count)[old.strata]
    return NewRates(rates, weight, min(1.0, 2.0 * min(tests)))


def _score_cells(labelled: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cells of labelled and of new rows: parts of the score of two classes, or the most likely
    class and whether it is likelier than half of its rows.
    """
    if labelled.shape[1] == 2:
        return _parts(labelled[:, 1], new[:, 1])
    out = [2 * chances.argmax(axis=1) for chances in (labelled, new)]
    top = [chances.max(axis=1) for chances in (labelled, new)]
    for k in range(labelled.shape[1]):
        tops = np.concatenate([t[c == 2 * k] for t, c in zip(top, out, strict=True)])
        middle = np.median(tops) if len(tops) else 0.0
        for t, c in zip(top, out, strict=True):
            c[(c == 2 * k) & (t > middle)] += 1
    return out[0], out[1]


def _parts(labelled: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    edges = np.quantile(np.concatenate([labelled, new]), np.arange(1, PARTS) / PARTS)
    return np.searchsorted(edges, labelled), np.searchsorted(edges, new)


def _inverse(matrix: np.ndarray) -> np.ndarray:
    return np.linalg.pinv(matrix, rcond=1e-9, hermitian=True)


def _mixture_p_value(cells: Any, labels: np.ndarray, rates: np.ndarray) -> float:
    """The p-value of the minimum chi-squared test that the new rows' shares of the cells are a
    mixture of those of the classes.
    """
    labelled, unlabelled = cells
    n_cells, k = int(max(labelled.max(), unlabelled.max())) + 1, len(rates)
    count = np.bincount(labels * n_cells + labelled, minlength=k * n_cells).reshape(k, n_cells)
    used = count.sum(axis=0) + np.bincount(unlabelled, minlength=n_cells) > 0.0
    count = count[:, used]
    totals = count.sum(axis=1, keepdims=True)
    share, new = count / totals, np.bincount(unlabelled, minlength=n_cells)[used] / len(unlabelled)
    mixed = rates @ share
    spread = (np.diag(mixed) - np.outer(mixed, mixed)) / len(unlabelled)
    for rate, profile, rows in zip(rates, share, totals[:, 0], strict=True):
        spread += rate**2 * (np.diag(profile) - np.outer(profile, profile)) / rows
    inverse = _inverse(spread)
    # The rates that fit best, whose sum is 1.
    directions = (share[:-1] - share[-1]).T
    gap = new - mixed
    moment = directions.T @ inverse
    residual = gap - directions @ (_inverse(moment @ directions) @ (moment @ gap))
    freedom = int(used.sum()) - k
    distance = float(residual @ inverse @ residual)
    return float(special.chdtrc(freedom, distance)) if freedom > 0 else 1.0  # pyright: ignore
