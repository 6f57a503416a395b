"""Estimates of performance on new rows without labels, and metrics of labelled and new rows as
functions of the rows' masses, with their errors.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np

from calibrant._numerics.intervals import inside, normal_quantile
from calibrant._numerics.logistic import log_odds, sigmoid
from calibrant._numerics.thresholds import expected_auroc, expected_f1, expected_mean
from calibrant.core import arrays
from calibrant.core.arrays import ArrayLike
from calibrant.core.estimators import clone, on_one_blas_thread, require_option, seeded
from calibrant.core.forecast_record import ForecastRecord, as_forecast, read_forecast
from calibrant.core.given import Inputs
from calibrant.core.groups import group_columns, order_of
from calibrant.core.guarantee import Result
from calibrant.core.metric import require_level
from calibrant.core.predictions import Predictions, read
from calibrant.errors import InputError, naming
from calibrant.monitoring.expected_outcomes import (
    Moved,
    NewRates,
    class_chances,
    error_sizes,
    log_odds_of_second,
    new_rates,
)
from calibrant.monitoring.importance import ImportanceWeights

__all__ = [
    "BOUNDED",
    "CLASS_METRICS",
    "ERROR_METRICS",
    "Estimate",
    "PerformanceEstimate",
    "class_estimate",
    "error_estimate",
    "estimate_performance",
    "estimates",
    "metric_key",
    "value_of_labelled",
]


#: Metrics of classes and of forecasts by their key, those with another name, and shares.
CLASS_METRICS = (
    "accuracy",
    "event_auroc",
    "f1",
    "log_loss",
    "brier_score",
    "event_brier_score",
    "cost",
)
ERROR_METRICS = ("mae", "rmse")
OTHER_NAMES = {"auroc": "event_auroc", "brier": "brier_score", "expected_cost": "cost"}
#: Mean squared errors up to this are 0.
ZERO_ERROR = 1e-300
BOUNDED = ("accuracy", "event_auroc", "f1")

#: (n + m, K) masses and the sum of squares of rows with themselves -> (value, derivatives).
Score = Callable[[np.ndarray, float], tuple[float, np.ndarray]]


@dataclass(frozen=True)
class Estimate:
    """An estimate with the parts of its error.

    Attributes
    ----------
    value, before : float
        The metric of the new rows, and that of the labelled rows.
    influence, influence_before : (n,)
        Influence of each labelled row on either.
    noise, spread : float
        Variance from the unknown labels of the new rows, and from drawing new rows and labels.
    unseen : float
        What one labelled row with another outcome could change.
    """

    value: float
    before: float
    influence: np.ndarray
    influence_before: np.ndarray
    noise: float
    spread: float
    unseen: float


def metric_key(metric: Any) -> str:
    """The key of a supported metric, from its key or the metric itself."""
    key = getattr(metric, "key", metric)
    key = OTHER_NAMES.get(key, key) if isinstance(key, str) else key
    if not (isinstance(key, str) and key in CLASS_METRICS + ERROR_METRICS):
        raise InputError(
            f"metric must be one of {', '.join(CLASS_METRICS + ERROR_METRICS)}; got {key!r}."
        )
    return key


def class_estimate(
    old: Predictions, new: Predictions, key: str, moved: Moved, costs: Any, random_state: int
) -> Estimate:
    """The estimate of a metric of classes."""
    n, m, one_hot = len(old), len(new), np.eye(old.n_classes)[old.strata]
    chance_old, chance = class_chances(old, new, moved, random_state)
    score = _score(key, [old, new], costs)
    share = moved.old / moved.old.sum()
    zeros = np.zeros_like(chance)
    itself = float(np.sum(chance[:, 0] * chance[:, -1])) / m**2
    before, slope = score(np.concatenate([one_hot / n, zeros]), 0.0)
    influence_before = np.sum(one_hot * slope[:n], axis=1) / n
    plain, _ = score(np.concatenate([np.zeros_like(one_hot), chance / m]), itself)
    away = share[:, None] * (one_hot - chance_old)
    corrected, slope = score(np.concatenate([away, chance / m]), itself)
    if np.isnan([before, plain, corrected]).any():
        raise InputError(f"{key} needs rows of both classes, and rows predicted as the second.")
    influence = np.sum(away * slope[:n], axis=1)
    expected = np.sum(chance * slope[n:], axis=1)
    # Where nothing is unknown, rounding may fall below 0.
    unknown = np.maximum(np.sum(chance * slope[n:] ** 2, axis=1) - expected**2, 0.0)
    return _corrected_estimate(
        plain,
        corrected - plain,
        before,
        influence - share * influence.sum(),
        influence_before,
        float(unknown.sum()) / m**2,
        float(np.sum(unknown + (expected - expected.mean()) ** 2)) / m**2,
        float((share * np.ptp(slope[:n], axis=1)).max()),
    )


def value_of_labelled(old: Predictions, key: str, weight: np.ndarray, costs: Any) -> float:
    """The metric of the labelled rows with weights (n,)."""
    mass = np.eye(old.n_classes)[old.strata] * (weight / weight.sum())[:, None]
    return _score(key, [old], costs)(mass, 0.0)[0]


def _corrected_estimate(
    plain: float,
    step: float,
    before: float,
    influence: np.ndarray,
    influence_before: np.ndarray,
    noise: float,
    spread: float,
    unseen: float,
) -> Estimate:
    total = step**2 + float(influence @ influence)
    factor = step**2 / total if total > 0.0 else 0.0
    return Estimate(
        plain + factor * step, before, influence, influence_before, noise, spread, unseen
    )


def _score(key: str, records: list[Predictions], costs: Any) -> Score:
    P = np.concatenate([record.probabilities for record in records])
    if key == "event_auroc":
        return lambda mass, itself: expected_auroc(mass, P[:, 1], itself)
    predicted = np.concatenate([record.predicted for record in records])
    if key == "f1":
        return lambda mass, itself: expected_f1(mass, predicted == 1)
    if key == "accuracy":
        loss = np.eye(P.shape[1])[predicted]
    elif key == "log_loss":
        loss = -np.log(np.maximum(P, min(record.smallest for record in records)))
    elif key == "cost":
        loss = _costs(costs, P)
    else:
        loss = 1.0 - 2.0 * P + np.sum(P * P, axis=1, keepdims=True)
        loss = 0.5 * loss if key == "event_brier_score" else loss
    return lambda mass, itself: expected_mean(mass, loss)


def _costs(costs: Any, P: np.ndarray) -> np.ndarray:
    table = arrays.to_array(costs, "costs").astype(np.float64)
    if table.ndim != 2 or table.shape[1] != P.shape[1] or not np.isfinite(table).all():
        raise InputError(
            f"costs must be finite numbers, (actions, {P.shape[1]} classes); got shape"
            f" {table.shape}."
        )
    return table[np.argmin(P @ table.T, axis=1)]


def error_estimate(
    old: ForecastRecord, new: ForecastRecord, key: str, moved: Moved, random_state: int
) -> Estimate:
    """The estimate of the mean absolute error, or of the root mean squared error."""
    size = np.abs(old.error) if key == "mae" else old.error**2
    expected_old, expected = error_sizes(size, (old.std, new.std), moved, random_state)
    share, n, m = moved.old / moved.old.sum(), len(old), len(new)
    away = share * (size - expected_old)
    # The errors' variance is proportional to the square of their expectation.
    ratio = float(share @ (size - expected_old) ** 2) / max(
        float(share @ expected_old**2), np.finfo(np.float64).tiny
    )
    noise = ratio * float(expected @ expected) / m**2
    plain, step, before = float(expected.mean()), float(away.sum()), float(size.mean())
    influence, influence_before = away - share * step, (size - before) / n
    more, unseen = noise + float(expected.var()) / m, float(np.abs(influence).max())
    estimate = _corrected_estimate(
        plain, step, before, influence, influence_before, noise, more, unseen
    )
    if key == "mae":
        return estimate
    slope, slope_before = (
        0.5 / np.sqrt(value) if value > ZERO_ERROR else 0.0 for value in (estimate.value, before)
    )
    return Estimate(
        float(np.sqrt(max(estimate.value, 0.0))),
        float(np.sqrt(before)),
        slope * influence,
        slope_before * influence_before,
        slope**2 * noise,
        slope**2 * estimate.spread,
        slope * estimate.unseen,
    )


#: Fewest labelled rows, and new rows.
LEAST_OLD, LEAST_NEW = 50, 20
#: Most classes whose probabilities are all compared between old and new rows; of more, the largest.
MOST_CLASSES, LARGEST = 10, 3
#: Fewest labelled rows of either of two classes, below which intervals were too narrow in
#: simulations (.88 of 95 % at 5 rows).
LEAST_OF_A_CLASS = 10
Rows = tuple[Any, Any]
UNSEEN = "A change of the labels given the inputs cannot be seen without labels."


@dataclass(frozen=True)
class PerformanceEstimate(Result):
    """Estimated performance on new rows.

    Attributes
    ----------
    metric : str
    value, low, high : float
        The estimate and the limits of its interval.
    level : float
    target : {"realised", "expected"}
        What the interval covers: the metric that the labels of these very rows will give, or its
        mean over rows like them.
    state : {"holds", "cannot tell"}
        "cannot tell" where the labelled rows say too little about the new ones.
    reasons : list of str
        Why it cannot tell.
    before : float
        The metric on the labelled rows.
    change, change_low, change_high : float
        ``value - before`` with its interval.
    n_new, n_reference : int
    n_effective : float
        Number of rows that the weighted labelled rows are worth.
    outside : float
        Share of new rows unlike any labelled row.
    shift_p_value : float
        p-value of the test that the inputs have not changed.
    changed : list of str
        Columns that differ more than by chance, the most different first.
    note : str
        What cannot be seen.

    See Also
    --------
    estimate_performance : makes one.
    """

    metric: str
    value: float
    low: float
    high: float
    level: float
    target: Literal["realised", "expected"]
    state: Literal["holds", "cannot tell"]
    reasons: list[str]
    before: float
    change: float
    change_low: float
    change_high: float
    n_new: int
    n_reference: int
    n_effective: float
    outside: float
    shift_p_value: float
    changed: list[str]
    note: str = UNSEEN

    def __str__(self) -> str:
        text = (
            f"{self.metric}: {self.value:.4g} [{self.low:.4g}, {self.high:.4g}] ({self.target})"
            f" on {self.n_new:,} rows without labels, {self.before:.4g} on {self.n_reference:,}"
            f" with labels; change {self.change:+.3g} [{self.change_low:+.3g},"
            f" {self.change_high:+.3g}]"
        )
        doubt = "" if self.state == "holds" else f" Cannot tell: {'; '.join(self.reasons)}."
        return f"{text}.{doubt} {self.note}"


def estimate_performance(
    P_new: Any,
    *,
    reference: Any,
    X: Any = None,
    metric: Any = "accuracy",
    importance: ImportanceWeights | None = None,
    costs: ArrayLike | None = None,
    level: float = 0.95,
    target: Literal["realised", "expected"] = "realised",
    inputs: Inputs = "probability",
    classes: ArrayLike | None = None,
    random_state: int = 0,
) -> PerformanceEstimate:
    r"""Estimate a metric on new rows that have no labels yet, from labelled rows of the same model.

    .. math:: \frac1m \sum_{j \in new} \hat m(x_j) + \lambda \frac{\sum_{i \in ref} \hat w(x_i)
        \{m_i - \hat m(x_i)\}}{\sum_{i \in ref} \hat w(x_i)}

    where :math:`m_i` is the metric of a labelled row, :math:`\hat m` its expectation by a
    calibrated model, out of fold, and :math:`\hat w` the importance weight of the row. The factor
    :math:`\lambda = d^2 / (d^2 + s^2)` shrinks the correction d by its variance. AUROC and F1 use
    the same masses of rows and classes.

    Parameters
    ----------
    P_new : (m, K), or (m,) for binary: the model's predictions of the new rows; or a forecast, such
        as ``(mean, std)``
    reference : (P, y)
        Predictions (or forecasts) and labels of rows that the model did not learn from.
    X : (X_reference, X_new), optional
        The inputs of both, as arrays or frames. Without them, only the predictions are compared.
        Infinite numbers count as missing.
    metric : str or metric
        "accuracy", "auroc", "f1", "log_loss", "brier_score" (over all classes),
        "event_brier_score", "cost"; "mae" or "rmse" of forecasts. AUROC, F1 and the Brier score of
        the event take two classes, and the second is the event.
    importance : ImportanceWeights, optional
        Unfitted, to change its options or to pass known weights.
    costs : (A, K) array, for "cost"
        Cost of each action in each class; the model takes the action that it expects to be
        cheapest.
    level : float, default 0.95
    target : {"realised", "expected"}
        What the interval shall cover.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional
    random_state : int, default 0
        Seed of the folds.

    Returns
    -------
    PerformanceEstimate

    Raises
    ------
    InputError
        For another metric, fewer than 50 labelled or 20 new rows, or rows that do not match.

    See Also
    --------
    ImportanceWeights : the weights, and how far they can be trusted.
    monitoring.CalibrationMonitor : once labels arrive.

    Notes
    -----
    Use it while labels are late. It assumes that labels given the inputs have not changed
    (covariate shift), and that the labelled rows contain rows like the new ones; the interval holds
    as rows grow in number. With a change of the relation between inputs and labels, the estimate is
    wrong and nothing in the inputs shows it: keep a few labels coming. ``state`` is "cannot tell"
    where fewer than 100 effective rows remain, more than 5 % of the new rows are unlike any
    labelled row, or fewer than 10 labelled rows have one of two classes (not for accuracy). It is
    also "cannot tell" where new class rates (a label shift, of at most ten classes) explain the new
    rows as well and would give a value outside of the interval: the inputs cannot tell the two
    assumptions apart. Intervals include what one labelled row with another outcome could change.
    Rows are assumed independent. In the log loss, a probability of exactly 0 counts as the smallest
    one above it, 1e-12 at most and 1e-20 at least.

    References
    ----------
    Guillory et al., "Predicting with confidence on unseen distributions", ICCV 2021. Bialek et al.,
    "Estimating model performance under covariate shift without labels", 2024. Robins, Rotnitzky and
    Zhao, "Estimation of regression coefficients when some regressors are not always observed",
    Journal of the American Statistical Association 89, 1994.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=4000) + np.repeat([0.0, -1.0], 2000)
    >>> p = 1.0 / (1.0 + np.exp(-2.0 * x - 1.0))
    >>> y = (rng.random(4000) < p).astype(int)
    >>> found = estimate_performance(p[2000:], reference=(p[:2000], y[:2000]))
    >>> bool(found.low <= np.mean((p > 0.5) == y, where=np.arange(4000) >= 2000) <= found.high)
    True
    """
    options: dict[str, Any] = {"importance": importance, "costs": costs}
    options |= {"level": level, "target": target, "inputs": inputs, "classes": classes}
    options |= {"reference": reference, "X": X, "random_state": random_state}
    return estimates(P_new, [metric], **options)[0]


@seeded
@on_one_blas_thread
def estimates(
    P_new: Any,
    metrics: Sequence[Any],
    *,
    reference: Any,
    X: Any = None,
    importance: ImportanceWeights | None = None,
    costs: ArrayLike | None = None,
    level: float = 0.95,
    target: Literal["realised", "expected"] = "realised",
    inputs: Inputs = "probability",
    classes: ArrayLike | None = None,
    random_state: int = 0,
) -> list[PerformanceEstimate]:
    """Estimate several metrics as ``estimate_performance`` does one, with one fit of the weights
    for those of classes and one for those of forecasts.
    """
    require_level(level)
    require_option("target", target, ("realised", "expected"))
    keys = [metric_key(metric) for metric in metrics]
    _require_pair(reference, "reference", "(P, y) of labelled rows")
    if any((key == "cost") != (costs is not None) for key in keys):
        raise InputError('costs must be passed with metric="cost", and with no other metric.')
    # The rows of one kind are the same for each of its metrics.
    by_kind = {key in ERROR_METRICS: _read(P_new, reference, key, inputs, classes) for key in keys}
    changes = {
        kind: _Change.of(rows, _weights(rows, X, importance, random_state), kind, random_state)
        for kind, rows in by_kind.items()
    }
    options = (costs, level, target, random_state)
    return [_estimate(key, changes[key in ERROR_METRICS], *options) for key in keys]


@dataclass(frozen=True)
class _Change:
    """Labelled and new rows in the order of their content, how their inputs differ, and the new
    class rates that would explain it, or None.
    """

    rows: Rows
    fit: ImportanceWeights
    moved: Moved
    rates: NewRates | None

    @classmethod
    def of(
        cls, rows: Rows, fit: ImportanceWeights, forecasts: bool, random_state: int
    ) -> "_Change":
        weights = fit.weights_, fit.weights_new_
        orders = [order_of(record, w) for record, w in zip(rows, weights, strict=True)]
        moved = Moved(*(w[order] for w, order in zip(weights, orders, strict=True)))
        old, new = (record.take(order) for record, order in zip(rows, orders, strict=True))
        rates = None if forecasts else new_rates(old, new, moved, random_state)
        return cls((old, new), fit, moved, rates)


def _estimate(
    key: str, change: _Change, costs: Any, level: float, target: Any, random_state: int
) -> PerformanceEstimate:
    rows, moved = change.rows, change.moved
    if key in ERROR_METRICS:
        estimate = error_estimate(*rows, key, moved, random_state)
    else:
        estimate = class_estimate(*rows, key, moved, costs, random_state)
    reasons = [*change.fit.doubts_, *_few_of_a_class(rows[0], key)]
    result = _result(key, estimate, change.fit, reasons, level, target)
    return _with_rate_doubt(result, rows, change.rates, costs)


def _with_rate_doubt(
    result: PerformanceEstimate, rows: Rows, rates: NewRates | None, costs: Any
) -> PerformanceEstimate:
    """The estimate, in doubt if new class rates fit the new inputs as well and would give a metric
    outside of the interval.
    """
    if rates is None or not rates.possible:
        return result
    value = value_of_labelled(rows[0], result.metric, rates.weight, costs)
    if result.low <= value <= result.high:
        return result
    reason = f"new class rates fit the new rows too, and {result.metric} would then be {value:.3g}"
    return replace(result, state="cannot tell", reasons=[*result.reasons, reason])


def _require_pair(value: Any, name: str, contents: str) -> None:
    if not isinstance(value, tuple | list) or len(cast(Any, value)) != 2:
        raise InputError(f"{name} must be the pair {contents}; pass both.")


def _read(P_new: Any, reference: Any, key: str, inputs: Inputs, classes: Any) -> Rows:
    """The records of the labelled and of the new rows."""
    if key in ERROR_METRICS:
        old = read_forecast(as_forecast(reference[0]), y=reference[1]).one_output()
        new = read_forecast(as_forecast(P_new))
        if len(new.forecast.shape) != 1:
            raise InputError("the forecast must have one output, (n,); pass one column at a time.")
    else:
        old = read(reference[0], reference[1], inputs=inputs, classes=classes)
        new = naming("P", "P_new")(read)(P_new, inputs=inputs, classes=old.classes)
        multiclass = old.n_classes != 2
        if multiclass and key in ("event_auroc", "f1", "event_brier_score"):
            raise InputError(
                f"metric {key!r} takes two classes; got {old.n_classes}; use accuracy, log_loss,"
                " brier_score or cost."
            )
    if len(old) < LEAST_OLD or len(new) < LEAST_NEW:
        raise InputError(
            f"{LEAST_OLD} labelled and {LEAST_NEW} new rows are needed at least; got {len(old)}"
            f" and {len(new)}."
        )
    return old, new


def _weights(
    rows: Rows, X: Any, importance: ImportanceWeights | None, random_state: int
) -> ImportanceWeights:
    candidate: Any = importance
    if candidate is not None and not isinstance(candidate, ImportanceWeights):
        raise InputError(
            f"importance must be ImportanceWeights; got {type(candidate).__name__}; leave it out"
            " to learn the weights."
        )
    fit = ImportanceWeights(random_state=random_state) if importance is None else clone(importance)
    if X is None:
        if fit.function is not None:
            raise InputError("X=(X_reference, X_new) must be passed, as importance has a function.")
        return fit.fit(*(_prediction_columns(record) for record in rows))
    _require_pair(X, "X", "(X_reference, X_new)")
    if fit.function is not None:
        fit.fit(*X)
    else:
        names = ("X[0]", "X[1]")
        fit.fit(
            *(
                _inputs_and_predictions(table, *pair)
                for table, *pair in zip(X, names, rows, strict=True)
            )
        )
    sizes = len(fit.weights_), len(fit.weights_new_)
    if sizes != (len(rows[0]), len(rows[1])):
        raise InputError(
            f"X must have the rows of reference and of P_new, {len(rows[0])} and {len(rows[1])};"
            f" got {sizes[0]} and {sizes[1]}."
        )
    return fit


def _prediction_columns(record: Predictions | ForecastRecord) -> dict[str, np.ndarray]:
    """The model's predictions of each row, in columns."""
    if isinstance(record, ForecastRecord):
        return {"predicted mean": record.mean, "log of the predicted std": np.log(record.std)}
    if record.n_classes == 2:
        return {"the predicted log-odds": log_odds_of_second(record)}
    logs = record.log_probabilities.astype(np.float64)
    if record.n_classes > MOST_CLASSES:
        logs = -np.sort(-logs, axis=1)[:, :LARGEST]
    return {f"log-probability {k + 1}": column for k, column in enumerate(logs.T)}


def _inputs_and_predictions(X: Any, name: str, record: Any) -> Mapping[str, np.ndarray]:
    columns = group_columns(X, name)
    inputs = {label or f"column {j + 1}": column for j, (label, column) in enumerate(columns)}
    if any(column.shape[:1] != (len(record),) for column in inputs.values()):
        raise InputError(
            f"{name} must have {len(record)} rows, as its predictions; got shape"
            f" {columns[0][1].shape}; pass (X_reference, X_new), two tables of inputs."
        )
    return {**inputs, **_prediction_columns(record)}


def _few_of_a_class(old: Any, key: str) -> list[str]:
    """Why the labelled rows say too little of the scores of a rare event, whose errors are few."""
    if key in (*ERROR_METRICS, "accuracy") or old.n_classes != 2:
        return []
    count = np.bincount(old.labels, minlength=2)
    name = old.classes[int(count.argmin())]
    few = int(count.min())
    return [f"only {few} labelled rows have the label {name}"] if few < LEAST_OF_A_CLASS else []


def _result(
    key: str,
    estimate: Estimate,
    fit: ImportanceWeights,
    reasons: list[str],
    level: float,
    target: Any,
) -> PerformanceEstimate:
    new = estimate.noise if target == "realised" else estimate.spread
    z = normal_quantile(level)
    # A labelled row of a kind that was not seen may have another outcome.
    new += max(1.0 / fit.n_effective_ if key in BOUNDED else 0.0, estimate.unseen) ** 2
    half = z * float(np.sqrt(estimate.influence @ estimate.influence + new))
    moved = z * float(np.sqrt(np.sum((estimate.influence - estimate.influence_before) ** 2) + new))
    value, change = estimate.value, estimate.value - estimate.before
    low, high = value - half, value + half
    if key in BOUNDED:
        inner = float(np.clip(value, 0.5 / fit.n_effective_, 1.0 - 0.5 / fit.n_effective_))
        odds, step = log_odds(inner), half / (inner * (1.0 - inner))
        value = float(np.clip(value, 0.0, 1.0))
        low, high = min(value, sigmoid(odds - step)), max(value, sigmoid(odds + step))
    low, high = inside((0.0, np.inf), (low, high))
    test = fit.shift_
    return PerformanceEstimate(
        metric=key,
        value=value,
        low=float(low),
        high=float(high),
        level=level,
        target=target,
        state="cannot tell" if reasons else "holds",
        reasons=reasons,
        before=estimate.before,
        change=change,
        change_low=change - moved,
        change_high=change + moved,
        n_new=len(fit.weights_new_),
        n_reference=len(fit.weights_),
        n_effective=fit.n_effective_,
        outside=fit.outside_,
        shift_p_value=test.p_value,
        changed=[column.name for column in test.columns if column.distance > test.chance],
    )
