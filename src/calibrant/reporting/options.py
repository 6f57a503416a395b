"""Options of a report, the same for Python, the command and the page; and the settings of a
measurement, once the options are read beside the rows.
"""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from calibrant.audits.sample import columns_of, shown_groups
from calibrant.core.arrays import ArrayLike
from calibrant.core.domain import columns_named
from calibrant.core.estimators import require_count
from calibrant.core.given import Inputs
from calibrant.core.groups import WeightKind, label_columns
from calibrant.errors import InputError
from calibrant.reporting.drift import Times, read_times

__all__ = ["Decisions", "ReportOptions", "Settings", "refuse_unknown"]

#: Options that say how predictions are read; each kind takes some of them.
READING = ("sample_weight", "inputs", "classes", "X", "reference", "outputs")
#: Parts of a feature that is a number.
PARTS = 5


def refuse_unknown(options: Iterable[str], known: list[str]) -> None:
    """Raise TypeError for an option that is not known, with those that are."""
    for name in options:
        if name not in known:
            raise TypeError(f"report has no option {name!r}; it has {known}.")


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """Options of a report.

    Parameters
    ----------
    test : (y_test, P_test), (y_test, P_test, weight_test) or (y_test, P_test, weight_test,
        groups_test[, X_test]), optional
        Fit on all of ``y, P`` and measure on these rows instead; of forecasts, ``(mean, std)`` is
        P_test.
    new : predictions of later rows without labels, optional
        Their performance is estimated, as by :func:`calibrant.estimate_performance`.
    groups : (n,) labels of any kind, or a frame of several columns, whose combinations are the
        groups; optional
        Of the rows measured (those of ``test``, if given): their gaps between confidence and
        accuracy, or coverage, the worst first. A calibrator that takes groups, as the automatic
        choice and :class:`GroupCalibrator`, is given them, too. Where ``test`` has groups of its
        own, these are those of ``y, P``.
    features : frame, mapping or (n, c) array of columns, optional
        Of the rows measured, what the model saw or what it did not: the gaps in the levels of each,
        of numbers in five parts, the worst first.
    times : (n,) dates, optional
        Of the rows measured: the calibration over time, by group too, and whether it has changed.
    every : {"auto", "hour", "day", "week", "month", "year"}
        Of ``times``; "auto" is the shortest that makes at most 40 of them.
    cluster : (n,) labels of any kind, optional
        Clusters of dependent rows among those measured (visits of one patient, answers to one
        question). Every interval and test then counts clusters, and folds do not split them.
        Metrics without a clustered interval have none: a binned calibration error is shown beside
        the one expected by chance. Not with ``times``, whose alarm counts rows.
    weight_kind : {"frequency", "sampling"}
        Weights count repeated rows, or correct a sampling design or importance ("sampling").
    n_splits : int, optional
        Number of folds in which an unfitted calibrator is fitted again. Default: 5; the automatic
        choice uses the folds of its own fit.
    in_sample : bool, optional
        Whether a fitted calibrator was fitted on these rows. Default: found out by fitting it again
        and comparing.
    n_bins : int, optional
        Bins of the reliability curve and the calibration errors, 15; of forecasts, bins of the
        error against the predicted std, 10, fewer where that would leave less than 30 rows a bin.
    level : float, default 0.95
        Of all intervals.
    n_resamples : int, default 1000
        Of the bootstrap.
    random_state : int, default 0
    target : {"event", "answer", "classes"} or a class label, optional
        The question asked of classes: how likely is the event (the second of two classes; or the
        class named, against the rest), how likely is the model's own answer right, or how likely is
        each class. Default: the event of two classes, the classes of more; the answer where a
        calibrator gives confidences alone.
    margin : float in (0, 1), optional
        The largest error that would not matter, in probability; of error bars, of the coverage of
        90 % intervals. Default: .02, 2 points, and of an event, or its absence, rarer than one row
        in ten a fifth of its rate. Beyond it they are "off".
    thresholds : (m,) in (0, 1), optional
        Of decisions on an event, to be looked at one by one.
    cost_false_positive, cost_false_negative : float, optional
        Of a wrong alarm and of a missed event, in any unit: they set the threshold, and the cost of
        each.
    title, model, event, period, version : str, optional
        Names for the head of the page: of the report (default: the model, or "Calibration report"),
        of the model, of the event in words, of the time of the rows (default: from ``times``), and
        the model's version.
    progress : callable, optional
        Called with each finished fold's number.
    sample_weight : (n,) weights of the rows, optional
    inputs, classes, X, reference : optional
        Of classes, as for ``Calibrator.fit``; by default those of the calibrator.
    outputs : names of the outputs of forecasts, optional
        Default: those of a frame.

    Raises
    ------
    InputError
        When an option is out of its range, or two exclude each other.

    Examples
    --------
    >>> ReportOptions(level=0.9).n_resamples
    1000
    """

    test: Any = None
    new: Any = None
    groups: Any = None
    features: Any = None
    times: Any = None
    every: Literal["auto", "hour", "day", "week", "month", "year"] = "auto"
    cluster: ArrayLike | None = None
    weight_kind: WeightKind = "frequency"
    n_splits: int | None = None
    in_sample: bool | None = None
    n_bins: int | None = None
    level: float = 0.95
    n_resamples: int = 1000
    random_state: int = 0
    target: Any = None
    margin: float | None = None
    thresholds: ArrayLike | None = None
    cost_false_positive: float | None = None
    cost_false_negative: float | None = None
    title: str | None = None
    model: str | None = None
    event: str | None = None
    period: str | None = None
    version: str | None = None
    progress: Callable[..., Any] | None = None
    sample_weight: ArrayLike | None = None
    inputs: Inputs | None = None
    classes: ArrayLike | None = None
    X: Any = None
    reference: Any = None
    outputs: Any = None

    def __post_init__(self) -> None:
        number = isinstance(self.margin, int | float | np.number)
        if self.margin is not None and not (number and 0.0 < self.margin < 1.0):
            raise InputError(
                f"margin must be between 0 and 1, as .02 for 2 points; got {self.margin!r}."
            )
        require_count("n_bins", 1 if self.n_bins is None else self.n_bins)
        require_count("n_resamples", self.n_resamples, 0)
        if (self.cost_false_positive is None) != (self.cost_false_negative is None):
            raise InputError(
                "cost_false_positive and cost_false_negative need each other; got one of them; pass"
                " both, or neither."
            )
        if self.every != "auto" and self.times is None:
            raise InputError(f"every={self.every!r} needs times; got none; pass the dates of rows.")
        if self.times is not None and self.cluster is not None:
            raise InputError(
                "times and cluster exclude each other: the alarm for a change counts rows as"
                " independent; leave one of them out."
            )

    @classmethod
    def of(cls, options: dict[str, Any], read: Callable[..., Any]) -> "ReportOptions":
        """Return the ``options`` of a report whose predictions are read by ``read``.

        Raises
        ------
        TypeError
            For an option that no report, or none of its kind, has.
        """
        reads = inspect.signature(read).parameters
        known = [one.name for one in fields(cls) if one.name not in READING or one.name in reads]
        refuse_unknown(options, known)
        return cls(**options)

    def require_event(self, event: Any) -> None:
        """Raise InputError for options of decisions where no ``event`` is predicted."""
        names = ("thresholds", "cost_false_positive", "cost_false_negative")
        passed = [name for name in names if getattr(self, name) is not None]
        if event is None and passed:
            raise InputError(
                f"{' and '.join(passed)} must not be passed unless the report is on the risk of an"
                " event; name the event with target=, or leave them out."
            )

    @property
    def reading(self) -> dict[str, Any]:
        """The options that say how predictions are read, of those that were passed."""
        values = {name: getattr(self, name) for name in READING}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True)
class Decisions:
    """Options for decisions based on risks: thresholds, and the costs of a false alarm and a missed
    event.
    """

    thresholds: Any = None
    cost_false_positive: float | None = None
    cost_false_negative: float | None = None


@dataclass(frozen=True)
class Settings:
    """Settings of the measurement, and what is known of the rows beside the predictions: groups
    (with their columns), features (cut into parts) and times, each None where it was not given.

    ``page`` says whether the sections that only a page shows are made.
    """

    n_bins: int
    level: float
    n_resamples: int
    random_state: int
    margin: float | None = None
    decisions: Decisions = Decisions()
    groups: Any = None
    columns: Any = None
    features: Any = None
    times: Times | None = None
    page: bool = True

    @classmethod
    def of(cls, options: ReportOptions, groups: Any, record: Any, n_bins: int) -> "Settings":
        """Return the settings for the rows of the ``record``, with their ``groups``; ``n_bins`` is
        the default of the kind.
        """
        labelled = columns_named(record) if groups is None else label_columns(groups, record)
        return cls(
            n_bins if options.n_bins is None else options.n_bins,
            options.level,
            options.n_resamples,
            options.random_state,
            options.margin,
            Decisions(options.thresholds, options.cost_false_positive, options.cost_false_negative),
            shown_groups(labelled, PARTS, record.weights) if labelled else None,
            labelled or None,
            _parts_of(options.features, record),
            read_times(options.times, options.every, record),
        )

    @property
    def dated(self) -> bool:
        """Whether the rows have several times."""
        return self.times is not None and len(self.times.starts) > 1


def _parts_of(features: Any, record: Any) -> list[Any] | None:
    """The columns, cut into parts."""
    if features is None:
        return None
    named = [
        (name or f"feature {j + 1}", values)
        for j, (name, values) in enumerate(label_columns(features, record, "features"))
    ]
    return columns_of(named, PARTS, record.weights)
