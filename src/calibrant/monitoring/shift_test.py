"""Test of a change of the inputs, by a classifier of old and new rows."""

# Neither scikit-learn nor SciPy ship types.
# pyright: basic
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from sklearn.base import clone

from calibrant.core.estimators import seeded
from calibrant.core.folds import stratified_folds
from calibrant.core.groups import feature_codes
from calibrant.core.guarantee import Result
from calibrant.errors import InputError
from calibrant.monitoring.columns import Columns
from calibrant.monitoring.separating import log_odds_of, separators

__all__ = ["ChangedColumn", "ShiftTest", "shift_test"]

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
        found = f"inputs: AUROC of new against old rows {self.auroc:.3f}, p = {self.p_value:.2g}"
        most = [f"{c.name} ({c.distance:.2f})" for c in self.columns if c.distance > self.chance]
        return found + ("; most different: " + ", ".join(most[:5]) if most else "")


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
    old, new = (one[np.argsort(feature_codes(one), kind="stable")] for one in (old, new))
    Z, is_new = np.concatenate([old, new]), np.arange(len(old) + len(new)) >= len(old)
    half = stratified_folds(is_new, 2, random_state) == 0
    kinds = separators(columns, random_state) if model is None else [clone(model)]
    fits = [kind.fit(Z[half], is_new[half]) for kind in kinds]
    score = np.sum([log_odds_of(fit, Z[~half]) for fit in fits], axis=0)
    ours, theirs = score[is_new[~half]], score[~is_new[~half]]
    found: Any = stats.mannwhitneyu(ours, theirs, alternative="greater")
    changed = [_changed(columns, j, old[:, j], new[:, j]) for j in range(len(columns.names))]
    return ShiftTest(
        float(found.pvalue),
        float(found.statistic) / (len(ours) * len(theirs)),
        sorted(changed, key=lambda one: -one.distance),
        1.36 * float(np.sqrt(1.0 / len(old) + 1.0 / len(new))),
        len(old),
        len(new),
    )


def _changed(columns: Columns, j: int, old: np.ndarray, new: np.ndarray) -> ChangedColumn:
    values, place = np.unique(np.append(old, new), return_inverse=True)
    parts = place[: len(old)], place[len(old) :]
    a, b = (np.bincount(part, minlength=len(values)) / len(part) for part in parts)
    if columns.levels[j] is not None:
        return ChangedColumn(columns.names[j], 0.5 * float(np.abs(a - b).sum()), None, None)
    distance = float(np.abs(np.cumsum(a - b)).max())
    means = (float(np.nanmean(x)) if np.isfinite(x).any() else None for x in (old, new))
    return ChangedColumn(columns.names[j], distance, *means)
