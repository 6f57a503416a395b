"""The worst calibration error among random groups of rows, by the size of the group."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant._support.options import require_count
from calibrant.contracts.columns import Record
from calibrant.contracts.on_record import on_record
from calibrant.contracts.regression_metric import RegressionMetric
from calibrant.errors import InputError
from calibrant.forecasts.read import ForecastRecord, read_forecast
from calibrant.metrics.regression.interval_calibration_error import interval_calibration_error
from calibrant.metrics.regression.root_mean_square_interval_calibration_error import root_mean_square_interval_calibration_error

__all__ = ["AdversarialGroupCalibration", "adversarial_group_calibration"]

NORMS: dict[int, RegressionMetric] = {1: interval_calibration_error, 2: root_mean_square_interval_calibration_error}


@dataclass(frozen=True)
class AdversarialGroupCalibration(Record):
    """One row a size of group: its share of the rows, and the mean and standard error over trials of the worst group's error."""

    share: np.ndarray
    error: np.ndarray
    standard_error: np.ndarray


def _of(
    record: ForecastRecord, *, n_sizes: int = 10, n_groups: int = 10, n_trials: int = 10, norm: int = 1, kind: str = "interval",
    random_state: int = 0,
) -> AdversarialGroupCalibration:  # fmt: skip
    for name, given, least in (("n_sizes", n_sizes, 2), ("n_groups", n_groups, 1), ("n_trials", n_trials, 2)):
        require_count(name, given, least)
    if norm not in NORMS:
        raise InputError(f"norm must be 1 or 2; got {norm!r}.")
    metric, rng, n = NORMS[norm].with_options(kind=kind), np.random.default_rng(random_state), len(record)
    share, worst = np.linspace(0.0, 1.0, n_sizes), np.empty((n_sizes, n_trials))
    for s, size in enumerate(np.clip(np.rint(share * n).astype(int), min(2, n), n)):
        for t in range(n_trials):
            rows = np.concatenate([rng.choice(n, size, replace=False) for _ in range(n_groups)])
            totals = metric.group_totals_of(record.take(rows), np.repeat(np.arange(n_groups), size), n_groups)
            worst[s, t] = np.max(metric.finalise(totals))
    return AdversarialGroupCalibration(share, worst.mean(axis=1), worst.std(axis=1, ddof=1) / np.sqrt(n_trials))


@on_record(_of)
def adversarial_group_calibration(
    y_true: ArrayLike, P: Any, std: ArrayLike | None = None, *, n_sizes: int = 10, n_groups: int = 10, n_trials: int = 10,
    norm: Literal[1, 2] = 1, kind: Literal["interval", "quantile"] = "interval", random_state: int = 0,
) -> AdversarialGroupCalibration:  # fmt: skip
    """The largest interval calibration error among random groups of rows, for groups of growing size.

    Parameters
    ----------
    y_true : (n,)
    P, std : (n,) each, mean and standard deviation, or a forecast in place of the mean
    n_sizes : int, default 10
        Sizes of groups, evenly from two rows to all.
    n_groups : int, default 10
        Groups drawn without replacement in a trial, of which the worst counts.
    n_trials : int, default 10
    norm : {1, 2}
        Mean or root mean square of the gaps over the levels.
    kind : {"interval", "quantile"}
        As in ``interval_calibration_error``.
    random_state : int, default 0

    Returns
    -------
    AdversarialGroupCalibration
        ``.frame()`` gives it as a data frame.

    Raises
    ------
    InputError
        When the forecasts cannot be read or an option cannot be used.

    See Also
    --------
    group_coverage : of groups that mean something.
    interval_calibration_error : of all rows.

    Notes
    -----
    Groups of few rows have large errors by chance alone: compare two forecasts of the same rows, or look for a curve that falls more
    slowly than one over the root of the size. ``standard_error`` is of the mean over trials; uncertainty-toolbox calls their standard
    deviation so. Weights are not taken, since a group of repeated rows is a smaller group.

    References
    ----------
    Zhao, Ma and Ermon, "Individual calibration with randomized forecasting", ICML 2020.

    Examples
    --------
    >>> curve = adversarial_group_calibration([0.0, 1.0, -1.0, 2.0], [0.0] * 4, [1.0] * 4, n_sizes=2)
    >>> curve.share.tolist(), bool(curve.error[0] > curve.error[1])
    ([0.0, 1.0], True)
    """
    record = read_forecast(P, std, y_true).one_output()
    return _of(record, n_sizes=n_sizes, n_groups=n_groups, n_trials=n_trials, norm=norm, kind=kind, random_state=random_state)
