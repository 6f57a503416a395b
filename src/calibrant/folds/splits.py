"""Which rows fit and which are held out, for any way of asking."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from calibrant.errors import InputError, warn
from calibrant.folds.out_of_fold import stratified_folds

__all__ = ["folds_of", "make_splits", "refuse_prefit", "refuse_small_folds"]

#: A fold with a calibrator of its own: fewer held-out rows than this are refused, and fewer than that warned of. On 60 and 150 rows, one
#: Platt, beta or isotonic map for each fold of 1 or 2 rows had a log loss 2 to 37 % above that of one map for all; of 3 to 6 rows up to
#: 9 %; of 10 up to 5 %; of 30 none. scikit-learn's contract of an estimator fits folds of 3.
FEWEST_IN_A_FOLD, FEW_IN_A_FOLD = 3, 10


def make_splits(
    cv: int, X: Any, y: np.ndarray, groups: Any = None, random_state: int | None = None, *, stratify: bool = True, **split_params: Any
) -> list[tuple[np.ndarray, np.ndarray]]:
    """List of (rows to fit, rows held out), two index arrays each.

    ``cv`` is a number of folds, a splitter, or an iterable of pairs. A number means folds stratified by class (or shuffled, where y are
    no classes), or folds that cut no group where groups are given; every row is held out once. With fewer rows (or groups) than folds there
    are as many folds as those. ``split_params`` are what a splitter of one's own asks for beside groups.
    """
    from sklearn import model_selection  # here, because it brings a fifth of the time that importing calibrant takes

    refuse_prefit(cv)
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        groups = None if groups is None else _coded(groups, len(y))
        n_folds = _number_of_folds(int(cv), y, groups)
        seed = 0 if random_state is None else random_state
        if groups is not None:
            cv = model_selection.StratifiedGroupKFold(n_folds) if stratify else model_selection.GroupKFold(n_folds)
        elif not stratify:
            cv = model_selection.KFold(n_folds, shuffle=True, random_state=seed)
        else:
            folds = stratified_folds(y, n_folds, seed)
            return [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(n_folds)]
    if groups is not None:
        split_params["groups"] = groups
    splits = model_selection.check_cv(cv, y, classifier=stratify).split(X, y, **split_params)
    return _usable([(_positions(np.asarray(a)), _positions(np.asarray(b))) for a, b in splits], len(y))


def folds_of(labels: np.ndarray, cluster: np.ndarray | None, n_folds: int, random_state: int) -> np.ndarray:
    """Fold number of each row, (n,): dealt out by class, and where clusters are given none of them is cut."""
    if cluster is None:
        return stratified_folds(labels, n_folds, random_state)
    folds = np.empty(len(labels), dtype=np.intp)
    for k, (_, held) in enumerate(make_splits(n_folds, np.zeros((len(labels), 1)), labels, cluster, random_state)):
        folds[held] = k
    return folds


def refuse_prefit(cv: int | None) -> None:
    """An error with the remedy for the old way of saying that a model is fitted."""
    if isinstance(cv, str):
        raise InputError(f"cv must be a number, a splitter or None; got {cv!r}; for a fitted model pass the model itself, and cv=None.")


def refuse_small_folds(splits: Sequence[tuple[np.ndarray, np.ndarray]], remedy: str) -> None:
    """An error, or a warning, with the remedy where a calibrator for each fold would have too few rows to learn from."""
    fewest = min(len(rows) for _, rows in splits)
    what = f"held-out rows for a calibrator of its own; the smallest of the {len(splits)} folds has {fewest}; {remedy}."
    if fewest < FEWEST_IN_A_FOLD:
        raise InputError(f"a fold needs at least {FEWEST_IN_A_FOLD} {what}")
    if fewest < FEW_IN_A_FOLD:
        warn(f"a fold should have at least {FEW_IN_A_FOLD} {what}")


def _number_of_folds(wanted, y, groups):
    if wanted < 2:
        raise InputError(f"cv must be at least 2 folds; got {wanted}.")
    if len(y) < 2:
        raise InputError(f"cross-validation needs at least 2 rows; got n_samples = {len(y)}; pass a fitted model instead.")
    if groups is None:
        return min(wanted, len(y))
    n_groups = int(groups.max()) + 1
    if n_groups < 2:
        raise InputError(
            "cross-validation that keeps groups whole needs at least 2 groups; got 1; leave groups out, or pass a fitted model."
        )
    return min(wanted, n_groups)


def _coded(groups, n):
    """Number of each row's group, in sorted order where groups can be sorted; names of any kinds, 1 and "1" apart."""
    values = groups.tolist() if hasattr(groups, "tolist") else list(groups)
    if len(values) != n:
        raise InputError(f"groups must have one entry for each of the {n} rows; got {len(values)}.")
    for i, value in enumerate(values):
        if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
            raise InputError(f"groups must name the group of every row; row {i} is {value!r}; give such rows a group of their own.")
    names = list(dict.fromkeys(values))
    with suppress(TypeError):
        names.sort()
    code = {name: k for k, name in enumerate(names)}
    return np.array([code[value] for value in values])


def _positions(rows):
    return np.flatnonzero(rows) if rows.dtype.kind == "b" else rows.astype(np.intp)


def _usable(splits, n):
    """The splits, once there are some and each has rows to fit and rows held out, all within the data."""
    if not splits:
        raise InputError("cv must give at least one split into rows to fit and rows held out; it gives none.")
    for k, (fit_rows, held_out) in enumerate(splits):
        if not (len(fit_rows) and len(held_out)):
            raise InputError(f"each split of cv needs rows to fit and rows held out; split {k} has {len(fit_rows)} and {len(held_out)}.")
        if max(fit_rows.max(), held_out.max()) >= n:
            raise InputError(f"the splits of cv must name rows below {n}; split {k} names {max(fit_rows.max(), held_out.max())}.")
    return splits
