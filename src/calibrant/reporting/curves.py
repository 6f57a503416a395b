"""The curves of a report as plain columns, thinned so that a page stays small whatever the number of rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant._kernels import intervals
from calibrant._kernels.risk_coverage import risk_coverage
from calibrant.metrics import calibration_error_bound
from calibrant.metrics.curves.confidence_histogram import confidence_histogram
from calibrant.metrics.curves.gain_curve import gain_curve
from calibrant.metrics.curves.isotonic_curve import isotonic_curve
from calibrant.metrics.curves.reliability_curve import pair_curve, reliability_curve

__all__ = ["BIN_COUNTS", "binned", "bound", "confusion", "corp", "equal_mass", "gain", "histogram", "of_classes", "risk"]

#: What the slider of the page can show, beside the number asked for.
BIN_COUNTS = (5, 8, 10, 15, 20, 30, 50)
POINTS = 120
DRAWS = 2e6
CONFUSION_CLASSES = 20
CONFUSED_PAIRS = 20


def equal_mass(record: Any, n_bins: int, level: float) -> dict[str, list[float]]:
    """Of the top label, in bins of equal weight: where most confidences are near 1, equal widths leave them one bin."""
    return reliability_curve.of(record, n_bins=n_bins, strategy="mass", level=level).to_dict()


def histogram(record: Any) -> dict[str, list[float]]:
    """Right and wrong predictions by confidence."""
    return confidence_histogram.of(record).to_dict()


def binned(record: Any, n_bins: int, level: float, strategy: str = "width") -> dict[str, dict[str, Any]]:
    """The reliability curve and its calibration error for each number of bins of equal width, or mass: {number: {"ece", "curve"}}."""
    found = {}
    for count in sorted({*BIN_COUNTS, n_bins}):
        curve = reliability_curve.of(record, n_bins=count, strategy=strategy, level=level).to_dict()
        n, gap = np.array(curve["n"]), np.array(curve["confidence"]) - np.array(curve["accuracy"])
        found[str(count)] = {"ece": float(n @ np.abs(gap) / n.sum()), "curve": curve}
    return found


def of_classes(record: Any, names: Sequence[str], level: float, n_bins: int = 10) -> dict[str, dict[str, list[float]]]:
    """{class: its probability's reliability curve} for the classes named as text."""
    text = [str(c) for c in record.classes]
    found = {}
    for name in names:
        k = text.index(name)
        score, hit = record.probabilities[:, k], (record.labels == k).astype(np.float64)
        found[name] = pair_curve(score, hit, record.weight, record.resolution, n_bins=n_bins, level=level).to_dict()
    return found


def corp(record: Any, level: float, random_state: int) -> dict[str, list[float]]:
    """The isotonic curve with its band, at up to 120 confidences."""
    draws = int(np.clip(DRAWS / len(record), 20, 100))
    return _thin(isotonic_curve.of(record, level=level, n_draws=draws, random_state=random_state).to_dict())


def risk(record: Any, level: float) -> dict[str, list[float]]:
    """The share wrong among the most confident, for up to 120 shares."""
    confidence, covered, wrong = risk_coverage(record.confidence, record.correct, record.weights)
    low, high = intervals.wilson(wrong, covered, level)
    columns = {"confidence": confidence, "coverage": covered / covered[-1], "risk": wrong / covered, "low": low, "high": high}
    return _thin({name: values.tolist() for name, values in columns.items()})


def gain(record: Any, level: float) -> dict[str, list[float]] | None:
    """The share of the events found among the highest risks, for up to 120 shares; None without events."""
    return _thin(gain_curve.of(record, level=level).to_dict()) if record.correct.any() else None


def _thin(columns):
    count = len(next(iter(columns.values())))
    rows = np.unique(np.linspace(0, count - 1, min(count, POINTS)).round().astype(int))
    return {name: [values[i] for i in rows] for name, values in columns.items()}


def confusion(record: Any) -> Any:
    """Rows by true and predicted class: all cells of up to 20 classes, otherwise the 20 largest confusions.

    Returns
    -------
    dict
        classes and counts (rows: true class, columns: predicted), each None beyond 20 classes; pairs: true, predicted, n,
        of_true and of_predicted, the shares of either, largest first.
    """
    K = record.n_classes
    counts = np.bincount(record.labels * K + record.predicted, weights=record.weights, minlength=K * K).reshape(K, K)
    true, predicted = counts.sum(axis=1), counts.sum(axis=0)
    wrong = counts - np.diag(np.diag(counts))
    flat = np.argsort(-wrong, axis=None, kind="stable")[:CONFUSED_PAIRS]
    pairs = [
        {
            "true": str(record.classes[i]), "predicted": str(record.classes[j]), "n": float(wrong[i, j]),
            "of_true": float(wrong[i, j] / true[i]), "of_predicted": float(wrong[i, j] / predicted[j]),
        }
        for i, j in zip(*np.unravel_index(flat, wrong.shape), strict=True) if wrong[i, j] > 0
    ]  # fmt: skip
    small = K <= CONFUSION_CLASSES
    return {
        "classes": [str(c) for c in record.classes] if small else None, "counts": counts.tolist() if small else None, "pairs": pairs,
    }  # fmt: skip


def bound(record: Any, n_bins: int) -> dict[str, float]:
    """The upper limit of the binned error that fails one time in 20, whatever the distribution: rows not fitted on, bins fixed before."""
    found = calibration_error_bound.of(record, n_bins=n_bins)
    return {"error": found.error, "slack": found.slack, "bound": found.bound, "delta": found.delta}
