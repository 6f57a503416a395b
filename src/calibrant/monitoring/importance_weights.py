"""Importance weights: how much more frequent each kind of row has become."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from calibrant._numerics.logistic import fit_logistic, logistic_derivatives
from calibrant.core.calibrator import require_fitted
from calibrant.core.estimators import BaseEstimator, require_count, seeded
from calibrant.core.groups import feature_codes
from calibrant.errors import InputError
from calibrant.monitoring.columns import Columns
from calibrant.monitoring.separating import fitted_in_folds, log_odds_of, separators
from calibrant.monitoring.shift_test import ShiftTest, shift_test

__all__ = ["ImportanceWeights"]

#: Below this effective number of old rows, or above this share of new rows without old ones like
#: them, weights are not trusted.
LEAST_EFFECTIVE, MOST_OUTSIDE = 100.0, 0.05
#: The mean of odds to which calibration never leads unless old and new rows are separated.
LEAST_MEAN = 0.1
#: Share of the weight that clipping may remove before it counts as another population.
MOST_CLIPPED = 0.05


class ImportanceWeights(BaseEstimator):
    r"""Weights of old rows that make them resemble new rows: a function of the inputs.

    .. math:: w(x) = \frac{n_{old}}{n_{new}} \frac{\Pr(new \mid x)}{\Pr(old \mid x)}

    by a classifier that separates new rows from old ones. Its log-odds, out of fold, are calibrated
    by logistic regression. If no classifier beats the shares of old and new rows, all weights are
    1.

    Parameters
    ----------
    function : callable, optional
        Known weights, X -> (n,) numbers from 0; no classifier is then fitted for weights.
    model : scikit-learn classifier of (n, d) numbers, optional
        Default: the better, by log loss out of fold, of logistic regression with squares and
        boosted trees. Levels are passed as their positions, missing values as nan.
    clip : float or None, default 50
        Largest weight, before division by the mean. Clipped weights describe another population
        than the new rows, with less of the kinds that were rare; ``clipped_`` says how much.
    n_splits : int, default 5
    random_state : int, default 0
        Seed of the folds and of the test's halves.

    Attributes
    ----------
    weights_, weights_new_ : (n_old,) and (n_new,) out-of-fold weights; those of the old rows have
        mean 1
    n_effective_ : float
        :math:`(\sum w)^2 / \sum w^2` of the old rows: what they are worth for the new population.
    clipped_ : float, share of the old rows' weight that clipping removed
    outside_ : float
        Share of new rows unlike any old row, beyond what chance explains: with a number beyond all
        old ones, an unseen level, or a weight above those of all old rows.
    shift_ : ShiftTest, whether the inputs changed, and in which columns
    doubts_ : list of str, reasons not to trust the weights
    models_ : list of the classifiers of the folds; empty for given or constant weights

    See Also
    --------
    estimate_performance : the performance on the new rows.
    shift_test : the test alone.
    ConformalSets, ConformalIntervals : take the weights of old and of new rows.

    Notes
    -----
    Use the weights as ``sample_weight`` of calibrators, and of metrics with
    ``weight_kind="sampling"``. The promise of weighted conformal prediction needs weights that were
    learned from other rows than those it is fitted on. Weights are right where labels given the
    inputs have not changed; nothing in the inputs tells whether they have. Trust them where
    ``doubts_`` is empty: at least 100 effective rows, at most 5 % of the new rows outside the old
    ones, and at most 5 % of the weight clipped.

    References
    ----------
    Bickel, Bruckner and Scheffer, "Discriminative learning under covariate shift", Journal of
    Machine Learning Research 10, 2009. Kong, "A note on importance sampling using standardized
    weights", 1992.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> old, new = rng.normal(size=(1000, 1)), rng.normal(size=(1000, 1)) + 1.0
    >>> w = ImportanceWeights().fit(old, new)
    >>> bool(w([[2.0]])[0] > 2.0), bool(w([[-2.0]])[0] < 0.2), w.doubts_
    (True, True, [])
    """

    def __init__(
        self,
        function: Callable[[Any], Any] | None = None,
        *,
        model: Any = None,
        clip: float | None = 50.0,
        n_splits: int = 5,
        random_state: int = 0,
    ) -> None:
        self.function: Callable[[Any], Any] | None = function
        self.model: Any = model
        self.clip: float | None = clip
        self.n_splits: int = n_splits
        self.random_state: int = random_state

    @seeded
    def fit(self, X_old: Any, X_new: Any) -> Self:
        """Fit on the inputs of old rows and of new ones; no labels are needed."""
        require_count("n_splits", self.n_splits, 2)
        if self.clip is not None and not self.clip > 1.0:
            raise InputError(f"clip must be a number above 1, or None; got {self.clip!r}.")
        self.shift_: ShiftTest = shift_test(
            X_old, X_new, model=self.model, random_state=self.random_state
        )
        self.columns_: Columns = Columns.of(X_old, "X_old")
        Z = [self.columns_.numbers(X_old, "X_old"), self.columns_.numbers(X_new, "X_new")]
        n_old, n_new = len(Z[0]), len(Z[1])
        self.models_: list[Any] = []
        self.scaling_: tuple[float, float] = (0.0, 0.0)
        self.scale_: float = 1.0
        score = np.zeros(n_old + n_new)
        if self.function is None:
            score = self._fit_models(np.concatenate(Z), n_old)
            old, new = self._weight(score[:n_old]), self._weight(score[n_old:])
        else:
            old, new = self._given(X_old, n_old), self._given(X_new, n_new)
        self.scale_ = float(self._clipped(old).mean())
        if self.function is None:
            # Old rows that are all unlike the new ones have weights near 0.
            self.scale_ = max(self.scale_, LEAST_MEAN)
        self.weights_: np.ndarray = self._clipped(old) / self.scale_
        self.weights_new_: np.ndarray = self._clipped(new) / self.scale_
        self.n_effective_: float = float(self.weights_.sum() ** 2 / (self.weights_**2).sum())
        self.clipped_: float = float(1.0 - self._clipped(old).sum() / old.sum())
        outside: np.ndarray = _beyond(Z[0], Z[1], self.columns_) | (new > old.max())
        # The share that chance alone puts beyond either end of each column, and of the weights.
        chance = (2.0 * len(self.columns_.names) + 1.0) / (n_old + 1.0)
        self.outside_: float = max(0.0, float(outside.mean()) - chance)
        return self

    def _fit_models(self, Z: np.ndarray, n_old: int) -> np.ndarray:
        """Log-odds of the better classifier, out of fold; nothing if none beats the shares.

        The rows are fitted in the order of their content, and equal rows get one mean.
        """
        codes = feature_codes(Z)
        order = np.lexsort((codes, np.arange(len(Z)) >= n_old))
        rows, equal = Z[order], np.unique(codes[order], return_inverse=True)[1]
        new = (np.arange(len(rows)) >= n_old).astype(np.float64)
        base = float(np.log(new.sum() / n_old))
        kinds = separators(self.columns_, self.random_state) if self.model is None else [self.model]
        ones, best = np.ones(len(rows)), np.zeros(len(rows))
        least = logistic_derivatives(np.array([base]), ones[:, None], new, ones)[0]
        for kind in kinds:
            fits, odds = fitted_in_folds(kind, rows, new, self.n_splits, self.random_state)
            design: np.ndarray = np.column_stack([odds, ones])
            found, _ = fit_logistic(
                design, new, ones, [np.array([1.0, 0.0])], nonnegative=np.array([True, False])
            )
            loss = logistic_derivatives(found, design, new, ones)[0] + 1.0
            if loss < least:
                least, best, self.models_ = loss, odds, fits
                self.scaling_ = float(found[0]), float(found[1]) - base
        out = np.empty(len(rows))
        out[order] = (np.bincount(equal, best) / np.bincount(equal))[equal]
        return out

    def _weight(self, odds: np.ndarray) -> np.ndarray:
        return np.exp(self.scaling_[0] * odds + self.scaling_[1])

    def _given(self, X: Any, n: int) -> np.ndarray:
        assert self.function is not None
        out = np.asarray(self.function(X), dtype=np.float64)
        if out.shape != (n,) or not (np.isfinite(out).all() and (out >= 0.0).all() and out.any()):
            raise InputError(
                f"function must return one finite weight for each of {n} rows, none below 0 and not"
                f" all 0; got shape {out.shape}, from {out.min():g} to {out.max():g}."
            )
        return out

    def _clipped(self, weight: np.ndarray) -> np.ndarray:
        return weight if self.clip is None else np.minimum(weight, self.clip)

    def predict(self, X: Any) -> np.ndarray:
        """Return (n,) weights of rows, on the scale where those of the old rows have mean 1."""
        require_fitted(self, "weights_")
        Z = self.columns_.numbers(X, "X")
        if self.function is not None:
            return self._clipped(self._given(X, len(Z))) / self.scale_
        odds = [log_odds_of(model, Z) for model in self.models_] or [np.zeros(len(Z))]
        return self._clipped(self._weight(np.mean(odds, axis=0))) / self.scale_

    def __call__(self, X: Any) -> np.ndarray:
        """Return ``predict(X)``."""
        return self.predict(X)

    @property
    def doubts_(self) -> list[str]:
        """Reasons not to trust the weights; empty if there are none."""
        require_fitted(self, "weights_")
        found = (
            (
                self.n_effective_ < LEAST_EFFECTIVE,
                f"the weighted old rows are worth only {self.n_effective_:.0f} rows",
            ),
            (
                self.outside_ > MOST_OUTSIDE,
                f"{100 * self.outside_:.0f} % of the new rows are unlike any old row",
            ),
            (
                self.clipped_ > MOST_CLIPPED,
                f"clipping at {self.clip} removed {100 * self.clipped_:.0f} % of the weight",
            ),
        )
        return [reason for holds, reason in found if holds]


def _beyond(old: np.ndarray, new: np.ndarray, columns: Columns) -> np.ndarray:
    """(m,) whether a new row has a number beyond those of all old rows, or an unseen level."""
    low, high = np.fmin.reduce(old, axis=0), np.fmax.reduce(old, axis=0)
    levels = np.array([one is not None for one in columns.levels])
    unseen = levels & np.isnan(new) & ~np.isnan(old).any(axis=0)
    return ((new < low) | (new > high) | unseen).any(axis=1)
