"""The curves of a report on classes from what is seen of the rows, thinned so that a page stays
small whatever their number.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit

from calibrant._numerics.bins import equal_width_edges, equal_width_index
from calibrant._numerics.bootstrap import hit_drawer
from calibrant._numerics.clusters import group_worth
from calibrant._numerics.isotonic import pool_ties
from calibrant._numerics.logistic import log_odds
from calibrant.calibrators.confidence_curve import densities
from calibrant.core.guarantee import thin
from calibrant.metrics.curves.decision import GainCurve, gain_curve
from calibrant.metrics.curves.distribution import RiskCoverageCurve, risk_coverage_curve, risk_curve
from calibrant.metrics.curves.isotonic import IsotonicCurve, isotonic_band, isotonic_fit
from calibrant.metrics.curves.reliability import (
    ConfidenceHistogram,
    ReliabilityCurve,
    curve_of_sums,
)
from calibrant.reporting.states import Counts, Seen

__all__ = [
    "Binned",
    "Confusion",
    "binned",
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
]

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
    rows, found = seen.rows, {}
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
    found = {}
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
    rows, text, found = seen.rows, [str(c) for c in seen.counts.classes], {}
    for name in drawn:
        own = rows.predicted == text.index(name)
        if own.any():
            score = np.clip(log_odds(rows.confidence[own]), -MOST_ODDS, MOST_ODDS)
            at = np.linspace(score.min(), score.max(), DENSITY_POINTS)
            right, wrong = densities(at, score, rows.correct[own], rows.weights[own])
            found[name] = {"score": expit(at), "right": right, "wrong": wrong}
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
        for i, j in zip(*np.unravel_index(flat, wrong.shape), strict=True)
        if wrong[i, j] > 0
    ]
    return (
        Confusion(names, table.tolist(), pairs)
        if len(names) <= CONFUSION_CLASSES
        else Confusion(None, None, pairs)
    )
