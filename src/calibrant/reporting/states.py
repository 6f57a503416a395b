"""States that a report on classes computes from its rows. They add up over parts, in two passes, so
that the table can have any size.

- ``Counts``, the first pass (fixed bins, distinct confidences, classes, confusions): the data's
  quality, cautions, reliability at every number of bins, its error and bound, histograms, the
  isotonic curve, risk and coverage, classes, confusions; of an event the scale of its axes, the
  distribution of the risk, the decision curve, thresholds and gain.
- ``Cuts`` and their sums, the second pass (bins cut by the first pass): reliability in equal mass
  and on the logit scale, regions, and the curves of the classes drawn.
- Sums by group, and a monitor's sums by bucket: groups, and calibration over time.
- States of the metrics (``totals_of``): values of the scores that are sums, and their analytic
  intervals.
- Rows, which do not add up: copies among rows, draws (the band of the isotonic curve, error by
  chance, bootstraps of scores), rankings, signals and curves of a calibrator, the calibration
  itself; of an event the smooth curve with its band, ICI and E90, and the metrics of the answer.

Merged parts have exactly the counts of the whole, and its sums up to the order of summation.
``reporting.regression.states`` does the same for forecasts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any, cast

import numpy as np

from calibrant._numerics.bins import Cut, Distinct, equal_width_index, grouped_sums
from calibrant.core.predictions import Predictions
from calibrant.reporting.regions import (
    REGIONS,
    Place,
    by_class,
    confidence_gaps,
    confidence_sums,
    worth_of,
)

__all__ = ["BIN_COUNTS", "Counts", "Seen"]

#: Numbers of bins on the slider of the page, beside the number in the options; histograms have 20.
BIN_COUNTS = (5, 8, 10, 15, 20, 30, 50)
#: Largest number of classes whose curves are drawn: a page of a thousand would not be readable.
DRAWN_CLASSES = 12
CLASS_BINS = 10


@dataclass(frozen=True)
class Counts:
    """Sums of the first pass.

    Attributes
    ----------
    classes : (K,)
    total : (3,) weight, right, confidence
    bins : {number of bins of equal width: (B, 3) weight, confidence, right}
    tenths : (10,) weight by tenth of the confidence
    confidence : Distinct, with right and wrong
    labels : (K,) weight of each true class
    predicted : (K, 3) weight, right and confidence of each predicted class
    confusion : (K, K) weight by true and predicted class
    resolution : of the confidences, the coarsest
    """

    classes: np.ndarray
    total: np.ndarray
    bins: dict[int, np.ndarray]
    tenths: np.ndarray
    confidence: Distinct
    labels: np.ndarray
    predicted: np.ndarray
    confusion: np.ndarray
    resolution: float

    @classmethod
    def of(cls, record: Predictions, n_bins: int) -> "Counts":
        """Compute the counts of a record, or of a part of it."""
        score, hit, weight, K = record.confidence, record.correct, record.weight, record.n_classes
        labels = cast(np.ndarray, record.labels)
        bins = {
            count: _width_sums(record, count, score, hit) for count in sorted({*BIN_COUNTS, n_bins})
        }
        return cls(
            record.classes,
            np.array([record.weights.sum(), record.weights @ hit, record.weights @ score]),
            bins,
            grouped_sums(np.minimum((score * 10).astype(int), 9), 10, [], weight)[:, 0],
            Distinct.of(score, [hit, 1.0 - hit], weight),
            grouped_sums(labels, K, [], weight)[:, 0],
            confidence_sums(record, record.predicted, K),
            grouped_sums(labels * K + record.predicted, K * K, [], weight)[:, 0].reshape(K, K),
            record.resolution,
        )

    def __add__(self, other: "Counts") -> "Counts":
        sums = (
            getattr(self, name) + getattr(other, name)
            for name in ("tenths", "confidence", "labels", "predicted", "confusion")
        )
        bins = {count: sums + other.bins[count] for count, sums in self.bins.items()}
        return Counts(
            self.classes,
            self.total + other.total,
            bins,
            *sums,
            resolution=max(self.resolution, other.resolution),
        )

    @cached_property
    def pairs(self) -> Predictions:
        """The rows as pairs of right and wrong, merged by distinct confidence, with weights."""
        _, right, wrong = self.confidence.sums.T
        score, hit, weight = (
            np.tile(self.confidence.values, 2),
            np.repeat([1, 0], len(right)),
            np.concatenate([right, wrong]),
        )
        kept = weight > 0.0
        return Predictions(
            values=np.column_stack([1.0 - score, score])[kept],
            kind="probability",
            classes=np.arange(2),
            labels=hit[kept],
            weight=weight[kept],
            resolution=self.resolution,
            own=np.ones(int(kept.sum()), dtype=np.intp),
        )


@dataclass(frozen=True)
class Seen:
    """Results of both passes: the counts, the classes with the worst first, the bins cut, and the
    sums of the second pass.

    ``mass`` maps a number of bins to the bins and their sums, as in ``Counts.bins``;
    ``region_sums`` is like ``Counts.predicted``, and ``class_sums`` has (10, 3) for each class
    drawn. ``rows`` is the record, for quantities that do not add up; for a table too large for
    memory (``sampled``) it is a sample.
    """

    rows: Any
    counts: Counts
    table: list[Place]
    regions: Cut
    mass: dict[int, tuple[Cut, np.ndarray]]
    region_sums: np.ndarray
    class_sums: np.ndarray
    sampled: bool = False

    @property
    def drawn(self) -> Any:
        """The rows for draws under the null: the record, or, if this is a sample, all rows as the
        counts have merged them.
        """
        return self.counts.pairs if self.sampled else self.rows

    @classmethod
    def of(
        cls,
        parts: Sequence[Predictions],
        n_bins: int,
        level: float,
        mass_bins: Sequence[int] = (),
        rows: Any = None,
    ) -> "Seen":
        """Read each part of a record twice; ``mass_bins`` is ``n_bins`` by default, and ``rows`` is
        the whole record of several parts.
        """
        counts = reduce(add, (Counts.of(part, n_bins) for part in parts))
        rows = parts[0] if rows is None else rows
        worth = worth_of(rows, rows.correct, rows.predicted, len(counts.classes))
        gaps = confidence_gaps(counts.predicted, level, worth)
        table, regions = (
            by_class(gaps, counts.classes, counts.labels),
            counts.confidence.cut(REGIONS),
        )
        mass = {count: counts.confidence.cut(count) for count in mass_bins or (n_bins,)}
        text = [str(c) for c in counts.classes]
        drawn = [text.index(place.where["class"]) for place in table[:DRAWN_CLASSES]]
        each = zip(
            *(_second(part, [*mass.values()], regions, drawn) for part in parts), strict=True
        )
        region_sums, class_sums, *sums = (reduce(add, one) for one in each)
        cuts = {count: (cut, own) for (count, cut), own in zip(mass.items(), sums, strict=True)}
        return cls(rows, counts, table, regions, cuts, region_sums, class_sums)


def _second(
    record: "Predictions", mass: Sequence[Cut], regions: Cut, drawn: Sequence[int]
) -> tuple[np.ndarray, ...]:
    score, hit, weight = record.confidence, record.correct, record.weight
    of_classes = [
        _width_sums(
            record, CLASS_BINS, record.probabilities[:, k], (record.labels == k).astype(np.float64)
        )
        for k in drawn
    ]
    in_mass = (grouped_sums(cut.index(score), len(cut), [score, hit], weight) for cut in mass)
    return (
        confidence_sums(record, regions.index(score), len(regions)),
        np.array(of_classes),
        *in_mass,
    )


def _width_sums(
    record: "Predictions", n_bins: int, score: np.ndarray, hit: np.ndarray
) -> np.ndarray:
    """(B, 3) sums of weight, score and hits in bins of equal width."""
    return grouped_sums(
        equal_width_index(score, n_bins, record.resolution), n_bins, [score, hit], record.weight
    )
