"""Classifiers that separate new rows from old ones."""

# Neither scikit-learn nor SciPy ship types.
# pyright: basic
from typing import Any, cast

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from calibrant._numerics.logistic import log_odds
from calibrant.core.folds import stratified_folds
from calibrant.monitoring.columns import Columns

__all__ = ["fitted_in_folds", "log_odds_of", "separators"]

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
    levels = np.array([one is not None for one in columns.levels])
    numbers = make_pipeline(
        SimpleImputer(keep_empty_features=True), StandardScaler(), FunctionTransformer(with_squares)
    )
    coded = make_pipeline(
        SimpleImputer(strategy="constant", fill_value=-1.0),
        OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=FEW),
    )
    both: Any = [
        ("numbers", numbers, np.flatnonzero(~levels)),
        ("levels", coded, np.flatnonzero(levels)),
    ]
    logistic = make_pipeline(ColumnTransformer(both), LogisticRegression(max_iter=500))
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
    return log_odds(np.clip(model.predict_proba(Z)[:, 1], 1e-9, 1.0 - 1e-9))


def fitted_in_folds(
    model: Any, Z: np.ndarray, new: np.ndarray, n_splits: int, random_state: int
) -> tuple[list[Any], np.ndarray]:
    """(a fit without each fold, log-odds of every row by the fit without it)."""
    folds = stratified_folds(new, n_splits, random_state)
    fits = [cast(Any, clone(model)).fit(Z[folds != k], new[folds != k]) for k in range(n_splits)]
    out = np.empty(len(Z))
    for k, fit in enumerate(fits):
        out[folds == k] = log_odds_of(fit, Z[folds == k])
    return fits, out
