"""States that a report on classes computes from its rows, the report's curves, and gaps between
confidence and accuracy by class, group and region, worst first, from sums.

States add up over parts, in two passes, so that the table can have any size.

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
``reporting.regression.states`` does the same for forecasts. The curves come from what is seen of
the rows, thinned so that a page stays small whatever the number of rows.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import special  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from calibrant._numerics.bins import (
    Cut,
    Distinct,
    equal_width_edges,
    equal_width_index,
    grouped_sums,
)
from calibrant._numerics.bootstrap import hit_drawer
from calibrant._numerics.clusters import group_worth
from calibrant._numerics.intervals import wilson
from calibrant._numerics.isotonic import pool_ties
from calibrant._numerics.logistic import log_odds
from calibrant.calibrators.confidence_curve import densities
from calibrant.core.guarantee import thin
from calibrant.core.predictions import Predictions
from calibrant.metrics.curves.decision import GainCurve, gain_curve
from calibrant.metrics.curves.distribution import RiskCoverageCurve, risk_coverage_curve, risk_curve
from calibrant.metrics.curves.isotonic import IsotonicCurve, isotonic_band, isotonic_fit
from calibrant.metrics.curves.reliability import (
    ConfidenceHistogram,
    ReliabilityCurve,
    curve_of_sums,
)

if TYPE_CHECKING:
    from calibrant.audits.sample import Column

__all__ = [
    "BIN_COUNTS",
    "Binned",
    "Confusion",
    "Counts",
    "Gap",
    "Place",
    "Seen",
    "Worth",
    "alone",
    "binned",
    "by_class",
    "by_feature",
    "by_group",
    "by_region",
    "confidence_gaps",
    "confidence_sums",
    "confusion",
    "corp",
    "densities_of_classes",
    "gain",
    "histogram",
    "in_mass",
    "in_width",
    "of_classes",
    "pairs",
    "risk",
    "together",
    "worst_first",
    "worth_of",
]


REGIONS = 10


@dataclass(frozen=True)
class Gap:
    """Rows, and their confidence minus their accuracy, with an interval; None without rows."""

    rows: float
    accuracy: float | None = None
    confidence: float | None = None
    gap: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Place:
    """Location of some rows (a group, a class, a region by its ends), and their gap: a Gap, or a
    record of another task.
    """

    where: dict[str, Any]
    found: Any

    def to_dict(self) -> dict[str, Any]:
        """Return location and gap in one dictionary."""
        return {**self.where, **vars(self.found)}


class PredictedPlace(Place):
    """Class with the rows that are predicted as it."""

    def to_dict(self) -> dict[str, Any]:
        """Return the dictionary with "predicted" in place of "rows"."""
        return {
            "predicted" if name == "rows" else name: value
            for name, value in super().to_dict().items()
        }


#: Function of a level that returns the factor for the effective number of rows of each group,
#: (count,), or 1 for independent rows.
Worth = Callable[[float], Any]


def alone(level: float) -> float:
    """Return the factor for independent rows, 1."""
    return 1.0


def worth_of(record: Any, hit: np.ndarray, index: np.ndarray, count: int) -> Worth:
    """Return the factors for shares of hits (n,) by group ``index`` (n,) of a record's rows."""
    cluster = record.cluster
    return (
        alone
        if cluster is None
        else lambda level: group_worth(hit, record.weights, cluster, index, count, level)
    )


def together(level: float, rows: np.ndarray) -> float:
    """Return the level of each interval so that all groups with ``rows`` (count,) are covered
    simultaneously (Bonferroni).
    """
    return 1.0 - (1.0 - level) / max(int((rows > 0).sum()), 1)


def by_group(rows: Any, texts: Any) -> list[Place]:
    """Return the gap of each group with its name, worst first."""
    return worst_first(Place({"group": text}, row) for text, row in zip(texts, rows, strict=True))


def by_feature(rows: Any, columns: Sequence["Column"]) -> list[Place]:
    """Return the gaps of all parts of several columns, with names of ``feature`` and ``part``."""
    where = [{"feature": column.name, "part": text} for column in columns for text in column.levels]
    return worst_first(Place(*one) for one in zip(where, rows, strict=True))


def by_region(cut: Cut, rows: Any) -> list[Place]:
    """Return the gap of each region of equal weight, with its ends ``from`` and ``to``."""
    return worst_first(
        Place({"from": float(a), "to": float(b)}, row)
        for a, b, row in zip(cut.lower, cut.upper, rows, strict=True)
    )


def by_class(rows: Any, classes: np.ndarray, labels: np.ndarray) -> list[Place]:
    """Return the gap of each predicted class, with n (rows whose true label it is, ``labels``) and
    predicted (rows predicted as it).
    """
    return worst_first(
        PredictedPlace({"class": str(classes[k]), "n": float(labels[k])}, row)
        for k, row in enumerate(rows)
    )


def confidence_sums(record: Any, index: np.ndarray, count: Any) -> np.ndarray:
    """Return (count, 3) sums of weight, right predictions and confidence."""
    return grouped_sums(index, count, [record.correct, record.confidence], record.weight)


def confidence_gaps(sums: np.ndarray, level: float, worth: Worth = alone) -> list[Gap]:
    """Return the gap of each row of sums, (count, 3); the intervals are simultaneous."""
    n, right, total = sums.T
    level = together(level, n)
    low, high = wilson(right * worth(level), n * worth(level), level)
    safe = np.where(n > 0, n, 1.0)
    accuracy, confidence = right / safe, total / safe
    columns = np.column_stack(
        [accuracy, confidence, confidence - accuracy, confidence - high, confidence - low]
    )
    return [Gap(float(n[k]), *columns[k].tolist()) if n[k] > 0 else Gap(0.0) for k in range(len(n))]


def worst_first(places: Iterable[Place]) -> list[Place]:
    """Sort by the distance of the gap's interval from 0, so that a class of three rows does not
    lead by chance; places without rows come last.
    """
    return sorted(places, key=_badness, reverse=True)


def _badness(place: Any) -> tuple[float, float]:
    row = place.found
    return (-1.0, 0.0) if row.gap is None else (max(row.low, -row.high, 0.0), abs(row.gap))


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
            Distinct.of(score, [hit, 1.0 - hit], weight, record.ranks),
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
    values, place = record.ranks

    def index(cut: Cut) -> np.ndarray:
        # Of a whole record the cut knows the bin of each distinct score.
        return cut.part[place] if cut.values is values else cut.index(score)

    in_mass = (grouped_sums(index(cut), len(cut), [score, hit], weight) for cut in mass)
    return (
        confidence_sums(record, index(regions), len(regions)),
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


POINTS = 120
#: One of ``BIN_COUNTS``.
HISTOGRAM_BINS = 20
DENSITY_POINTS = 41
#: Largest log odds of a score in its densities, a probability of .9999.
MOST_ODDS = 9.21
DRAWS = 2e6
CONFUSION_CLASSES = 20
CONFUSED_PAIRS = 20


@dataclass(frozen=True)
class Binned:
    """A reliability curve in bins of equal width, and its calibration error."""

    ece: float
    curve: ReliabilityCurve


@dataclass(frozen=True)
class Confused:
    """Rows of one class predicted as another, and their shares of either."""

    true: str
    predicted: str
    n: float
    of_true: float
    of_predicted: float


@dataclass(frozen=True)
class Confusion:
    """Rows by true (rows) and predicted class (columns), None beyond 20 classes, and the 20
    largest confusions.
    """

    classes: list[str] | None
    counts: list[list[float]] | None
    pairs: list[Confused]


def in_width(seen: Seen, level: float) -> dict[int, ReliabilityCurve]:
    """Compute a curve for each number of bins of equal width."""
    return {
        count: _in_width(sums, level, seen.rows, seen.rows.confidence, seen.rows.correct)
        for count, sums in seen.counts.bins.items()
    }


def in_mass(seen: Seen, level: float, counts: Sequence[int] = ()) -> dict[int, ReliabilityCurve]:
    """Return curves for these, or all, numbers of bins of equal weight. Where most are near 1,
    bins of equal width would leave them one bin.
    """
    rows = seen.rows
    found: dict[int, ReliabilityCurve] = {}
    for count in counts or seen.mass:
        cut, sums = seen.mass[count]
        worth = _worth(rows, rows.correct, partial(cut.index, rows.confidence), len(cut), level)
        found[count] = curve_of_sums(sums, cut.lower, cut.upper, level=level, worth=worth)
    return found


def histogram(counts: Counts) -> ConfidenceHistogram:
    """Right and wrong predictions by confidence."""
    n, _, right = counts.bins[HISTOGRAM_BINS].T
    edges = equal_width_edges(HISTOGRAM_BINS)
    return ConfidenceHistogram(edges[:-1], edges[1:], right, n - right)


def binned(found: dict[int, ReliabilityCurve]) -> dict[str, Binned]:
    """Curves by number of bins, each with its error."""
    return {
        str(count): Binned(
            float(curve.n.copy() @ np.abs(curve.confidence - curve.accuracy) / curve.n.sum()), curve
        )
        for count, curve in found.items()
    }


def of_classes(seen: Seen, level: float) -> dict[str, ReliabilityCurve]:
    """{class: its probability's reliability curve} for the classes drawn."""
    rows, text = seen.rows, [str(c) for c in seen.counts.classes]
    found: dict[str, ReliabilityCurve] = {}
    for place, sums in zip(seen.table, seen.class_sums, strict=False):
        k = text.index(place.where["class"])
        found[text[k]] = _in_width(
            sums, level, rows, rows.probabilities[:, k], (rows.labels == k) * 1.0
        )
    return found


def densities_of_classes(seen: Seen, drawn: Iterable[str]) -> dict[str, dict[str, np.ndarray]]:
    """{class: densities of right and wrong rows predicted as it, at some scores} for the classes
    ``drawn``; on the scale of the log odds, where scores near 1 do not crowd, each integrates to
    its share.
    """
    rows, text = seen.rows, [str(c) for c in seen.counts.classes]
    found: dict[str, dict[str, np.ndarray]] = {}
    for name in drawn:
        own = rows.predicted == text.index(name)
        if own.any():
            score = np.clip(log_odds(rows.confidence[own]), -MOST_ODDS, MOST_ODDS)
            at = cast(Any, np).linspace(score.min(), score.max(), DENSITY_POINTS)
            right, wrong = densities(at, score, rows.correct[own], rows.weights[own])
            found[name] = {"score": cast(Any, special).expit(at), "right": right, "wrong": wrong}
    return found


def _worth(rows: Any, hit: np.ndarray, index: Any, count: int, level: float) -> np.ndarray | float:
    """Return the factors for the effective number of rows of each bin if they are clustered;
    ``index()`` returns the bin of each row.
    """
    return (
        1.0
        if rows.cluster is None
        else group_worth(hit, rows.weights, rows.cluster, index(), count, level)
    )


def _in_width(
    sums: np.ndarray, level: float, rows: Any, score: np.ndarray, hit: np.ndarray
) -> ReliabilityCurve:
    edges, count = equal_width_edges(len(sums)), len(sums)
    worth = _worth(
        rows, hit, partial(equal_width_index, score, count, rows.resolution), count, level
    )
    return curve_of_sums(sums, edges[:-1], edges[1:], level=level, worth=worth)


def corp(seen: Seen, level: float, random_state: int) -> IsotonicCurve:
    """The isotonic curve at up to 120 confidences, with its band, which is drawn from the rows."""
    n, right, _ = seen.counts.confidence.sums.T
    score, n, mean = pool_ties(seen.counts.confidence.values, right / n, n)
    rows, shown = seen.drawn, thin(len(score), POINTS)
    draws = int(np.clip(DRAWS / len(rows), 20, 100))
    draw = hit_drawer(rows.confidence, rows.correct, rows.weights, rows.cluster)
    band = isotonic_band(rows.confidence, rows.weights, draw, level, draws, random_state, shown)
    return IsotonicCurve(score[shown], n[shown], isotonic_fit(mean, n)[shown], *band)


def pairs(seen: Seen) -> Any:
    """Return pairs of right and wrong in as few rows as possible; clustered rows are not merged."""
    return seen.counts.pairs if seen.rows.cluster is None else seen.rows


def risk(seen: Seen, level: float) -> RiskCoverageCurve:
    """The share wrong among the most confident, for up to 120 shares."""
    if seen.rows.cluster is not None:
        return risk_coverage_curve.of(seen.rows, level=level).thinned(POINTS)
    counts = seen.counts
    n, _, wrong = counts.confidence.sums[::-1].cumsum(axis=0).T
    return risk_curve(counts.confidence.values[::-1], n, wrong, level).thinned(POINTS)


def gain(seen: Seen, level: float) -> GainCurve | None:
    """The share of the events found among the highest risks, for up to 120 shares; None without
    events.
    """
    return (
        gain_curve.of(pairs(seen), level=level).thinned(POINTS)
        if seen.counts.total[1] > 0.0
        else None
    )


def confusion(counts: Counts) -> Confusion:
    """Return the confusion matrix and the most frequent confusions."""
    table, names = counts.confusion, [str(c) for c in counts.classes]
    true, predicted = table.sum(axis=1), table.sum(axis=0)
    wrong = table - np.diag(np.diag(table))
    flat = np.argsort(-wrong, axis=None, kind="stable")[:CONFUSED_PAIRS]
    pairs = [
        Confused(
            names[i],
            names[j],
            float(wrong[i, j]),
            float(wrong[i, j] / true[i]),
            float(wrong[i, j] / predicted[j]),
        )
        for i, j in (divmod(int(place), len(names)) for place in flat)
        if wrong[i, j] > 0
    ]
    return (
        Confusion(names, table.tolist(), pairs)
        if len(names) <= CONFUSION_CLASSES
        else Confusion(None, None, pairs)
    )
