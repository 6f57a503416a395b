"""Metrics of labelled and new rows as functions of the rows' masses, with their errors."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._numerics.thresholds import expected_auroc, expected_f1, expected_mean
from calibrant.core import arrays
from calibrant.core.forecast_record import ForecastRecord
from calibrant.core.predictions import Predictions
from calibrant.errors import InputError
from calibrant.monitoring.expected_outcomes import Moved, class_chances, error_sizes

__all__ = [
    "BOUNDED",
    "CLASS_METRICS",
    "ERROR_METRICS",
    "Estimate",
    "class_estimate",
    "error_estimate",
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
LEAST = 1e-300
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
    own, own_before : (n,)
        Influence of each labelled row on either.
    noise, spread : float
        Variance from the unknown labels of the new rows, and from drawing new rows and labels.
    unseen : float
        What one labelled row with another outcome could change.
    """

    value: float
    before: float
    own: np.ndarray
    own_before: np.ndarray
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
    none = np.zeros_like(chance)
    itself = float(np.sum(chance[:, 0] * chance[:, -1])) / m**2
    before, slope = score(np.concatenate([one_hot / n, none]), 0.0)
    own_before = np.sum(one_hot * slope[:n], axis=1) / n
    plain, _ = score(np.concatenate([np.zeros_like(one_hot), chance / m]), itself)
    away = share[:, None] * (one_hot - chance_old)
    corrected, slope = score(np.concatenate([away, chance / m]), itself)
    if np.isnan([before, plain, corrected]).any():
        raise InputError(f"{key} needs rows of both classes, and rows predicted as the second.")
    own = np.sum(away * slope[:n], axis=1)
    expected = np.sum(chance * slope[n:], axis=1)
    # Where nothing is unknown, rounding may fall below 0.
    unknown = np.maximum(np.sum(chance * slope[n:] ** 2, axis=1) - expected**2, 0.0)
    return _shrunk(
        plain,
        corrected - plain,
        before,
        own - share * own.sum(),
        own_before,
        float(unknown.sum()) / m**2,
        float(np.sum(unknown + (expected - expected.mean()) ** 2)) / m**2,
        float((share * np.ptp(slope[:n], axis=1)).max()),
    )


def value_of_labelled(old: Predictions, key: str, weight: np.ndarray, costs: Any) -> float:
    """The metric of the labelled rows with weights (n,)."""
    mass = np.eye(old.n_classes)[old.strata] * (weight / weight.sum())[:, None]
    return _score(key, [old], costs)(mass, 0.0)[0]


def _shrunk(
    plain: float,
    step: float,
    before: float,
    own: np.ndarray,
    own_before: np.ndarray,
    noise: float,
    spread: float,
    unseen: float,
) -> Estimate:
    total = step**2 + float(own @ own)
    kept = step**2 / total if total > 0.0 else 0.0
    return Estimate(plain + kept * step, before, own, own_before, noise, spread, unseen)


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
    own, own_before = away - share * step, (size - before) / n
    more, unseen = noise + float(expected.var()) / m, float(np.abs(own).max())
    found = _shrunk(plain, step, before, own, own_before, noise, more, unseen)
    if key == "mae":
        return found
    slope, slope_before = (
        0.5 / np.sqrt(one) if one > LEAST else 0.0 for one in (found.value, before)
    )
    return Estimate(
        float(np.sqrt(max(found.value, 0.0))),
        float(np.sqrt(before)),
        slope * own,
        slope_before * own_before,
        slope**2 * noise,
        slope**2 * found.spread,
        slope * found.unseen,
    )
