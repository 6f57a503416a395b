"""Rolling evaluation of a calibrator, fitted on the past and tested on the next rows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant.core.arrays import ArrayLike, plain_array
from calibrant.core.estimators import require_count
from calibrant.core.folds import fit_clone, past_and_next, time_blocks, time_ranks
from calibrant.core.given import Inputs
from calibrant.core.guarantee import Record
from calibrant.core.kinds import require_any_calibrator, require_metric
from calibrant.core.metric_kinds import Metric
from calibrant.core.reading import read_for
from calibrant.core.text_table import text_table
from calibrant.errors import InputError
from calibrant.metrics.several import CHOSEN_BY

__all__ = ["RollingEvaluation", "rolling_evaluation"]

#: Task -> its default metric.


@dataclass(frozen=True, repr=False)
class RollingEvaluation(Record):
    """Table with one row a step: rows fitted and tested (sums of weights), the metric before and
    after calibration, and its interval after.

    It prints as a table.
    """

    n_fit: np.ndarray
    n: np.ndarray
    before: np.ndarray
    after: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def __repr__(self) -> str:
        rows = [
            (
                f"{n_fit:,.0f}",
                f"{n:,.0f}",
                f"{before:.4g}",
                f"{after:.4g}",
                f"[{low:.4g}, {high:.4g}]",
            )
            for n_fit, n, before, after, low, high in zip(*(self.to_dict().values()), strict=True)
        ]
        return "\n".join(
            text_table(("rows fitted", "rows judged", "before", "after", "interval"), rows)
        )


def rolling_evaluation(
    calibrator: Any,
    P: Any,
    y: ArrayLike,
    *,
    std: ArrayLike | None = None,
    times: ArrayLike | None = None,
    metric: Metric | None = None,
    n_splits: int = 5,
    length: int | None = None,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> RollingEvaluation:
    """Cut the rows into parts by time; fit on all parts up to each, and test on the next.

    Parameters
    ----------
    calibrator : Calibrator or RegressionCalibrator, fitted or not; it is not changed
    P : (n, K), or (n,) for binary; for regression the means, or a forecast of one output
    y : (n,) labels; for regression outcomes
    std : (n,), for regression
    times : (n,) numbers, dates or sortable texts, optional
        Default: the rows are in order of time. Rows of equal time stay in one part.
    metric : Metric, optional
        Default log loss, or CRPS for regression.
    n_splits : int, default 5
        Number of steps; the first of ``n_splits + 1`` parts is only for fitting.
    length : int, optional
        Length of the blocks that the intervals count instead of rows, see ``time_blocks``.
    level : float, default 0.95
        Level of the intervals.
    sample_weight : (n,), optional
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    RollingEvaluation
        ``.frame()`` returns it as a data frame.

    Raises
    ------
    InputError
        When there are fewer different times than parts, or a time is missing.

    See Also
    --------
    time_blocks : makes the blocks of the intervals.
    monitor : monitors a model in use.

    Notes
    -----
    A random split shows a calibrator the future, and is too optimistic where the population drifts.
    Predictions must come from a model fitted on the past alone. The steps share rows for fitting,
    so their results are correlated: read them as a curve.

    Examples
    --------
    >>> import numpy as np
    >>> import calibrant as cb
    >>> rng = np.random.default_rng(0)
    >>> said, y = rng.normal(size=300), rng.normal(size=300)
    >>> found = rolling_evaluation(
    ...     cb.StdScaling(), np.zeros(300), y, std=np.full(300, 0.2), n_splits=2
    ... )
    >>> found.n_fit.tolist(), bool((found.after < found.before).all())
    ([100.0, 200.0], True)
    """
    calibrator = require_any_calibrator(calibrator)
    metric = CHOSEN_BY[calibrator.domain].score if metric is None else require_metric(metric)
    if metric.domain is not calibrator.domain:
        raise InputError(
            f"metric must be of the calibrator's task; got {metric.name} for"
            f" {type(calibrator).__name__}."
        )
    require_count("n_splits", n_splits)
    record: Any = read_for([metric], y, P, std, sample_weight, classes, inputs).one_output()
    ranks = time_ranks(
        np.arange(len(record)) if times is None else record.per_row(_one_a_row(times, record))
    )
    steps = [
        _step(calibrator, metric, record, ranks, *rows, length, level)
        for rows in past_and_next(ranks, n_splits)
    ]
    return RollingEvaluation(*np.array(steps).T)


def _one_a_row(times: Any, record: Any) -> np.ndarray:
    values, n = (
        plain_array(times, "times"),
        len(record) if record.kept is None else len(record.kept),
    )
    if values.shape != (n,):
        raise InputError(
            f"times must have one entry for each of the {n} rows; got shape {values.shape}."
        )
    return values


def _step(
    calibrator: Any,
    metric: Any,
    record: Any,
    ranks: np.ndarray,
    past: np.ndarray,
    after: np.ndarray,
    length: Any,
    level: float,
) -> tuple[Any, ...]:
    fitted = fit_clone(calibrator, record.take(past))
    said = replace(record.take(after), cluster=time_blocks(ranks[after], length))
    calibrated = said.recalibrated(fitted.predict_record(said), output=calibrator.tags.output)
    found = metric.interval_of(calibrated, level=level)
    return (
        record.weights[past].sum(),
        said.weights.sum(),
        metric.of(said),
        metric.of(calibrated),
        found.low,
        found.high,
    )
