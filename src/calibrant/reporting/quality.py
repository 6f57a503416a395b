"""Whether the numbers can be trusted at all: how many rows, how sparse, repeated, leaked, or unlike the rows calibrated on."""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from calibrant.reporting.copies import copied_share

if TYPE_CHECKING:
    from calibrant.predictions import Predictions

__all__ = ["distribution_shift", "quality"]

#: Shares above which repeated rows, and rows common to calibration and test, are worth a word.
REPEATED, SHARED = 0.02, 0.01
#: A shift is named when it is both certain and large enough to matter.
SURE, LARGE = 0.01, 0.05


def quality(record: "Predictions", calibration: "Predictions | None" = None) -> dict[str, Any]:
    """What the rows are like, as numbers; sentences about them are in ``cautions``.

    Parameters
    ----------
    record : Predictions, the rows measured
    calibration : Predictions, optional
        The rows that the calibrator was fitted on, where they are others.

    Returns
    -------
    dict
        n, n_classes, present, smallest (class and its rows), sparse (classes with fewer than 25 rows), sparse_bins (of ten regions of
        confidence, those with fewer than 25 rows), repeated (share of rows that look like copies of earlier ones), accuracy, confidence,
        and with ``calibration``: shared (share of rows that look like copies of theirs), label_shift and confidence_shift, each with
        distance (total variation, Kolmogorov-Smirnov), p_value and named (whether it is worth a word).
    """
    counts = np.bincount(record.labels, weights=record.weight, minlength=record.n_classes)
    present = np.flatnonzero(counts > 0)
    smallest = present[counts[present].argmin()]
    regions = np.bincount(np.minimum((record.confidence * 10).astype(int), 9), weights=record.weight, minlength=10)
    found = {
        "n": float(counts.sum()), "n_classes": record.n_classes, "present": len(present),
        "smallest": {"class": str(record.classes[smallest]), "n": float(counts[smallest])},
        "sparse": int((counts[present] < 25).sum()), "sparse_bins": int(((regions > 0) & (regions < 25)).sum()),
        "repeated": copied_share(record), "accuracy": float(record.weights @ record.correct / counts.sum()),
        "confidence": float(record.weights @ record.confidence / record.weights.sum()),
    }  # fmt: skip
    if calibration is not None:
        found["shared"] = copied_share(record, calibration)
        found["label_shift"] = _label_shift(record, calibration)
        found["confidence_shift"] = _confidence_shift(record, calibration)
    return found


def _label_shift(record, calibration):
    tables = np.array([np.bincount(r.labels, weights=r.weight, minlength=record.n_classes) for r in (record, calibration)])
    tables = tables[:, tables.sum(axis=0) > 0]
    share = tables / tables.sum(axis=1, keepdims=True)
    p_value = float(stats.chi2_contingency(tables).pvalue) if tables.shape[1] > 1 else 1.0
    return _shift(0.5 * float(np.abs(share[0] - share[1]).sum()), p_value)


def _confidence_shift(record, calibration):
    return distribution_shift(record.confidence, record.weights, calibration.confidence, calibration.weights)


def distribution_shift(values: np.ndarray, weight: np.ndarray, others: np.ndarray, other_weight: np.ndarray) -> dict[str, Any]:
    """Kolmogorov-Smirnov distance of two weighted samples, its p value, and whether it is worth a word."""
    at = np.unique(np.concatenate([values, others]))
    first, second = (_distribution(v, w, at) for v, w in ((values, weight), (others, other_weight)))
    distance, n, m = float(np.abs(first - second).max()), weight.sum(), other_weight.sum()
    return _shift(distance, float(stats.kstwobign.sf(distance * np.sqrt(n * m / (n + m)))))


def _distribution(values, weight, at):
    mass = np.bincount(np.searchsorted(at, values), weights=weight, minlength=len(at))
    return mass.cumsum() / mass.sum()


def _shift(distance, p_value):
    return {"distance": distance, "p_value": p_value, "named": bool(p_value < SURE and distance > LARGE)}
