"""Sections of a report on the evidence behind confidences: label stability, separation, and the
latent function of a Gaussian process.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant.calibrators.confidence import SignalAccuracy, accuracy_over
from calibrant.calibrators.confidence_curve import (
    ConfidenceBars,
    ConfidencePoints,
    confidence_curve,
)
from calibrant.calibrators.label_stability import LabelStability
from calibrant.calibrators.separation import FastSeparation, Separation
from calibrant.core.groups import order_of
from calibrant.core.map import fitted_signal
from calibrant.core.predictions import Predictions
from calibrant.errors import InputError
from calibrant.reporting.distance import Explained

__all__ = ["confidence", "explained", "latent", "separation", "signals"]

#: Largest number of rows to read: enough for narrow intervals, and few enough for a small page.
MOST_ROWS = 20_000
LATENT_POINTS = 121
TICKS = 200
#: Number of points of a confidence curve.
CURVE_POINTS = 201


@dataclass(frozen=True)
class Confidence:
    """Calibrator's confidence by score; ``in_sample``: it was fitted on the rows shown."""

    points: ConfidencePoints
    bars: ConfidenceBars
    cloud: bool
    n: float
    right: float
    wrong: float
    in_sample: bool


def confidence(calibrator: Any, record: Any, evaluation: str) -> Confidence | None:
    """Compute the confidence by score for all rows, with the densities of right and wrong rows."""
    if calibrator is None or (calibrator.tags.uses_features and record.X is None):
        return None
    curve = confidence_curve.of(record, calibrator)
    if curve is None:
        return None
    shown, numbers = (
        curve.points.thinned(CURVE_POINTS),
        (curve.cloud, curve.n, curve.right, curve.wrong),
    )
    return Confidence(shown, curve.bars, *numbers, evaluation != "held-out")


def signals(
    found: Explained | None, record: Predictions, level: float, random_state: int
) -> list[SignalAccuracy]:
    """Compute the accuracy by label stability (three classes or more), and by separation if
    features and a training set are known.
    """
    record = record.take(_sample(record, random_state))
    stability = _stability(record)
    return [
        *([] if stability is None else [accuracy_over(stability, record, level=level)]),
        *separation(found, level),
    ]


def separation(found: Explained | None, level: float) -> list[SignalAccuracy]:
    """Compute the accuracy by separation; empty without training rows."""
    if found is None:
        return []
    score = found.nearest.separation
    return [accuracy_over(found.signal, found.record, level=level, score=score)]


def explained(calibrator: Any, record: Any, random_state: int) -> Explained | None:
    """Find the nearest training rows of a sample of the rows; None without features or a training
    set.
    """
    signal = _separation(calibrator, record)
    if signal is None:
        return None
    rows = _sample(record, random_state)
    number = np.arange(len(record)) if record.kept is None else np.flatnonzero(record.kept)
    record = record.take(rows)
    return Explained(record, number[rows], signal, signal.explain_record(record))


def _sample(record: Any, random_state: int) -> np.ndarray:
    """Return the positions of at most ``MOST_ROWS`` rows, in order."""
    rows = np.arange(len(record))
    if len(rows) > MOST_ROWS:
        drawn = np.random.default_rng(random_state).permutation(len(rows))[:MOST_ROWS]
        rows = np.sort(order_of(record)[drawn])
    return rows


def _stability(record: Predictions) -> Any:
    """Return the label stability; None for two classes, where it repeats the top probability."""
    if record.n_classes == 2:
        return None
    return fitted_signal(LabelStability(), record)


def _separation(calibrator: Any, record: Any) -> Any:
    """Return the calibrator's separation, or one fitted to the reference; None if the features give
    no distance.
    """
    if getattr(record, "X", None) is None:
        return None
    own = [
        s
        for s in (getattr(calibrator, "signal_", None), *getattr(calibrator, "signals_", ()))
        if isinstance(s, Separation)
    ]
    if own:
        return own[0]
    if record.reference is None:
        return None
    try:
        return fitted_signal(FastSeparation(), record)
    except InputError:
        return None


def latent(calibrator: Any, record: Any, level: float) -> dict[str, Any] | None:
    """Compute the latent function of a Gaussian-process calibrator over the range of the scores;
    None for other calibrators.
    """
    if not hasattr(calibrator, "latent") or calibrator.inputs != record.kind:
        return None
    scores = np.unique(np.asarray(record.values, dtype=np.float64))
    curve = calibrator.latent(np.linspace(scores[0], scores[-1], LATENT_POINTS), level=level)
    ticks = scores[
        np.unique(np.linspace(0, len(scores) - 1, min(len(scores), TICKS)).round().astype(int))
    ]
    return {**curve.to_dict(), "ticks": ticks.tolist()}
