"""Result of an internal validation."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._numerics.bootstrap import resample_weights
from calibrant.core.estimators import clone
from calibrant.core.extras import import_extra
from calibrant.core.groups import take_rows
from calibrant.core.guarantee import plain
from calibrant.core.model_outputs import model_output, takes_in_fit, with_weight
from calibrant.core.predictions import read
from calibrant.core.text_table import text_table
from calibrant.errors import CalibrationWarning, InputError
from calibrant.metrics.events import event_brier_score
from calibrant.metrics.in_the_large import calibration_in_the_large
from calibrant.metrics.proper import log_loss
from calibrant.metrics.ranking import event_auroc
from calibrant.metrics.slope import calibration_slope

__all__ = [
    "MEASURED",
    "Measures",
    "Rows",
    "ValidatedMetric",
    "Validation",
    "measure",
    "resample_measures",
    "uninformed",
]

#: Metrics, in the order of the results.
MEASURED = (log_loss, event_brier_score, event_auroc, calibration_slope, calibration_in_the_large)
#: Maximum number of consecutive resamples of a single class before an error.
TRIES = 100
SMALLEST = 1e-12


@dataclass(frozen=True)
class Rows:
    """Rows of one sample.

    Attributes
    ----------
    X : (n, ...) features
    event : (n,) 1.0 where the row has the event, else 0.0
    weight : (n,) float64, all 1 unless ``weighted``
    unit : (n,) the clusters to draw as a whole, or None to draw rows
    copy_of : (n,) equal numbers for rows that must share a fold, or None
    classes : (2,) labels of the others and of the event
    weighted : whether fits use the weights
    """

    X: Any
    event: np.ndarray
    weight: np.ndarray
    unit: np.ndarray | None
    copy_of: np.ndarray | None
    classes: np.ndarray
    weighted: bool

    @property
    def carried(self) -> np.ndarray:
        """Return the weight that each drawn row keeps, (n,), or None if rows are drawn, because
        their weight is then the number of draws.
        """
        return np.ones(len(self.weight)) if self.unit is None else self.weight

    def drawn(self, rng: np.random.Generator) -> np.ndarray:
        """Return the number of times that each row is in a resample with both classes, (n,)."""
        for _ in range(TRIES):
            times = self._times(rng)
            held = times > 0.0
            if 0 < self.event[held].sum() < held.sum():
                return times
        events = float(self.weight @ self.event)
        rarer = min(events, float(self.weight.sum()) - events)
        raise InputError(
            f"y must hold more rows of the rarer class; got {rarer:g}, and {TRIES} resamples in a"
            " row had none; collect more."
        )

    def _times(self, rng: np.random.Generator) -> np.ndarray:
        if self.unit is None:
            return resample_weights(self.weight, rng)
        count = int(self.unit.max()) + 1
        return np.bincount(rng.integers(0, count, count), minlength=count)[self.unit].astype(
            np.float64
        )

    def resampled(self, times: np.ndarray) -> "Rows":
        """Return the rows repeated as often as they were drawn."""
        often = times.astype(np.intp)
        places = np.repeat(np.arange(len(often)), often)
        unit, origin = None, places if self.copy_of is None else self.copy_of[places]
        if self.unit is not None:
            # Each draw of a cluster is a new cluster, whose rows must still share a fold.
            nth = np.arange(len(places)) - np.repeat(np.cumsum(often) - often, often)
            unit = np.unique(self.unit[places] * (nth.max() + 1) + nth, return_inverse=True)[1]
        copy_of = np.unique(origin, return_inverse=True)[1]
        return Rows(
            take_rows(self.X, places),
            self.event[places],
            self.carried[places],
            unit,
            copy_of,
            self.classes,
            self._keeps_weights(),
        )

    def _keeps_weights(self) -> bool:
        return self.weighted and self.unit is not None

    def fit(self, model: Any) -> Any:
        """Return a clone of the model fitted to these rows; copies of a row stay in one fold if its
        ``fit`` accepts groups.
        """
        params: dict[str, Any] = (
            {}
            if self.copy_of is None or not takes_in_fit(model, "groups")
            else {"groups": self.copy_of}
        )
        params = with_weight(model, params, self.weight) if self.weighted else params
        return clone(model).fit(self.X, self.classes[self.event.astype(np.intp)], **params)

    def risks(self, model: Any) -> np.ndarray:
        """Return the probability of the event under a fitted model for each row, (n,)."""
        return np.asarray(
            model_output(model, self.X, "probability", self.classes, None), dtype=np.float64
        )[:, 1]


@dataclass(frozen=True)
class Measures:
    """Metrics of one model on the rows of its resample, on all rows, and on unseen rows, each (5,);
    nan where undefined.
    """

    training: np.ndarray
    test: np.ndarray
    unseen: np.ndarray


def measure(risk: np.ndarray, event: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the metrics (5,) of risks (n,); nan if the rows hold one class alone."""
    counted = weight > 0.0
    risk, event, weight = risk[counted], event[counted], weight[counted]
    if not 0 < event.sum() < len(event):
        return np.full(len(MEASURED), np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        record = read(risk, event.astype(np.intp), sample_weight=weight)
        return np.array([metric.of(record) for metric in MEASURED], dtype=np.float64)


def uninformed(risk: np.ndarray, event: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the metrics (5,) for outcomes independent of the risks (Efron and Tibshirani's
    no-information rate).
    """
    share, p = weight / weight.sum(), np.clip(risk, SMALLEST, 1.0 - SMALLEST)
    rate = float(share @ event)
    loss = -rate * (share @ np.log(p)) - (1.0 - rate) * (share @ np.log1p(-p))
    square = rate * (share @ (1.0 - risk) ** 2) + (1.0 - rate) * (share @ risk**2)
    return np.array([loss, square, 0.5, 0.0, np.nan])


def resample_measures(
    rows: Rows, model: Any, count: int, rng: np.random.Generator
) -> list[Measures]:
    """Return the measures of the model on each of ``count`` resamples."""
    found: list[Measures] = []
    for _ in range(count):
        times = rows.drawn(rng)
        risk = rows.risks(rows.resampled(times).fit(model))
        weights = (times * rows.carried, rows.weight, np.where(times > 0.0, 0.0, rows.weight))
        found.append(Measures(*(measure(risk, rows.event, weight) for weight in weights)))
    return found


#: Two corrected AUROCs that differ by more than this indicate that resamples underestimate the
#: optimism.
APART = 0.05


@dataclass(frozen=True)
class ValidatedMetric:
    """One metric of an internally validated model.

    Attributes
    ----------
    key, name : str
        The metric's key and its name.
    apparent : float
        Its value on the rows that the model was fitted to.
    training, test : float
        Means over the resamples: on the resample of each fit, and of that fit on all rows.
    optimism : float
        ``training - test``.
    corrected : float
        ``apparent - optimism``, the estimate of the metric on new rows.
    low, high : float
        The interval of ``corrected``; nan without one.
    corrected_632 : float
        The .632+ estimate of the metric on new rows.
    low_632, high_632 : float
        Its interval; nan without one.
    resamples : int
        Number of resamples where the metric was defined.
    """

    key: str
    name: str
    apparent: float
    training: float
    test: float
    optimism: float
    corrected: float
    low: float
    high: float
    corrected_632: float
    low_632: float
    high_632: float
    resamples: int


@dataclass(frozen=True, repr=False)
class Validation:
    """Metrics of an internally validated model; it prints as a table, and ``result["event_auroc"]``
    is one metric.

    Attributes
    ----------
    metrics : tuple of ValidatedMetric
        One for each metric.
    n, events : float
        Rows, and rows with the event (sums of weights).
    n_resamples : int
        Number of resamples behind the optimism.
    level : float
        The level of the intervals.

    See Also
    --------
    validate : makes this result.
    """

    metrics: tuple[ValidatedMetric, ...]
    n: float
    events: float
    n_resamples: int
    level: float

    def __getitem__(self, key: str) -> ValidatedMetric:
        """Return the metric of this key, such as "log_loss"."""
        return {one.key: one for one in self.metrics}[key]

    @property
    def caution(self) -> str | None:
        """The column to prefer if the two corrections disagree; None if they agree."""
        one = self["event_auroc"]
        if not one.corrected - one.corrected_632 > APART:
            return None
        return (
            f"The corrected AUROC ({one.corrected:.3f}) is far above .632+"
            f" ({one.corrected_632:.3f}): the model fits its rows almost perfectly, so that the"
            " resamples show too little optimism; read .632+."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values, ready for JSON; ``metrics`` is by key."""
        known = {
            name: getattr(self, name) for name in ("n", "events", "n_resamples", "level", "caution")
        }
        return plain({**known, "metrics": {one.key: vars(one) for one in self.metrics}})

    def frame(self) -> Any:
        """Return one row a metric, as a pandas data frame."""
        pandas = import_extra("pandas", "a data frame of a validation", "frames")
        return pandas.DataFrame([vars(one) for one in self.metrics])

    def __repr__(self) -> str:
        interval = f"{100.0 * self.level:g} % interval"
        head = ("metric", "apparent", "optimism", "corrected", interval, ".632+", interval)
        rows = [
            (
                one.name,
                *_said(one.apparent, one.optimism, one.corrected),
                _range(one.low, one.high),
                *_said(one.corrected_632),
                _range(one.low_632, one.high_632),
            )
            for one in self.metrics
        ]
        said = f"{self.n:,.0f} rows, {self.events:,.0f} events, {self.n_resamples:,} resamples"
        return "\n".join([said, *text_table(head, rows), *([self.caution] if self.caution else [])])


def _said(*values: float) -> list[str]:
    return [f"{value:.3f}" for value in values]


def _range(low: float, high: float) -> str:
    return "" if low != low else f"[{low:.3f}, {high:.3f}]"
