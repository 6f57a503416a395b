"""Comparison of several calibrators in each predicted class: which one to use for which class."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._numerics.bins import grouped_sums
from calibrant.metrics import log_loss
from calibrant.metrics.comparison import PairRow, compare
from calibrant.reporting.regions import Gap, confidence_gaps, confidence_sums, together, worth_of

__all__ = ["ByClass", "MethodInClass", "PredictedClass", "methods_by_class"]

UNCALIBRATED = "uncalibrated"
#: Largest number of names in a list of the sentence.
MOST_NAMED = 10


@dataclass(frozen=True)
class MethodInClass:
    """Mean log loss of a calibrator's confidence in one predicted class, and its gap there.

    ``against`` is this loss minus that of the best calibrator, with an interval that holds for all
    pairs and classes simultaneously; None for the best calibrator itself.
    """

    loss: float
    gap: Gap
    against: PairRow | None


@dataclass(frozen=True)
class PredictedClass:
    """Rows that the model predicts as one class, their accuracy with its interval, and the
    calibrator to ``use`` for them.
    """

    class_: str
    rows: float
    accuracy: float
    low: float
    high: float
    use: str
    methods: dict[str, MethodInClass]


@dataclass(frozen=True)
class ByClass:
    """Comparison of calibrators by predicted class, the least accurate class first.

    ``macro`` is the mean log loss of each calibrator over the predicted classes, ``best`` names the
    lowest one, and ``off`` lists for each the classes where confidence and accuracy differ
    significantly.
    """

    best: str
    macro: dict[str, float]
    off: dict[str, list[str]]
    rows: list[PredictedClass]

    def to_dict(self) -> dict[str, Any]:
        """The fields, and the result in words."""
        use = [f"{row.use} for class {row.class_}" for row in self.rows if row.use != self.best]
        but = f", but {_few(use)}" * bool(use)
        sentence = (
            f"For the confidence in a predicted class use {self.best}{but}. Its log loss, averaged"
            f" over the {len(self.rows)} predicted classes, is the lowest:"
            f" {self.macro[self.best]:.4f}, and {self.macro[UNCALIBRATED]:.4f} without calibration."
            " The classes whose confidence differs from their accuracy by more than chance:"
            f" {_few(self.off[self.best])}; without calibration: {_few(self.off[UNCALIBRATED])}."
        )
        return {**vars(self), "sentence": sentence}


def _differs(gap: Any) -> bool:
    return gap.low > 0.0 or gap.high < 0.0


def _few(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" * (len(names) > MOST_NAMED)
    return (", ".join(names[:MOST_NAMED]) or "none") + more


def methods_by_class(compared: Any, level: float) -> ByClass | None:
    """Compare the confidence in the model's own label by predicted class; None if no calibrator
    was measured on rows that it had not seen.

    Parameters
    ----------
    compared : {name: Compared}, of records of classes
    level : float
        Level of the intervals, which hold for all classes simultaneously.
    """
    before = next(iter(compared.values())).before
    own, count, records = before.predicted, before.n_classes, {UNCALIBRATED: before}
    for name, one in compared.items():
        if one.after is not None and one.evaluation != "in-sample":
            records[name] = replace(one.after, own=own)
    if len(records) == 1:
        return None
    pairs = {name: record.as_pair("answer") for name, record in records.items()}
    losses = [log_loss.losses_of(pair) for pair in pairs.values()]
    rows, *sums = grouped_sums(own, count, losses, before.weight).T
    seen = np.flatnonzero(rows > 0.0)
    means = {name: total[seen] / rows[seen] for name, total in zip(pairs, sums, strict=True)}
    macro = {name: float(mean.mean()) for name, mean in means.items()}
    best = min(macro, key=lambda name: macro[name])
    gaps: dict[str, Any] = {
        name: confidence_gaps(
            confidence_sums(pair, own, count), level, worth_of(pair, pair.correct, own, count)
        )
        for name, pair in pairs.items()
    }
    found = [
        _in_class(
            str(before.classes[k]),
            {name: pair.take(own == k) for name, pair in pairs.items()},
            {name: float(mean[at]) for name, mean in means.items()},
            {name: gap[k] for name, gap in gaps.items()},
            best,
            together(level, rows),
        )
        for at, k in enumerate(seen)
    ]
    found.sort(key=lambda row: row.accuracy)
    off = {name: [row.class_ for row in found if _differs(row.methods[name].gap)] for name in pairs}
    return ByClass(best, macro, off, found)


def _in_class(
    name: str,
    pairs: dict[str, Any],
    losses: dict[str, float],
    gaps: dict[str, Any],
    best: str,
    level: float,
) -> PredictedClass:
    tested = compare.of(pairs, [log_loss], level=level, baseline=best).rows
    against = {row.second: row for row in tested}
    methods = {
        one: MethodInClass(loss, gaps[one], against.get(one)) for one, loss in losses.items()
    }
    better = [row.second for row in tested if row.meaning == "better"]
    use, gap = min([best, *better], key=lambda one: losses[one]), gaps[UNCALIBRATED]
    low, high = gap.confidence - gap.high, gap.confidence - gap.low
    return PredictedClass(name, gap.rows, gap.accuracy, low, high, use, methods)
