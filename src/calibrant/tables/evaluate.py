"""Evaluation of predictions in tables of any size, also file by file with sums saved after each, so
that a stopped run can resume.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from calibrant.core.arrays import ArrayLike
from calibrant.core.estimators import require_count, require_option
from calibrant.core.kinds import require_metric
from calibrant.core.metric_kinds import Metric, SumMetric
from calibrant.core.saving import Saved, load, require_unread
from calibrant.core.stores import Address, located, stamp
from calibrant.errors import InputError, SavedFileError
from calibrant.tables.columns import forecast_layout, layout, starred
from calibrant.tables.engines.choosing import (
    files,
    fold,
    opened,
    reading,
    table_of,
)
from calibrant.tables.evaluation import Evaluation, ForecastEvaluation
from calibrant.tables.kernel import ForecastKernel, Kernel

if TYPE_CHECKING:
    from calibrant.tables.kernel import Kernel
    from calibrant.tables.state import GroupState, Sliced

__all__ = ["FrameCheckpoint", "evaluate", "fold_files", "refuse_missing_times"]


class FrameCheckpoint(Saved):
    """The sums so far and the files they cover, each with its size and modification time."""

    def __init__(self, needed: Sequence[Any], state: "GroupState") -> None:
        self.needed: Sequence[Any] = needed
        self.state: GroupState = state
        self.done: dict[str, list[int]] = {}


def fold_files(
    module: Any,
    paths: Sequence[str],
    kernel: "Kernel",
    checkpoint: Path | None = None,
    progress: Callable[..., Any] | None = None,
) -> "GroupState":
    """The kernel's state over all files; files already in the checkpoint are not read again."""
    kept = _kept(checkpoint, paths, kernel)
    for count, path in enumerate(paths, start=1):
        if _name(path) not in kept.done:
            before = stamp(path)
            with reading([path]), _rows_of(path, len(paths)):
                kept.state += fold(module, [path], kernel)
            kept.done[_name(path)] = before
            if checkpoint is not None:
                kept.save(checkpoint, overwrite=True)
        if progress is not None:
            progress(count, len(paths))
    return kept.state


@contextmanager
def _rows_of(path: str, count: int) -> Iterator[None]:
    """Name the file of the row in an error, if there are several."""
    try:
        yield
    except InputError as error:
        if count == 1:
            raise
        words = re.sub(r"\brow [0-9]+\b", lambda row: f"{row[0]} of {path}", str(error), count=1)
        raise InputError(words) from None


def _kept(checkpoint: Any, paths: Sequence[str], kernel: Any) -> FrameCheckpoint:
    fresh = FrameCheckpoint(_asked(kernel), kernel.empty())
    if checkpoint is not None:
        require_unread(checkpoint, paths)
    if checkpoint is None or not checkpoint.exists():
        return fresh
    try:
        # Sums of many slices may compress very well, and the user wrote this file, so the size is
        # not limited.
        kept = load(checkpoint, max_bytes=sys.maxsize)
    except SavedFileError as error:
        remedy = "name another checkpoint, or delete this one to count every file again"
        raise InputError(str(error).replace("save the calibrator again", remedy)) from None
    if (
        not isinstance(kept, FrameCheckpoint)
        or kept.needed != fresh.needed
        or kept.state.settings != fresh.state.settings
    ):
        raise InputError(
            f"{checkpoint} must be a checkpoint of the same evaluation (columns, slices, bins);"
            " name another, or delete it to count every file again."
        )
    there = {_name(path): path for path in paths}
    changed = [
        name
        for name, before in kept.done.items()
        if name not in there or stamp(there[name]) != before
    ]
    if changed:
        raise InputError(
            f"{checkpoint} holds sums of {changed[0]}, which has changed or is not among the files;"
            " delete the checkpoint to start again."
        )
    return kept


def _name(path: Any) -> str:
    """The one name of a file, however its path is written."""
    return str(path) if isinstance(path, Address) else os.path.realpath(path)


def _asked(kernel: Any) -> list[Any]:
    return [str(vars(kernel.layout)), kernel.n_bins, kernel.grid]


#: Number of rows named in the message.
NAMED = 3


def refuse_missing_times(found: "Sliced", source: Any, module: Any, time: str | None) -> None:
    """Raise InputError if a source sliced by ``time`` has rows without a time, and number them."""
    # Time is the last of the columns that define a slice.
    if time is None or None not in found.state.levels[len(found.by) - 1]:
        return
    # On a cluster's engine rows have no order, so they cannot be numbered.
    rows = (
        []
        if module.CLUSTER
        else _missing(module.batches(opened(source, module), [time], ordered=True), time)
    )
    more = f" and {len(rows) - NAMED:,} more" if len(rows) > NAMED else ""
    named = f"{', '.join(f'row {row}' for row in rows[:NAMED])}{more}" if rows else "some rows"
    verb = "has" if len(rows) == 1 else "have"
    raise InputError(
        f"column {time!r} must have a time in every row; {named} {verb} none; repair those rows or"
        " filter them out first."
    )


def _missing(batches, name):
    rows, start = [], 0
    for batch in batches:
        empty = np.asarray(batch.column(name).is_null().to_numpy(zero_copy_only=False))
        rows += (start + np.flatnonzero(empty)).tolist()
        start += len(empty)
    return rows


#: Number of fine bins that are merged into bins of equal weight.
FINE_BINS = 4096


def evaluate(
    source: Any,
    *,
    label: str = "label",
    probabilities: str | Sequence[str] | None = None,
    score: ArrayLike | None = None,
    predicted: str | None = None,
    mean: Any = None,
    std: Any = None,
    quantiles: str | None = None,
    by: str | Sequence[str] = (),
    time: str | None = None,
    every: Literal["hour", "day", "week", "month", "quarter", "year"] = "day",
    weight: np.ndarray | None = None,
    classes: ArrayLike | None = None,
    target: Any = None,
    n_bins: int | None = None,
    strategy: Literal["width", "mass"] = "width",
    engine: Literal["auto", "polars", "duckdb", "pyarrow", "dask", "spark", "ray"] = "auto",
    checkpoint: Path | None = None,
    progress: Callable[..., Any] | None = None,
    metrics: Sequence[Metric] = (),
    cluster: str | None = None,
) -> Evaluation | ForecastEvaluation:
    r"""Compute scores and calibration errors by slice of a table of predictions of any size.

    It takes one pass and bounded memory.

    .. math::

        \mathrm{state} = \sum_{\mathrm{batches}}
        \mathrm{sums\ by\ (slice,\ predicted\ class,\ bin)}

    Parameters
    ----------
    source : path, folder, pattern such as "logs/\*.parquet", list of paths, or a table
        Files of Parquet, CSV or JSON lines, the text perhaps compressed (.gz); a path may be an
        address, such as "s3://bucket/logs/\*.parquet", in a store that pyarrow or fsspec reads.
        Tables of polars, DuckDB, pyarrow, pandas, Dask, Spark and Ray. A column of CSV is one of
        numbers if all of its values are; codes such as 007 are text.
    label : str, default "label"
        Column of true classes; for regression, of outcomes.
    probabilities : str or list of str
        Columns as a pattern ("p\_\*", whose star is the class) or a list, one column of lists, or
        one column with the probability of the second class.
    score, predicted : str
        Instead of all probabilities: the columns of the predicted class's probability and of the
        predicted class. Without ``predicted``, the label tells whether the answer was right: as 0
        and 1, booleans, no and yes, or by equality with ``target``.
    mean, std : str
        For regression instead: columns of predicted means and standard deviations.
    quantiles : str
        For regression instead: columns of quantiles, as a pattern "q\_\*" whose star is the level;
        as ends of intervals, "lower=0.1,upper=0.9"; as the name of a series of Darts (NAME_q0.1) or
        Nixtla (NAME-lo-80); or "auto": whichever the table has, or AutoGluon's 0.1 and 0.9.

    by : str or list of str
        Columns to slice by.
    time : str, optional
        Column of times to slice by as well, rounded down to ``every``; times with a zone in UTC.
    every : {"hour", "day", "week", "month", "quarter", "year"}
    weight : str, optional
        Column of weights; weight 2 is equivalent to repeating the row.
    classes : (K,) labels in column order, optional
    target : {"event", "answer"} or a class label, optional
        The probability to evaluate, as for :func:`report` and the command line. "event": that of
        the event, the last of two ``classes``, or the 1, true or yes of such labels. "answer": that
        the predicted class is right. A class label: that of this class. The default is "event" for
        one or two columns of probabilities, and "answer" otherwise.
    n_bins : int, default 15, and 10 for forecasts
    strategy : {"width", "mass"}
        "width" is exact. "mass" merges 4,096 fine bins, uniform in the logit of the score, into
        bins of equal weight; the column ``ece_bound`` bounds the difference from the exact error.
    engine : {"auto", "polars", "duckdb", "pyarrow", "dask", "spark", "ray"}
        "auto" is polars for files and a table's own engine otherwise; without a cluster, files at
        an address are read by pyarrow.
    checkpoint : path, optional
        For files: the sums are saved there after each file, and a later call resumes from them.
    progress : callable, optional
        For files, called as ``progress(done, total)`` after each file.
    metrics : list of Metric, optional
        Further metrics that are sums over rows, such as ``[metrics.observed_expected_ratio]``. Each
        adds a column named by its ``key`` (by its ``repr`` if two share a key), and its ``_low``
        and ``_high``. They need all probabilities.

    cluster : None
        Must be None: the intervals assume independent rows. Clusters of dependent rows may be
        spread over the whole table, so that their sums would need unbounded memory.

    Returns
    -------
    Evaluation or ForecastEvaluation
        ``.frame()`` has one row per slice. Other methods are ``.overall()``, ``.to_dict()`` and,
        for classes, ``.reliability_curve()``. Evaluations add up. For forecasts the metrics are
        NLL, CRPS, RMSE, MAE, sharpness, c_v, coverage and width of 90 % intervals, ENCE, UCE and
        interval calibration error.

    Raises
    ------
    InputError
        If a column is missing or its values cannot be used.
    MissingDependencyError

    See Also
    --------
    report : write a report on predictions in memory.
    worst_slices, monitor : analyse the result further.

    Notes
    -----
    The values equal those of ``calibrant.metrics`` on all rows at once, up to the order of
    summation (1e-9). Memory grows with the slices, predicted classes and bins that occur, not with
    rows.
    ``score=`` alone gives the losses of the confidence (``confidence_log_loss``,
    ``confidence_brier_score``), not those of all probabilities. For an event the columns are
    ``mean_risk``, ``event_rate``, ``observed_expected_ratio``, ``log_loss``, ``event_brier_score``
    and ``event_ece``. ENCE and UCE are those of the metrics with ``cells=32``: bins of equal weight
    by std whose edges are inexact by at most 2 %. With one process the kernel uses one core; a
    cluster's engine uses all.

    Examples
    --------
    >>> import pandas as pd
    >>> logs = pd.DataFrame(
    ...     {
    ...         "p_cat": [0.9, 0.4, 0.8],
    ...         "p_dog": [0.1, 0.6, 0.2],
    ...         "label": ["cat", "dog", "dog"],
    ...         "day": [1, 1, 2],
    ...     }
    ... )
    >>> found = evaluate(logs, probabilities="p_*", by="day", target="answer")
    >>> found.frame()[["day", "n", "accuracy", "ece"]].values.tolist()
    [[1.0, 2.0, 1.0, 0.25], [2.0, 1.0, 0.0, 0.8]]
    """
    of_numbers = mean is not None or quantiles is not None
    n_bins = (10 if of_numbers else 15) if n_bins is None else n_bins
    require_count("n_bins", n_bins)
    require_option("strategy", strategy, ("width", "mass"))
    _refuse(cluster)
    source, module, kinds = table_of(source, engine)
    sliced = {"label": label, "weight": weight, "by": by, "time": time, "every": every}
    if of_numbers:
        of_classes = {
            "probabilities": probabilities,
            "score": score,
            "predicted": predicted,
            "classes": classes,
            "target": target,
            "metrics": metrics or None,
            "strategy": None if strategy == "width" else strategy,
        }
        if given := [name for name, value in of_classes.items() if value is not None]:
            raise InputError(
                f"{given[0]}= applies to classification only; omit it with mean= or quantiles= of"
                " forecasts."
            )
        kernel = ForecastKernel(
            forecast_layout(kinds, mean=mean, std=std, quantiles=quantiles, **sliced), n_bins
        )
    else:
        target = _question(kinds, probabilities, target, metrics)
        columns = layout(
            kinds,
            probabilities=probabilities,
            score=score,
            predicted=predicted,
            classes=classes,
            target=target,
            **sliced,
        )
        summed = _sums(metrics, columns)
        kernel = Kernel(
            columns,
            FINE_BINS if strategy == "mass" else n_bins,
            "logit" if strategy == "mass" else "width",
            metrics=summed,
        )

    def result(state: "GroupState") -> Evaluation | ForecastEvaluation:
        if isinstance(kernel, ForecastKernel):
            return ForecastEvaluation(state, n_bins)
        return Evaluation(kernel.checked(state), strategy, n_bins, tuple(metrics))

    result(kernel.empty()).columns()  # refuses names of slices before the work
    paths = files(source)
    if paths is None and not (checkpoint is None and progress is None):
        raise InputError("checkpoint= and progress= need files as the source; got a table.")
    if checkpoint is None and progress is None:
        with reading(source):
            state = fold(module, source, kernel)
    else:
        state = fold_files(
            module, paths, kernel, None if checkpoint is None else located(checkpoint), progress
        )
    found = result(state)
    refuse_missing_times(found, source, module, time)
    return found


def _question(
    kinds: dict[str, str], probabilities: Any, target: str | None, metrics: Any
) -> str | None:
    """Resolve the default of ``target`` as ``calibrant.report`` does.

    With further ``metrics`` the default stays, because their sums need all classes.
    """
    if target is not None or probabilities is None or metrics:
        return target
    if isinstance(probabilities, str):
        names = list(starred(kinds, probabilities)) if "*" in probabilities else [probabilities]
    else:
        names = list(probabilities)
    one_list = len(names) == 1 and kinds.get(names[0]) == "list"
    return None if one_list or len(names) not in (1, 2) else "event"


def _refuse(cluster: str | None) -> None:
    if cluster is not None:
        raise InputError(
            f"cluster must be None, because tables are evaluated out of core; got {cluster!r}; load"
            " the rows, and use calibrant.report(cluster=) or metric.interval(cluster=)."
        )


def _sums(metrics: Any, columns: Any) -> Any:
    """Check that each metric is a sum over rows, and that all probabilities are available."""
    for metric in metrics:
        if (
            not isinstance(require_metric(metric, "each of metrics"), SumMetric)
            or metric.domain is not Kernel.domain
        ):
            raise InputError(
                f"metrics must be classification metrics that are sums over rows; {metric.name} is"
                " not; compute it on the rows in memory."
            )
        metric.with_options()
    if metrics and (columns.mode == "score" or columns.classes is None):
        raise InputError(
            "metrics= need the probabilities of all classes and their names; pass probabilities="
            " and classes=."
        )
    return metrics
