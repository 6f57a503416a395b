"""Internal validation of a model by resampling its own rows, and its result."""

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._numerics.bootstrap import mixed_codes, numbered_by_content, resample_weights
from calibrant._numerics.intervals import normal_quantile
from calibrant._numerics.logistic import sigmoid
from calibrant.core import arrays
from calibrant.core.arrays import ArrayLike
from calibrant.core.estimators import clone, require_count, seeded
from calibrant.core.extras import import_extra
from calibrant.core.groups import cluster_numbers, feature_codes, n_rows, take_rows
from calibrant.core.guarantee import plain
from calibrant.core.labels import label_array
from calibrant.core.metric import require_level
from calibrant.core.model_outputs import is_fitted, model_output, takes_in_fit, with_weight
from calibrant.core.predictions import read
from calibrant.core.text_table import text_table
from calibrant.errors import CalibrationWarning, InputError
from calibrant.metrics.event_calibration import calibration_in_the_large, calibration_slope
from calibrant.metrics.events import event_brier_score
from calibrant.metrics.proper import log_loss
from calibrant.metrics.ranking import event_auroc

__all__ = [
    "MEASURED",
    "Measures",
    "Rows",
    "ValidatedMetric",
    "Validation",
    "measure",
    "resample_measures",
    "uninformed",
    "validate",
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


#: The share of rows that a resample is expected to hold.
HELD = 0.632


@seeded
def validate(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    n_resamples: int = 200,
    n_outer: int = 50,
    n_inner: int = 4,
    level: float = 0.95,
    random_state: int = 0,
) -> Validation:
    r"""Validate a whole pipeline on its own rows, by bootstrap optimism and by .632+.

    The model is fitted to all rows, with the apparent value :math:`\theta` of a metric, and again
    to each of B resamples. With :math:`\theta_b^{\text{in}}` on resample b and :math:`\theta_b` of
    the same fit on all rows, the optimism and the corrected value are

    .. math:: O = \frac1B \sum_b (\theta_b^{\text{in}} - \theta_b), \qquad \theta - O

    With :math:`\bar\theta^{\text{out}}` the mean over the rows outside each fit and :math:`\gamma`
    the value without information,

    .. math:: \theta_{.632+} = (1 - w) \theta + w \bar\theta^{\text{out}}, \qquad w = \frac{.632}{1
        - .368 R}, \qquad
              R = \frac{\bar\theta^{\text{out}} - \theta}{\gamma - \theta} \in [0, 1]

    Parameters
    ----------
    model : classifier
        Any scikit-learn classifier or pipeline with ``predict_proba``, such as
        :class:`CalibratedClassifier`; clones of it are fitted. Choices of features or settings must
        be part of it, so that each resample repeats them.
    X : (n, ...) features: array, sparse matrix, data frame
    y : (n,) labels of two classes; the second in sorted order is the event.
    sample_weight : (n,), optional
        Weight 2 means the row twice.
    cluster : (n,) labels of any kind, optional
        Dependent rows, such as the visits of one patient: whole clusters are resampled.
    n_resamples : int, default 200
        B, the number of resamples for the optimism.
    n_outer, n_inner : int, default 50 and 4
        Number of samples of the two-stage bootstrap for the intervals, and of resamples of each:
        ``n_outer * (n_inner + 1)`` more fits. ``n_outer=0`` leaves the intervals out.
    level : float, default 0.95
        The level of the intervals.
    random_state : int, default 0
        Seed of the resamples.

    Returns
    -------
    Validation
        Log loss, Brier score, AUROC, calibration slope and calibration in the large: apparent,
        optimism, corrected, .632+, intervals.

    Raises
    ------
    InputError
        When ``y`` does not hold two classes, a count is too small, or the rarer class is so rare
        that resamples miss it.

    See Also
    --------
    metrics.validation_size : rows that an external validation needs.
    metrics.compute : metrics on rows that are new to the model.

    Notes
    -----
    Use it where all rows are needed to build the model and none can be held out; it is more
    efficient than one split. It applies to new rows of the same population alone; another site or a
    later year needs an external validation. Prefer .632+ where the model can fit its rows perfectly
    (forests, boosting, nearest neighbours): there the optimism of the resamples, whose rows recur
    in the test on all rows, is too small, and the result warns of it. The corrected slope is the
    recommended shrinkage factor of the log-odds.

    The intervals are for the metric of this model on new rows, by a two-stage bootstrap: everything
    is repeated on each of ``n_outer`` resamples, whose models are compared with their values on all
    rows, the population of these samples. The variance of these errors, minus the part from the few
    inner resamples, is that of the estimate. Log loss and Brier score have their intervals on the
    log scale, the AUROC on that of the log-odds. On samples of 150 to 200 rows 95 % intervals held
    the truth in 85 to 99 % of simulations, by metric (``python -m benchmarks.planning``); .632+ a
    little less often.

    Copies of a row stay in one fold if the model's ``fit`` accepts ``groups``, as that of
    ``CalibratedClassifier`` does; a grid search has copies on both sides of its splits, and may
    choose too flexible a model. Means omit resamples with an undefined metric. Calibration in the
    large has no value without information, so its .632+ is .632. Efron and Tibshirani average the
    losses of unseen rows row by row; here each resample's mean counts once.

    References
    ----------
    Harrell, Lee and Mark, "Multivariable prognostic models", Statistics in Medicine 15, 1996 (R's
    ``rms::validate``). Efron and Tibshirani, "Improvements on cross-validation: the .632+ bootstrap
    method", JASA 92, 1997. Noma et al., "Confidence intervals of prediction accuracy measures for
    multivariable prediction models based on the bootstrap-based optimism correction methods",
    Statistics in Medicine 40, 2021 (the two stages). Cai et al., "Bootstrapping the
    cross-validation estimate", 2023 (variance from few inner resamples).

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(120, 8))
    >>> y = rng.random(120) < 1 / (1 + np.exp(-X[:, 0]))
    >>> found = validate(LogisticRegression(C=np.inf), X, y, n_resamples=50, n_outer=0)
    >>> slope = found["calibration_slope"]
    >>> round(slope.apparent, 2), round(slope.corrected, 1)
    (1.0, 0.8)
    """
    require_level(level)
    require_count("n_resamples", n_resamples, 2, usual=200)
    require_count("n_outer", n_outer, 0, usual=50)
    require_count("n_inner", n_inner, 2, usual=4)
    rows, rng = _rows(model, X, y, sample_weight, cluster), np.random.default_rng(random_state)
    whole = _fitted(rows, model, rows)
    found = resample_measures(rows, model, n_resamples, rng)
    outer: list[_Outer] = []
    for _ in range(n_outer):
        sample = rows.resampled(rows.drawn(rng))
        outer.append(
            _Outer(_fitted(sample, model, rows), resample_measures(sample, model, n_inner, rng))
        )
    metrics = tuple(_metric(j, whole, found, outer, level) for j in range(len(MEASURED)))
    return Validation(
        metrics, float(rows.weight.sum()), float(rows.weight @ rows.event), n_resamples, level
    )


@dataclass(frozen=True)
class _Fitted:
    """Metrics (5,) of a model on the rows of its fit, the same without information, and on the
    population of these rows.
    """

    apparent: np.ndarray
    informed: np.ndarray
    truth: np.ndarray


@dataclass(frozen=True)
class _Outer:
    """Outer sample of the rows, with its fitted model and its resamples."""

    fitted: _Fitted
    inner: list[Measures]

    def errors(self, j: int) -> list[float]:
        """Return the error of the corrected value of metric j, for each inner resample alone."""
        start = self.fitted.apparent[j] - self.fitted.truth[j]
        return [start - (one.training[j] - one.test[j]) for one in self.inner]

    def errors_plus(self, j: int) -> list[float]:
        """Return the same for the .632+ estimate."""
        own = self.fitted
        return [
            _plus(own.apparent[j], one.unseen[j], own.informed[j]) - own.truth[j]
            for one in self.inner
        ]


def _rows(
    model: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, cluster: ArrayLike | None
) -> Rows:
    if not (hasattr(model, "fit") and hasattr(model, "predict_proba")):
        raise InputError(
            f"model must have fit and predict_proba; got {type(model).__name__}; wrap it in"
            " CalibratedClassifier."
        )
    if is_fitted(clone(model)):
        raise InputError(
            f"model must not be frozen, because it is fitted again; got {type(model).__name__};"
            " pass the model inside it."
        )
    labels = label_array(y, "y")
    if labels.ndim != 1 or n_rows(X) != len(labels):
        raise InputError(
            f"y must have one label for each of the {n_rows(X)} rows of X; got shape"
            f" {labels.shape}; pass both for all rows."
        )
    weight, kept = arrays.weights(sample_weight, len(labels))
    units = None if cluster is None else cluster_numbers(cluster, read(np.full(len(labels), 0.5)))
    if kept is not None:
        labels, units = labels[kept], None if units is None else units[kept]
    held = X if kept is None else take_rows(X, np.flatnonzero(kept))
    classes, event = np.unique(labels, return_inverse=True)
    if len(classes) != 2:
        raise InputError(
            f"y must hold two classes; got {len(classes)}: {classes.tolist()[:5]}; validate one"
            " class against the others."
        )
    weights = np.ones(len(labels)) if weight is None else weight
    # In the order of their content, so that the resamples do not depend on that of the rows passed.
    codes = mixed_codes(feature_codes(held, weights), event.astype(np.uint64))
    order = np.lexsort((weights, codes))
    if units is not None:
        units = np.unique(units, return_inverse=True)[1]
        units = numbered_by_content(units, codes, weights)[order]
    held, events = take_rows(held, order), event[order].astype(np.float64)
    return Rows(held, events, weights[order], units, units, classes, weight is not None)


def _fitted(rows: Rows, model: Any, population: Rows) -> _Fitted:
    made = rows.fit(model)
    risk = rows.risks(made)
    everywhere = risk if population is rows else population.risks(made)
    truth = measure(everywhere, population.event, population.weight)
    return _Fitted(
        measure(risk, rows.event, rows.weight), uninformed(risk, rows.event, rows.weight), truth
    )


def _metric(
    j: int, whole: _Fitted, found: list[Measures], outer: list[_Outer], level: float
) -> ValidatedMetric:
    training, test, unseen = (
        np.array([getattr(one, name)[j] for one in found])
        for name in ("training", "test", "unseen")
    )
    both = np.isfinite(training) & np.isfinite(test)
    apparent, inside, everywhere = (
        float(whole.apparent[j]),
        _mean(training[both]),
        _mean(test[both]),
    )
    corrected, plus = (
        apparent - (inside - everywhere),
        _plus(apparent, _mean(unseen), float(whole.informed[j])),
    )
    key = MEASURED[j].key
    low, high = _limits(key, corrected, *_spread([one.errors(j) for one in outer]), level)
    low_plus, high_plus = _limits(key, plus, *_spread([one.errors_plus(j) for one in outer]), level)
    return ValidatedMetric(
        key,
        MEASURED[j].name,
        apparent,
        inside,
        everywhere,
        inside - everywhere,
        corrected,
        low,
        high,
        plus,
        low_plus,
        high_plus,
        int(both.sum()),
    )


def _mean(values: np.ndarray) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else math.nan


def _plus(apparent: float, unseen: float, informed: float) -> float:
    """Return the .632+ estimate, or .632 if there is no value without information or it lies on the
    wrong side.
    """
    gap, room = unseen - apparent, informed - apparent
    overfit = 0.0
    if math.isfinite(room) and room != 0.0 and gap / room > 0.0:
        overfit = min(gap / room, 1.0)
        unseen = apparent + overfit * room
    weight = HELD / (1.0 - (1.0 - HELD) * overfit)
    return (1.0 - weight) * apparent + weight * unseen


def _spread(values: list[list[float]]) -> tuple[float, float]:
    """Return (standard deviation of the errors, degrees of freedom) between outer samples, minus
    the part of the few inner resamples.
    """
    kept = [np.array(inner)[np.isfinite(inner)] for inner in values]
    kept = [inner for inner in kept if len(inner) > 1]
    if len(kept) < 2:
        return math.nan, 1.0
    means = np.array([inner.mean() for inner in kept])
    between, within = (
        means.var(ddof=1),
        float(np.mean([inner.var(ddof=1) / len(inner) for inner in kept])),
    )
    return math.sqrt(max(between - within, 0.1 * between)), len(kept) - 1.0


def _limits(
    key: str, value: float, deviation: float, freedom: float, level: float
) -> tuple[float, float]:
    """Return limits computed on the scale without bounds."""
    if not math.isfinite(deviation):
        return math.nan, math.nan
    half = normal_quantile(level, freedom) * deviation
    if key == "event_auroc" and 0.0 < value < 1.0:
        centre, half = math.log(value) - math.log1p(-value), half / (value * (1.0 - value))
        return float(sigmoid(centre - half)), float(sigmoid(centre + half))
    if key in ("log_loss", "event_brier_score") and value > 0.0:
        return value * math.exp(-half / value), value * math.exp(half / value)
    return value - half, value + half
