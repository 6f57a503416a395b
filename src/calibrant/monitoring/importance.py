"""Importance weights: how much more frequent each kind of row has become; a test of a change of the
inputs; and the classifiers of old and new rows behind both, with the numbers they read.

The numbers are those of the columns of features.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, cast

import numpy as np
import scipy

from calibrant._numerics.logistic import fit_logistic, log_odds, logistic_derivatives
from calibrant.core.calibrator import require_fitted
from calibrant.core.estimators import (
    BaseEstimator,
    clone,
    one_blas_thread,
    one_openmp_thread,
    require_count,
    seeded,
)
from calibrant.core.folds import stratified_folds
from calibrant.core.groups import coded, feature_codes, group_columns
from calibrant.core.guarantee import Result
from calibrant.core.labels import positions
from calibrant.core.text_table import p_text
from calibrant.errors import InputError

__all__ = [
    "ChangedColumn",
    "Columns",
    "ImportanceWeights",
    "ShiftTest",
    "fitted_in_folds",
    "log_odds_of",
    "separators",
    "shift_test",
]


#: Most levels of a column that boosted trees treat as unordered.
MOST_LEVELS = 200


@dataclass(frozen=True)
class Columns:
    """Names of the columns, and the levels of those that are no numbers (None for numbers)."""

    names: list[str]
    levels: list[list[Any] | None]

    @classmethod
    def of(cls, X: Any, name: str) -> "Columns":
        """Learn the names and levels from rows."""
        columns = _columns(X, name)
        levels = [
            None if column.dtype.kind == "f" else coded(column, name).names.tolist()
            for _, column in columns
        ]
        return cls([label for label, _ in columns], levels)

    @property
    def unordered(self) -> np.ndarray:
        """(d,) whether a column has levels, and few enough for trees."""
        return np.array(
            [levels is not None and len(levels) <= MOST_LEVELS for levels in self.levels]
        )

    def numbers(self, X: Any, name: str) -> np.ndarray:
        """Return (n, d) numbers, and the positions of levels; nan where missing or unseen."""
        columns = _columns(X, name)
        if [label for label, _ in columns] != self.names:
            raise InputError(
                f"{name} must have the columns {self.names}, as the other rows; got"
                f" {[label for label, _ in columns]}."
            )
        out = np.empty((len(columns[0][1]), len(columns)))
        for j, (levels, (_, column)) in enumerate(zip(self.levels, columns, strict=True)):
            if levels is None and column.dtype.kind != "f":
                raise InputError(
                    f"column {self.names[j]} of {name} must hold numbers, as in the other rows; got"
                    f" {column[0]!r}."
                )
            if levels is None:
                out[:, j] = column
            else:
                groups = coded(column.astype(object), name)
                place = np.array(positions(levels, groups.names.tolist()), dtype=np.float64)
                out[:, j] = np.where(place < 0.0, np.nan, place)[groups.index]
        return out


def _columns(X: Any, name: str) -> list[tuple[str, np.ndarray]]:
    """(name, column) of each column; numbers as float64."""
    out = list[tuple[str, np.ndarray]]()
    for j, (called, column) in enumerate(group_columns(X, name)):
        if column.ndim != 1:
            raise InputError(f"{name} must be (n, d) or (n,); got more dimensions; pass features.")
        if column.dtype.kind in "biuf":
            column = column.astype(np.float64)
            column = np.where(np.isfinite(column), column, np.nan)
        out.append((called or f"column {j + 1}", column))
    if not out or not len(out[0][1]):
        raise InputError(f"{name} must have rows and columns; got none.")
    return out


# Neither scikit-learn nor SciPy ship types.
# pyright: basic


#: Standard deviations beyond which a number no longer moves the logistic regression.
FARTHEST = 6.0
#: A missing value, for trees.
MISSING = -1e30
#: Fewest rows of a level of its own.
FEW = 10


def with_squares(Z: np.ndarray) -> np.ndarray:
    """Standardised columns within limits, and their squares."""
    Z = np.clip(Z, -FARTHEST, FARTHEST)
    return np.column_stack([Z, Z * Z])


def separators(columns: Columns, random_state: int) -> list[Any]:
    """Unfitted classifiers of (n, d) numbers: logistic regression with squares, boosted trees."""
    # Imported here, because every report imports this file, and they take half a second.
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

    levels = np.array([column_levels is not None for column_levels in columns.levels])
    numbers = make_pipeline(
        SimpleImputer(keep_empty_features=True), StandardScaler(), FunctionTransformer(with_squares)
    )
    coded = make_pipeline(
        SimpleImputer(strategy="constant", fill_value=-1.0),
        OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=FEW),
    )
    steps: Any = [
        ("numbers", numbers, np.flatnonzero(~levels)),
        ("levels", coded, np.flatnonzero(levels)),
    ]
    logistic = make_pipeline(ColumnTransformer(steps), LogisticRegression(max_iter=500))
    trees = make_pipeline(
        # Trees refuse a column without any value.
        SimpleImputer(strategy="constant", fill_value=MISSING, keep_empty_features=True),
        HistGradientBoostingClassifier(
            max_iter=100,
            learning_rate=0.08,
            max_leaf_nodes=15,
            min_samples_leaf=30,
            l2_regularization=1.0,
            early_stopping=False,
            categorical_features=cast(Any, columns.unordered),
            random_state=random_state,
        ),
    )
    return [logistic, trees]


def log_odds_of(model: Any, Z: np.ndarray) -> np.ndarray:
    """(n,) finite log-odds that a row is new."""
    with one_openmp_thread(len(Z)):
        return log_odds(np.clip(model.predict_proba(Z)[:, 1], 1e-9, 1.0 - 1e-9))


def fitted_in_folds(
    model: Any, Z: np.ndarray, new: np.ndarray, n_splits: int, random_state: int
) -> tuple[list[Any], np.ndarray]:
    """(a fit without each fold, log-odds of every row by the fit without it)."""
    folds = stratified_folds(new, n_splits, random_state)
    with one_openmp_thread(len(Z)):
        fits = [
            cast(Any, clone(model)).fit(Z[folds != k], new[folds != k]) for k in range(n_splits)
        ]
    out = np.empty(len(Z))
    for k, fit in enumerate(fits):
        out[folds == k] = log_odds_of(fit, Z[folds == k])
    return fits, out


# Neither scikit-learn nor SciPy ship types.
# pyright: basic


#: Fewest rows of either kind: a half is for the classifier.
LEAST = 20


@dataclass(frozen=True)
class ChangedColumn(Result):
    """Distance of a column between old and new rows, from 0 to 1.

    Attributes
    ----------
    name : str
    distance : float
        Largest gap of the distribution functions of a number, or half the sum of the changes of the
        shares of levels.
    old, new : float or None
        Means of a number.

    See Also
    --------
    ShiftTest : lists them.
    """

    name: str
    distance: float
    old: float | None
    new: float | None


@dataclass(frozen=True)
class ShiftTest(Result):
    """Test that new rows have the distribution of the old ones.

    Attributes
    ----------
    p_value : float
    auroc : float
        Probability that the classifier gives a new row a higher score than an old one: .5 without
        a change.
    columns : list of ChangedColumn
        All columns, the most different first.
    chance : float
        Distance of a column of numbers that chance exceeds with probability .05.
    n_old, n_new : int

    See Also
    --------
    shift_test : makes one.
    """

    p_value: float
    auroc: float
    columns: list[ChangedColumn]
    chance: float
    n_old: int
    n_new: int

    def __str__(self) -> str:
        p = p_text(self.p_value, "= ")
        text = f"inputs: AUROC of new against old rows {self.auroc:.3f}, p {p}"
        most = [f"{c.name} ({c.distance:.2f})" for c in self.columns if c.distance > self.chance]
        return text + ("; most different: " + ", ".join(most[:5]) if most else "")


@seeded
def shift_test(X_old: Any, X_new: Any, *, model: Any = None, random_state: int = 0) -> ShiftTest:
    """Test whether new rows have the same distribution of inputs as old ones, and rank the columns
    by how much they differ.

    A classifier learns to separate them on half of the rows. On the other half its scores are
    compared by the test of Mann and Whitney, whose p-value is therefore valid for any classifier.

    Parameters
    ----------
    X_old, X_new : (n, d) or (m, d) features, arrays or frames of numbers and levels
    model : scikit-learn classifier of (n, d) numbers, optional
        Default: the sum of the log-odds of logistic regression with squares and of boosted trees.
    random_state : int, default 0
        Seed of the halves.

    Returns
    -------
    ShiftTest

    Raises
    ------
    InputError
        With fewer than 20 rows of either kind, or different columns.

    See Also
    --------
    ImportanceWeights : how much more frequent each kind of row has become.

    Notes
    -----
    Use it to find which inputs changed. A change of the inputs need not change the accuracy, and a
    change of the relation between inputs and labels need not change the inputs. It assumes
    independent rows: in time series nearby rows resemble each other, and p-values are too small.

    References
    ----------
    Lopez-Paz and Oquab, "Revisiting classifier two-sample tests", ICLR 2017.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> old, new = rng.normal(size=(500, 3)), rng.normal(size=(500, 3)) + [0.0, 0.0, 1.0]
    >>> found = shift_test(old, new)
    >>> found.p_value < 1e-6, found.columns[0].name
    (True, 'column 3')
    """
    columns = Columns.of(X_old, "X_old")
    old, new = columns.numbers(X_old, "X_old"), columns.numbers(X_new, "X_new")
    if min(len(old), len(new)) < LEAST:
        raise InputError(
            f"X_old and X_new must have {LEAST} rows or more each; got {len(old)} and {len(new)}."
        )
    old, new = (rows[np.argsort(feature_codes(rows), kind="stable")] for rows in (old, new))
    Z, is_new = np.concatenate([old, new]), np.arange(len(old) + len(new)) >= len(old)
    half = stratified_folds(is_new, 2, random_state) == 0
    kinds = separators(columns, random_state) if model is None else [clone(model)]
    with one_blas_thread(), one_openmp_thread(len(Z)):
        fits = [kind.fit(Z[half], is_new[half]) for kind in kinds]
    score = np.sum([log_odds_of(fit, Z[~half]) for fit in fits], axis=0)
    score_new, score_old = score[is_new[~half]], score[~is_new[~half]]
    test: Any = scipy.stats.mannwhitneyu(score_new, score_old, alternative="greater")
    changed = [_column_change(columns, j, old[:, j], new[:, j]) for j in range(len(columns.names))]
    return ShiftTest(
        float(test.pvalue),
        float(test.statistic) / (len(score_new) * len(score_old)),
        sorted(changed, key=lambda column: -column.distance),
        1.36 * float(np.sqrt(1.0 / len(old) + 1.0 / len(new))),
        len(old),
        len(new),
    )


def _column_change(columns: Columns, j: int, old: np.ndarray, new: np.ndarray) -> ChangedColumn:
    values, place = np.unique(np.append(old, new), return_inverse=True)
    parts = place[: len(old)], place[len(old) :]
    a, b = (np.bincount(part, minlength=len(values)) / len(part) for part in parts)
    if columns.levels[j] is not None:
        return ChangedColumn(columns.names[j], 0.5 * float(np.abs(a - b).sum()), None, None)
    distance = float(np.abs(np.cumsum(a - b)).max())
    means = (float(np.nanmean(x)) if np.isfinite(x).any() else None for x in (old, new))
    return ChangedColumn(columns.names[j], distance, *means)


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
        Share of new rows unlike any old row, beyond what is expected by chance: with a number
        beyond all old ones, an unseen level, or a weight above those of all old rows.
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
            old, new = self._function_weights(X_old, n_old), self._function_weights(X_new, n_new)
        self.scale_ = float(self._clipped(old).mean())
        if self.function is None:
            # Old rows that are all unlike the new ones have weights near 0.
            self.scale_ = max(self.scale_, LEAST_MEAN)
        self.weights_: np.ndarray = self._clipped(old) / self.scale_
        self.weights_new_: np.ndarray = self._clipped(new) / self.scale_
        self.n_effective_: float = float(self.weights_.sum() ** 2 / (self.weights_**2).sum())
        self.clipped_: float = float(1.0 - self._clipped(old).sum() / old.sum())
        outside: np.ndarray = _out_of_range(Z[0], Z[1], self.columns_) | (new > old.max())
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
            theta, _ = fit_logistic(
                design, new, ones, [np.array([1.0, 0.0])], nonnegative=np.array([True, False])
            )
            loss = logistic_derivatives(theta, design, new, ones)[0] + 1.0
            if loss < least:
                least, best, self.models_ = loss, odds, fits
                self.scaling_ = float(theta[0]), float(theta[1]) - base
        out = np.empty(len(rows))
        out[order] = (np.bincount(equal, best) / np.bincount(equal))[equal]
        return out

    def _weight(self, odds: np.ndarray) -> np.ndarray:
        return np.exp(self.scaling_[0] * odds + self.scaling_[1])

    def _function_weights(self, X: Any, n: int) -> np.ndarray:
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
            return self._clipped(self._function_weights(X, len(Z))) / self.scale_
        odds = [log_odds_of(model, Z) for model in self.models_] or [np.zeros(len(Z))]
        return self._clipped(self._weight(np.mean(odds, axis=0))) / self.scale_

    def __call__(self, X: Any) -> np.ndarray:
        """Return ``predict(X)``."""
        return self.predict(X)

    @property
    def doubts_(self) -> list[str]:
        """Reasons not to trust the weights; empty if there are none."""
        require_fitted(self, "weights_")
        checks = (
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
        return [reason for holds, reason in checks if holds]


def _out_of_range(old: np.ndarray, new: np.ndarray, columns: Columns) -> np.ndarray:
    """(m,) whether a new row has a number beyond those of all old rows, or an unseen level."""
    low, high = np.fmin.reduce(old, axis=0), np.fmax.reduce(old, axis=0)
    levels = np.array([column_levels is not None for column_levels in columns.levels])
    unseen = levels & np.isnan(new) & ~np.isnan(old).any(axis=0)
    return ((new < low) | (new > high) | unseen).any(axis=1)
