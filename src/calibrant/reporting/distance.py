"""Section of a report on the distances to the training rows: zones, what the separation adds to the
score, and three answers to doubt.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant import metrics
from calibrant._numerics.bins import grouped_sums
from calibrant._numerics.intervals import wilson
from calibrant._numerics.logistic import (
    clipped_logs,
    fit_sigmoid,
    inner_limits,
    sigmoid,
    smoothed_targets,
)
from calibrant.calibrators.separation import NearestRows
from calibrant.core.folds import make_splits
from calibrant.core.predictions import Predictions
from calibrant.reporting.compared_scores import Measure, Score, score_table
from calibrant.reporting.regions import worth_of

__all__ = ["Explained", "distance"]

ZONES = ("safe", "dangerous")
N_SPLITS = 5
#: Right and wrong answers from which the fits are compared out of fold.
ENOUGH = 10
EXAMPLES = 3


@dataclass(frozen=True)
class Explained:
    """Rows of a record with their numbers among all rows, the signal, and their nearest training
    rows.
    """

    record: Predictions
    number: np.ndarray
    signal: Any
    nearest: NearestRows


def distance(found: Explained | None, level: float, random_state: int) -> dict[str, Any] | None:
    """Describe the zones of the rows, three fits of their confidence, and the surest wrong answers
    in the dangerous zone; None without training rows.
    """
    if found is None:
        return None
    return {
        "n": float(found.record.weights.sum()),
        "training_rows": len(found.signal.index_.points_),
        "features": found.signal.space_.names_,
        "zones": _zones(found, level),
        "losses": _losses(found, level, random_state),
        "examples": _examples(found),
    }


def _zones(found: Explained, level: float) -> list[dict[str, Any]]:
    """Return the rows of each zone and their share right, with an interval."""
    record = found.record
    index = (found.nearest.separation <= 0.0).astype(np.intp)
    n, right = grouped_sums(index, 2, [record.correct], record.weights).T
    worth = worth_of(record, record.correct, index, 2)(level)
    low, high = wilson(right * worth, n * worth, level)
    return [
        {
            "zone": zone,
            "rows": n[k],
            "share": n[k] / n.sum(),
            "confidence": float(np.average(record.confidence[index == k], weights=own)),
            "right": right[k] / n[k],
            "low": low[k],
            "high": high[k],
        }
        for k, zone in enumerate(ZONES)
        for own in [record.weights[index == k]]
        if n[k] > 0.0
    ]


def _losses(found: Explained, level: float, random_state: int) -> list[Score]:
    """Return the log loss of the answer out of fold by the score alone, and its change by
    separation alone and by both, with paired intervals; empty with few right or wrong answers.
    """
    record, separation = found.record, found.nearest.separation
    if min(record.correct.sum(), (1.0 - record.correct).sum()) < ENOUGH:
        return []
    limits = inner_limits(record.confidence, record.weights.sum())
    low, high = clipped_logs(record.confidence, limits)
    columns = {
        "score": np.column_stack([low, -high]),
        "separation": separation[:, None],
        "both": np.column_stack([low, -high, separation]),
    }
    splits = make_splits(N_SPLITS, columns["score"], record.correct, record.cluster, random_state)
    pairs = {name: _fitted(record, design, splits) for name, design in columns.items()}
    measure = [Measure(metrics.log_loss, 1000)]
    return [
        replace(score, name=name)
        for name in ("separation", "both")
        for score in score_table(
            pairs["score"], pairs[name], measure, level=level, random_state=random_state
        )
    ]


def _fitted(record: Predictions, design: np.ndarray, splits: Any) -> Predictions:
    """Return the answers as pairs, with the confidences of logistic fits to the other folds."""
    out = np.empty(len(record))
    for fit, held_out in splits:
        weight = record.weights[fit]
        target = smoothed_targets(record.correct[fit], weight)
        identity = [1.0] * (design.shape[1] // 2 * 2) + [0.0] * (design.shape[1] % 2)
        theta, _ = fit_sigmoid(design[fit], target, weight, identity=identity)
        out[held_out] = sigmoid(design[held_out] @ theta[:-1] + theta[-1])
    pairs = record.as_pair("answer")
    return replace(pairs, values=np.column_stack([1.0 - out, out]), kind="probability")


def _examples(found: Explained) -> list[dict[str, Any]]:
    """Return the surest of the wrong answers in the dangerous zone, with their nearest training
    rows.
    """
    record, near = found.record, found.nearest
    doubted = np.flatnonzero((near.zone == ZONES[1]) & (record.correct < 0.5))
    names = record.classes.astype(str).tolist()
    return [
        {
            "row": int(found.number[i]),
            "predicted": names[record.predicted[i]],
            "true": names[record.labels[i]],
            **{name: values[i] for name, values in vars(near).items()},
            "other_class": str(near.other_class[i]),
        }
        for i in doubted[np.argsort(-record.confidence[doubted], kind="stable")][:EXAMPLES]
    ]
