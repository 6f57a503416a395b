"""Folds that keep clusters and classes balanced, blocks and splits into past and next for rows
that are ordered in time, and out-of-fold predictions.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant._numerics.bootstrap import numbered_by_content, row_codes
from calibrant.core.arrays import ArrayLike, plain_array
from calibrant.core.domain import domain_of
from calibrant.core.estimators import clone, require_count
from calibrant.core.groups import codes_of, labelled_codes, order_of
from calibrant.core.predictions import Predictions
from calibrant.errors import InputError, warn

if TYPE_CHECKING:
    from calibrant.core.calibrator import Calibrator
    from calibrant.core.predictions import Predictions

__all__ = [
    "OutOfFold",
    "cross_fit",
    "dealt",
    "fit_clone",
    "folds_of",
    "make_splits",
    "out_of_fold",
    "past_and_next",
    "refuse_prefit",
    "refuse_small_folds",
    "stratified_folds",
    "time_blocks",
    "time_ranks",
]


def stratified_folds(
    labels: np.ndarray,
    n_splits: int = 5,
    random_state: int = 0,
    order: np.ndarray | None = None,
) -> np.ndarray:
    """Assign a fold number in 0..n_splits-1 to each row, (n,): each class is spread evenly, with
    its rows in a seeded random order.

    ``order`` (n,) are the positions of the rows in the order of their content, from ``order_of``;
    without it the rows must have an order of their own, because the folds depend on it. A class
    with fewer rows than folds is absent from some. The assignment continues from class to class, in
    the order of their first rows, so that folds differ by at most one row in size.

    Examples
    --------
    >>> folds = stratified_folds(np.array([0, 0, 0, 0, 1, 1, 1, 2]), n_splits=2)
    >>> np.bincount(folds).tolist()
    [4, 4]
    """
    if not (isinstance(n_splits, int | np.integer) and 2 <= n_splits <= len(labels)):
        raise InputError(
            f"n_splits must be a whole number from 2 to the number of rows, {len(labels)}; got"
            f" {n_splits!r}."
        )
    order = np.arange(len(labels)) if order is None else order
    _, first, code = np.unique(np.asarray(labels)[order], return_index=True, return_inverse=True)
    number = np.argsort(np.argsort(first))[code]
    shuffled = np.random.default_rng(random_state).permutation(len(labels))
    folds = np.empty(len(labels), dtype=np.intp)
    dealt_out = shuffled[np.argsort(number[shuffled], kind="stable")]
    folds[order[dealt_out]] = np.arange(len(labels)) % n_splits
    return folds


def fit_clone(calibrator: "Calibrator", record: "Predictions") -> "Calibrator":
    """Return an unfitted copy of ``calibrator`` with the settings of the record (kind of input,
    classes), fitted on the record.
    """
    return clone(calibrator).set_params(**record.calibrator_params).fit_record(record)


def out_of_fold(
    calibrator: "Calibrator",
    record: "Predictions",
    *,
    n_splits: float = 5,
    random_state: int = 0,
    splits: Sequence[tuple[np.ndarray, np.ndarray]] | None = None,
    progress: Callable[..., Any] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute calibrated probabilities, or forecasts, of every row by fits on the other folds.

    Parameters
    ----------
    calibrator : Calibrator or RegressionCalibrator, fitted or not; it is not changed
    record : Predictions with labels, or ForecastRecord with outcomes
    n_splits : int, default 5
    random_state : int, default 0
        Seed of the assignment of rows to folds.
    splits : iterable of (rows to fit, rows held out), optional
        Instead of ``n_splits`` stratified folds, as returned by a scikit-learn splitter; no row may
        be held out twice.
    progress : callable, optional
        Called with each finished fold's number.

    Returns
    -------
    result : (n, K) float64, or Forecast
        NaN in rows that no split holds out; forecasts need every row held out.
    folds : (n,) fold of each row, -1 where none.

    Notes
    -----
    Metrics on these rows are unbiased for a calibrator fitted on as many rows as each fit, so
    slightly pessimistic for one fitted on all rows. A class absent from a fit keeps its column:
    every fit receives the list of all classes.

    Examples
    --------
    >>> from calibrant.core.predictions import read
    >>> from calibrant.calibrators.temperature import Identity
    >>> Q, folds = out_of_fold(Identity(), read([[0.9, 0.1], [0.2, 0.8]], [0, 1]), n_splits=2)
    >>> Q.tolist(), sorted(folds.tolist())
    ([[0.9, 0.1], [0.2, 0.8]], [0, 1])
    """
    if splits is None:
        order = order_of(record)
        folds = stratified_folds(record.strata, n_splits, random_state, order)[order]
        splits = [(order[folds != k], order[folds == k]) for k in range(n_splits)]
    folds = np.full(len(record), -1, dtype=np.intp)
    parts, rows = [], []
    for k, (fit_rows, held_out) in enumerate(splits):
        if (folds[held_out] >= 0).any():
            raise InputError(
                "only one split may hold out each row; the splitter repeats rows; use a splitter"
                " such as KFold or GroupKFold."
            )
        folds[held_out] = k
        parts.append(
            fit_clone(calibrator, record.take(fit_rows)).predict_record(record.take(held_out))
        )
        rows.append(held_out)
        if progress is not None:
            progress(k)
    return record.gathered(parts, rows), folds


@dataclass(frozen=True)
class OutOfFold:
    """Out-of-fold predictions of every row, as returned by :func:`cross_fit`.

    Attributes
    ----------
    result : (n, K) float64, or Forecast
    folds : (n,) fold of each row
    fold_fits : "refits" if the whole calibrator was fitted without each fold; else how an automatic
        choice was made without it, as returned by its ``fit_out_of_fold``
    fitted : the calibrator on all rows, where the predictions come from its fit; else None
    """

    result: Any
    folds: np.ndarray
    fold_fits: str
    fitted: Any = None


def cross_fit(
    calibrator: Any,
    record: Any,
    *,
    n_splits: int | None = None,
    random_state: int = 0,
    progress: Callable[..., Any] | None = None,
) -> OutOfFold:
    """Compute out-of-fold predictions from the folds of the calibrator's own fit, where it has any,
    or else as :func:`out_of_fold` does. Folds keep clusters whole.

    Parameters
    ----------
    calibrator, record, random_state, progress
        As for :func:`out_of_fold`; a calibrator with folds of its own uses its own seed.
    n_splits : int, optional
        Number of folds for fits of the whole calibrator. Default: the folds of its own fit, or 5.

    Examples
    --------
    >>> from calibrant.core.predictions import read
    >>> from calibrant.calibrators.temperature import Identity
    >>> found = cross_fit(Identity(), read([0.1, 0.8, 0.7, 0.4], [0, 1, 1, 0]), n_splits=2)
    >>> found.result[:, 1].tolist(), found.fold_fits
    ([0.1, 0.8, 0.7, 0.4], 'refits')
    """
    if n_splits is None:
        fitted = clone(calibrator).set_params(**record.calibrator_params)
        own = fitted.fit_out_of_fold(record)
        if own is not None:
            if progress is not None:
                progress(0)
            return OutOfFold(*own, fitted=fitted)
        n_splits = 5
    splits = None
    if record.cluster is not None:
        rows, stratify = np.zeros((len(record), 1)), domain_of(record).strata
        given: Any = {"stratify": stratify, "codes": codes_of(record)}
        splits = make_splits(n_splits, rows, record.strata, record.cluster, random_state, **given)
    result, folds = out_of_fold(
        calibrator,
        record,
        n_splits=n_splits,
        random_state=random_state,
        splits=splits,
        progress=progress,
    )
    return OutOfFold(result, folds, "refits")


def dealt(
    record: Predictions, shares: Sequence[float], random_state: int = 0
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Split the rows of a labelled record at random in the proportions ``shares``; return (rows,
    how often each counts) of each part.

    With clusters, whole clusters are assigned. Weights must be whole numbers: a row of weight 2
    counts as two. The order of the rows changes nothing. The split is not stratified by class: an
    exact guarantee needs independent rows, which a stratified part does not have. The draw depends
    on the data beside the seed: with one draw for all data sets of n rows, a model with few
    distinct predictions would always be split by the ranks of its labels.

    Examples
    --------
    >>> from calibrant.core.predictions import read
    >>> parts = dealt(read([0.1, 0.2, 0.7, 0.6], [0, 0, 1, 1]), [0.75, 0.25])
    >>> [len(rows) for rows, _ in parts]
    [3, 1]
    """
    # Sorted by the data and by the predictions of each row's own class, so that the order of the
    # classes changes nothing either.
    own = np.take_along_axis(record.values, record.strata[:, None], axis=1)
    codes = row_codes(record.values) + row_codes(own)
    rng = np.random.default_rng(
        [random_state, int((codes * record.weights.astype(np.uint64)).sum())]
    )
    if record.cluster is None:
        order = np.lexsort((record.strata, codes))
        rows = (
            order
            if record.weight is None
            else np.repeat(order, record.weight[order].astype(np.intp))
        )
        place = rng.permutation(len(rows))
    else:
        rows, place = _by_cluster(record, record.cluster, rng)
    ends = np.round(np.cumsum(shares) / np.sum(shares) * (place.max() + 1)).astype(np.intp)
    part = np.searchsorted(ends, place, side="right")
    found = [np.unique(rows[part == k], return_counts=True) for k in range(len(shares))]
    if not all(len(chosen) for chosen, _ in found):
        what = "rows" if record.cluster is None else "clusters"
        raise InputError(
            f"{place.max() + 1} {what} cannot be split into {len(shares)} parts with shares"
            f" {list(shares)}; pass more of them."
        )
    return [(chosen, count.astype(np.float64)) for chosen, count in found]


def _by_cluster(
    record: "Predictions", cluster: np.ndarray, rng: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return (rows as often as they count, the position of each one's cluster); clusters are sorted
    by their rows, then shuffled.
    """
    number = np.unique(cluster, return_inverse=True)[1]
    code = np.zeros(number.max() + 1, dtype=np.uint64)
    own = (
        row_codes(record.values)
        * (2 * record.strata + 1).astype(np.uint64)
        * record.weights.astype(np.uint64)
    )
    np.add.at(code, number, own)
    place = np.empty(len(code), dtype=np.intp)
    place[np.argsort(code, kind="stable")] = rng.permutation(len(code))
    rows = np.repeat(np.arange(len(record)), record.weights.astype(np.intp))
    return rows, place[number[rows]]


#: Held-out rows of a fold with its own calibrator: fewer than the first are refused, fewer than the
#: second cause a warning. On 60 and 150 rows, one Platt, beta or isotonic map for each fold of 1 or
#: 2 rows had a log loss 2 to 37 % above that of one map for all; of 3 to 6 rows up to 9 %; of 10 up
#: to 5 %; of 30 none. scikit-learn's contract of an estimator fits folds of 3.
FEWEST_IN_A_FOLD, FEW_IN_A_FOLD = 3, 10


def make_splits(
    cv: int,
    X: Any,
    y: np.ndarray,
    groups: Any = None,
    random_state: int = 0,
    *,
    stratify: bool = True,
    codes: np.ndarray | None = None,
    **split_params: Any,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return a list of (rows to fit, rows held out), two index arrays each.

    ``cv`` is a number of folds, a splitter, or an iterable of pairs. A number means folds
    stratified by class (or shuffled, if y is not classes), or folds that keep groups whole if
    groups are passed; every row is held out once. With fewer rows (or groups) than folds there are
    only that many folds. They depend on the content of the rows, by default X and y, else ``codes``
    (n,), and not on their order or on the names of groups. ``split_params`` are arguments of a
    custom splitter beside groups.
    """
    from sklearn import (
        model_selection,
    )  # a local import: it takes a fifth of the import time of calibrant

    refuse_prefit(cv)
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        groups = None if groups is None else _coded(groups, len(y))
        n_folds = _number_of_folds(int(cv), y, groups)
        codes = labelled_codes(X, y, stratify) if codes is None else codes
        if groups is not None:
            groups = numbered_by_content(groups, codes, np.ones(len(y)))
            cv = (
                model_selection.StratifiedGroupKFold(n_folds)
                if stratify
                else model_selection.GroupKFold(n_folds)
            )
        else:
            strata = y if stratify else np.zeros(len(y))
            order = np.argsort(codes, kind="stable")
            folds = stratified_folds(strata, n_folds, random_state, order)
            return [
                (np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(n_folds)
            ]
    if groups is not None:
        split_params["groups"] = groups
    splits = model_selection.check_cv(cv, y, classifier=stratify).split(X, y, **split_params)
    return _usable(
        [(_positions(np.asarray(a)), _positions(np.asarray(b))) for a, b in splits], len(y)
    )


def folds_of(
    labels: np.ndarray,
    cluster: np.ndarray | None,
    n_folds: int,
    random_state: int,
    order: np.ndarray | None = None,
) -> np.ndarray:
    """Assign a fold number to each row, (n,), stratified by class; clusters, if passed, stay whole,
    and are numbered by their content. ``order`` as for ``stratified_folds``.
    """
    if cluster is None:
        return stratified_folds(labels, n_folds, random_state, order)
    from sklearn.model_selection import StratifiedGroupKFold

    n_folds = _number_of_folds(n_folds, labels, cluster)
    folds = np.empty(len(labels), dtype=np.intp)
    for k, (_, held) in enumerate(
        StratifiedGroupKFold(n_folds).split(np.zeros(len(labels)), labels, cluster)
    ):
        folds[held] = k
    return folds


def refuse_prefit(cv: int | None) -> None:
    """Raise InputError, with the remedy, for ``cv="prefit"``."""
    if isinstance(cv, str):
        raise InputError(
            f"cv must be a number, a splitter or None; got {cv!r}; for a fitted model pass the"
            " model, and cv=None."
        )


def refuse_small_folds(splits: Sequence[tuple[np.ndarray, np.ndarray]], remedy: str) -> None:
    """Raise InputError, or warn, if a calibrator for each fold would have too few rows."""
    fewest = min(len(rows) for _, rows in splits)
    what = (
        f"held-out rows for a calibrator of its own; the smallest of the {len(splits)} folds has"
        f" {fewest}; {remedy}."
    )
    if fewest < FEWEST_IN_A_FOLD:
        raise InputError(f"a fold needs at least {FEWEST_IN_A_FOLD} {what}")
    if fewest < FEW_IN_A_FOLD:
        warn(f"a fold should have at least {FEW_IN_A_FOLD} {what}")


def _number_of_folds(wanted: int, y: np.ndarray, groups: np.ndarray | None) -> int:
    if wanted < 2:
        raise InputError(f"cv must be at least 2 folds; got {wanted}.")
    if len(y) < 2:
        raise InputError(
            f"cross-validation needs at least 2 rows; got n_samples = {len(y)}; pass a fitted model"
            " instead."
        )
    if groups is None:
        return min(wanted, len(y))
    n_groups = len(np.unique(groups))
    if n_groups < 2:
        raise InputError(
            "cross-validation that keeps groups or clusters whole needs at least 2 groups; got 1 in"
            " the rows of a fit; pass rows of more, leave them out, or pass a fitted model."
        )
    return min(wanted, n_groups)


def _coded(groups: Any, n: int) -> np.ndarray:
    """Return the number of each row's group, in sorted order if groups can be sorted; names may be
    of any kinds, and 1 and "1" differ.
    """
    values = groups.tolist() if hasattr(groups, "tolist") else list(groups)
    if len(values) != n:
        raise InputError(f"groups must have one entry for each of the {n} rows; got {len(values)}.")
    for i, value in enumerate(values):
        if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
            raise InputError(
                f"groups must name the group of every row; row {i} is {value!r}; give such rows a"
                " group of their own."
            )
    names = list(dict.fromkeys(values))
    with suppress(TypeError):
        names.sort()
    code = {name: k for k, name in enumerate(names)}
    return np.array([code[value] for value in values])


def _positions(rows: np.ndarray) -> np.ndarray:
    return np.flatnonzero(rows) if rows.dtype.kind == "b" else rows.astype(np.intp)


def _usable(
    splits: list[tuple[np.ndarray, np.ndarray]], n: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the splits, once there are some and each has rows to fit and rows held out, all within
    the data.
    """
    if not splits:
        raise InputError(
            "cv must return at least one split into rows to fit and rows held out; it returns none."
        )
    for k, (fit_rows, held_out) in enumerate(splits):
        if not (len(fit_rows) and len(held_out)):
            raise InputError(
                f"each split of cv needs rows to fit and rows held out; split {k} has"
                f" {len(fit_rows)} and {len(held_out)}."
            )
        if max(fit_rows.max(), held_out.max()) >= n:
            raise InputError(
                f"the splits of cv must contain rows below {n}; split {k} contains"
                f" {max(fit_rows.max(), held_out.max())}."
            )
    return splits


# -- Rows that are ordered in time -----------------------------------------------------------------


def time_blocks(times: ArrayLike | int, length: int | None = None) -> np.ndarray:
    """Number the blocks of consecutive rows, as ``cluster=`` of intervals and tests for
    autocorrelated rows.

    Parameters
    ----------
    times : (n,) numbers, dates or sortable texts, in any order; or the number of rows, if they are
        ordered in time. Rows of equal time are in one block.
    length : int, optional
        Rows in a block; default n to the power 1/3, rounded up. It should exceed the range of the
        autocorrelation.

    Returns
    -------
    (n,) int
        From 0, in order of time.

    Raises
    ------
    InputError
        When a time is missing, or the length is not a whole number of at least 1.

    See Also
    --------
    rolling_evaluation : uses them for its intervals.

    Notes
    -----
    An interval that resamples rows treats each as independent; with autocorrelated errors it is too
    narrow. Whole blocks preserve the order of rows, except at their ends. At least ten blocks are
    needed, and thirty are better.

    References
    ----------
    Kunsch, "The jackknife and the bootstrap for general stationary observations", Annals of
    Statistics 17, 1989.

    Examples
    --------
    >>> time_blocks(7, length=3).tolist()
    [0, 0, 0, 1, 1, 1, 2]
    >>> time_blocks(["2026-03", "2026-01", "2026-02", "2026-01"], length=2).tolist()
    [1, 0, 1, 0]
    """
    first = time_ranks(np.arange(_number(times)) if isinstance(times, int | np.integer) else times)
    if length is not None:
        require_count("length", length)
    return np.unique(
        first // (length or max(1, int(np.ceil(len(first) ** (1.0 / 3.0) - 1e-9)))),
        return_inverse=True,
    )[1]


def time_ranks(times: Any) -> np.ndarray:
    """Return (n,) the number of rows before each row's time."""
    values = plain_array(times, "times")
    if values.ndim != 1 or len(values) == 0:
        raise InputError(f"times must be (n,), one for each row; got shape {values.shape}.")
    missing = np.array([value is None or value != value for value in values.tolist()])
    if values.dtype.kind in "mM":
        missing |= np.isnat(values)
    if missing.any():
        raise InputError(
            f"times must have the time of every row; row {int(np.flatnonzero(missing)[0])} has"
            " none; drop such rows."
        )
    try:
        _, index, count = np.unique(values, return_inverse=True, return_counts=True)
    except TypeError as error:
        raise InputError(f"times must be of one kind, numbers, dates or texts; {error}.") from error
    return (np.cumsum(count) - count)[index]


def past_and_next(ranks: np.ndarray, n_splits: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Return (rows before, rows next) of each of ``n_splits`` steps, from ``time_ranks``, so that
    rows of equal time stay together.

    Examples
    --------
    >>> [
    ...     (past.tolist(), after.tolist())
    ...     for past, after in past_and_next(np.array([0, 1, 2, 3]), 1)
    ... ]
    [([0, 1], [2, 3])]
    """
    part = ranks * (n_splits + 1) // len(ranks)
    for k in range(1, n_splits + 1):
        past, after = np.flatnonzero(part < k), np.flatnonzero(part == k)
        if not (len(past) and len(after)):
            raise InputError(
                f"{len(np.unique(ranks))} different times cannot be cut into {n_splits + 1} parts;"
                " use fewer splits."
            )
        yield past, after


def _number(n: int | np.integer[Any]) -> int:
    require_count("times", n)
    return int(n)
