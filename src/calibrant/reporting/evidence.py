"""What a report shows of the evidence behind confidences: label stability, separation, and the latent function of a Gaussian process."""

from typing import Any

import numpy as np

from calibrant.confidence.confidence_curve import confidence_curve
from calibrant.confidence.signal_accuracy import accuracy_over
from calibrant.contracts.calibrator import Calibrator
from calibrant.contracts.signal import fitted_signal
from calibrant.errors import InputError
from calibrant.predictions import Predictions
from calibrant.signals.fast_separation import FastSeparation
from calibrant.signals.label_stability import LabelStability
from calibrant.signals.separation import Separation

__all__ = ["confidence", "latent", "signals"]

#: Rows looked at: enough for narrow intervals, few enough for a page that opens soon.
MOST_ROWS = 20_000
LATENT_POINTS = 121
TICKS = 200
#: Of a confidence curve.
CURVE_POINTS = 201


def confidence(calibrator: Any, record: Any, evaluation: str) -> dict[str, Any] | None:
    """Its confidence over the score for all rows, with the densities of right and wrong ones.

    Returns
    -------
    dict or None
        points, bars, cloud, n, right, wrong, and in_sample: whether it was fitted on the rows shown, as it is unless they were held out.
    """
    if calibrator is None or (calibrator.tags.uses_features and record.X is None):
        return None
    curve = confidence_curve.of(record, calibrator)
    if curve is None:
        return None
    points = curve.points.to_dict()
    count = len(points["score"])
    kept = np.unique(np.linspace(0, count - 1, min(count, CURVE_POINTS)).round().astype(int))
    points = {name: [values[i] for i in kept] for name, values in points.items()}
    numbers = {"n": curve.n, "right": curve.right, "wrong": curve.wrong, "in_sample": evaluation != "held-out"}
    return {"points": points, "bars": curve.bars.to_dict(), "cloud": curve.cloud, **numbers}


def signals(calibrator: Calibrator | None, record: Predictions, level: float, random_state: int) -> list[dict[str, Any]]:
    """The share right over label stability (three classes or more), and over separation where features and a training set are known.

    Returns
    -------
    list of dict
        name, bins and fits, the columns of :class:`~calibrant.confidence.signal_accuracy.SignalAccuracy`.
    """
    if len(record) > MOST_ROWS:
        record = record.take(np.sort(np.random.default_rng(random_state).permutation(len(record))[:MOST_ROWS]))
    found = [accuracy_over(signal, record, level=level) for signal in (_stability(record), _separation(calibrator, record)) if signal]
    return [{"name": one.name, "bins": one.bins.to_dict(), "fits": one.fits.to_dict()} for one in found]


def _stability(record):
    """None for two classes, where it only repeats the top probability."""
    if record.n_classes == 2:
        return None
    return fitted_signal(LabelStability(), record)


def _separation(calibrator, record):
    """The calibrator's own, or one fitted to the reference; None without features or where no distance can be had from them."""
    if record.X is None:
        return None
    own = [s for s in (getattr(calibrator, "signal_", None), *getattr(calibrator, "signals_", ())) if isinstance(s, Separation)]
    if own:
        return own[0]
    if record.reference is None:
        return None
    try:
        return fitted_signal(FastSeparation(), record)
    except InputError:
        return None


def latent(calibrator: Any, record: Any, level: float) -> dict[str, Any] | None:
    """The latent function of a Gaussian-process calibrator over the range of the scores, with some of the scores; None for others."""
    if not hasattr(calibrator, "latent") or calibrator.inputs != record.kind:
        return None
    scores = np.unique(np.asarray(record.values, dtype=np.float64))
    curve = calibrator.latent(np.linspace(scores[0], scores[-1], LATENT_POINTS), level=level)
    ticks = scores[np.unique(np.linspace(0, len(scores) - 1, min(len(scores), TICKS)).round().astype(int))]
    return {**curve.to_dict(), "ticks": ticks.tolist()}
