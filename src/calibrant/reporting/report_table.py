"""Interface for the parts of a report that depend on the kind of prediction; ``summarise`` has the
common part.

To report on a new kind, subclass :class:`ReportTable` and register an instance in ``TABLES``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any, ClassVar, cast

import numpy as np

from calibrant import metrics
from calibrant.calibrators.confidence import SignalAccuracy
from calibrant.core.domain import Domain
from calibrant.core.groups import n_clusters
from calibrant.core.metric_kinds import MeanMetric, Metric
from calibrant.core.predictions import Predictions
from calibrant.core.reading import read_for
from calibrant.errors import InputError
from calibrant.metrics.bounds import bound_of_sums
from calibrant.metrics.several import CHOSEN_BY
from calibrant.reporting import states as curves
from calibrant.reporting.calibrate import Compared
from calibrant.reporting.compared_scores import Gain, Measure, Score, gain_of
from calibrant.reporting.evidence import Confidence, Promises
from calibrant.reporting.judge import Words
from calibrant.reporting.miscalibration import Miscalibration, miscalibration, surely
from calibrant.reporting.options import Settings
from calibrant.reporting.quality import of_answers, quality, vetoes_of_answers
from calibrant.reporting.states import (
    Place,
    Seen,
    Worth,
    alone,
    by_region,
    confidence_gaps,
    confidence_sums,
    worth_of,
)
from calibrant.reporting.summary import chance_error
from calibrant.reporting.verdict import words_of_answers

__all__ = [
    "COMPARED_BINS",
    "RANKING",
    "ReportTable",
    "Sections",
    "affordable",
    "few_resamples",
]

#: Metrics of how well confidences rank the answers; they read only the confidence and whether the
#: answer was right.
RANKING = (metrics.confidence_spread, metrics.confidence_auroc, metrics.area_under_risk_coverage)
#: Largest product of rows, classes and resamples in one bootstrap; the interval is left out below
#: 100 resamples.
BOOTSTRAP_BUDGET = 4e8
#: Bins of the curves of models that are compared.
COMPARED_BINS = 10
#: Largest number of resamples of the rankings, which sort the rows in each one.
RANKING_RESAMPLES = 200


def affordable(metric: Any, record: Any, n_resamples: int) -> int:
    """Return how many resamples of the metric the rows allow; 0 if they are too few for an
    interval.
    """
    if isinstance(metric, MeanMetric):
        return n_resamples
    columns = record.n_classes if metric.key == metrics.classwise_calibration_error.key else 1
    count = int(min(n_resamples, BOOTSTRAP_BUDGET / (len(record) * columns)))
    return count if count >= 100 else 0


def few_resamples(record: Any, n_resamples: int) -> int:
    """Return how many resamples the rows allow for a metric that sorts them, or 0."""
    few = min(n_resamples, RANKING_RESAMPLES, int(BOOTSTRAP_BUDGET / 20 / len(record)))
    return few if few >= 50 else 0


@dataclass(frozen=True)
class Bound:
    """Upper 95 % confidence limit of the binned error for any distribution, valid for bins fixed in
    advance and rows that were not fitted on.
    """

    error: float
    slack: float
    bound: float
    delta: float


@dataclass(frozen=True)
class Bounds:
    """Bounds before and after calibration. The one after needs rows that the calibrator has not
    seen, because folds are dependent; neither is known for clustered rows.
    """

    n_bins: int
    before: Bound | None
    after: Bound | None


@dataclass(frozen=True, kw_only=True)
class Sections:
    """Sections of a report on answers beside scores and groups; most are {"before", "after": ...},
    with "after" None without calibration.
    """

    bound: Bounds
    binned: dict[str, Any]
    histograms: dict[str, Any]
    curves: dict[str, Any]
    corp: dict[str, Any]
    risk: dict[str, Any]
    equal_mass: dict[str, Any]
    regions: list[Place]
    confidence: Confidence | None = None
    signals: list[SignalAccuracy] = field(default_factory=list[SignalAccuracy])
    latent: dict[str, Any] | None = None
    promises: Promises | None = None


class ReportTable(ABC):
    """Report on one kind of prediction.

    A subclass defines the metrics of its rows, and how rows become answers with a probability that
    are right or wrong. Header, scores, curves, groups, cautions and verdict follow from that; each
    can be overridden.

    Attributes
    ----------
    domain : the kind of prediction
    n_bins : default number of bins of the reliability curve
    fewest : fewest rows of a verdict
    rates : whether what is said of a row is its own probability
    resamples_all : whether every alternative gets bootstrap intervals, or only the chosen one
    target : "answer" or "event": the outcome whose probability ``said`` returns
    quality : (states, those of the rows of the fit or None) -> the quality of the rows
    cautions, vetoes : (states, quality) -> the sentences that warn, and that rule out any advice
    words : ({key: Score}, chance, quality, Evidence) -> the words of the verdict; chance and
        quality are those before calibration
    """

    domain: ClassVar[Domain]
    n_bins: ClassVar[int] = 15
    fewest: ClassVar[int] = 20
    rates: ClassVar[bool] = True
    resamples_all: ClassVar[bool] = True
    target: ClassVar[str] = "answer"
    quality: ClassVar[Callable[..., Any]] = staticmethod(quality)
    cautions: ClassVar[Callable[..., list[str]]] = staticmethod(of_answers)
    vetoes: ClassVar[Callable[..., list[str]]] = staticmethod(vetoes_of_answers)
    words: ClassVar[Callable[..., Words]] = staticmethod(words_of_answers)

    @abstractmethod
    def said(self, record: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return ((n,) predicted probability, (n,) outcome: 1.0 if right or an event, else 0.0)."""

    @abstractmethod
    def scores(self) -> Sequence[Metric]:
        """Return the metrics of the record, including the one by which calibrators are chosen."""

    def read(
        self,
        y: Any,
        P: Any,
        std: Any,
        calibrator: Any,
        *,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> tuple[Any, Sequence[Any]]:
        """Return (record, names of the outputs); the keywords are options of a report, and
        ``groups`` is for a ``calibrator`` that uses them.
        """
        if groups is not None:
            raise InputError(
                f"calibrators of {self.domain.predictions} must not use groups; got"
                f" {type(calibrator).__name__}; pass another calibrator."
            )
        return read_for([CHOSEN_BY[self.domain].score], y, P, std, sample_weight), [None]

    def read_test(self, test: Any, record: Any) -> Any:
        """Read the test rows into a record."""
        if not (isinstance(test, tuple | list) and len(cast(Any, test)) in (2, 3)):
            raise InputError("test must be (y_test, P_test) or (y_test, P_test, weight_test).")
        y, P, weight = (*cast(Any, test), None)[:3]
        return self.read(y, P, None, None, sample_weight=weight)[0]

    def question(self, target: Any, record: Any, calibrators: Any) -> Any:
        """Resolve ``target``; by default a kind has one only."""
        if target is not None:
            raise InputError(
                f"target must be None unless predictions are of classes; got {target!r} with"
                f" {self.domain.predictions}; leave it out."
            )
        return self.domain.name

    def event(self, target: Any) -> Any:
        """Return the class that is the event of the target, or None."""
        return None

    def data(self, record: Any, names: Sequence[Any]) -> dict[str, Any]:
        """Return the facts of the header."""
        return {
            "n": float(record.weights.sum()),
            "rows": len(record),
            "clusters": n_clusters(record),
            "weighted": record.weight is not None,
        }

    def pairs(self, record: Any) -> Predictions:
        """Return the rows as pairs of wrong and right."""
        said, right = self.said(record)
        return Predictions(
            values=np.column_stack([1.0 - said, said]),
            kind="probability",
            classes=np.arange(2),
            labels=right.astype(np.intp),
            weight=record.weight,
            own=np.ones(len(said), dtype=np.intp),
            cluster=record.cluster,
        )

    def curve(self, record: Any, level: float) -> Any:
        """Compute the curve by which models are compared in a picture."""
        return metrics.reliability_curve.of(
            self.pairs(record), n_bins=COMPARED_BINS, strategy="mass", level=level, target="answer"
        )

    def measures(self, record: Any, n_bins: int, n_resamples: int) -> list[Measure]:
        """Return the metrics of the table: scores of the kind, calibration error and rankings."""
        error = metrics.expected_calibration_error.with_options(n_bins=n_bins)
        return [
            *(Measure(one, affordable(one, record, n_resamples)) for one in self.scores()),
            Measure(error, affordable(error, record, n_resamples), self.pairs),
            *self.ranking(record, n_resamples),
        ]

    def keys(self) -> dict[str, str]:
        """Return {key: name} of the metrics of the table, for gates."""
        measured = (*self.scores(), metrics.expected_calibration_error, *RANKING)
        return {one.key: one.name for one in measured}

    def ranking(self, record: Any, n_resamples: int) -> list[Measure]:
        """Return the metrics of how well confidences rank the answers."""
        few = few_resamples(record, n_resamples)
        return [Measure(one, few, self.pairs, analytic=True) for one in RANKING]

    def seen(self, record: Any, settings: Settings) -> Any:
        """Compute the additive states of the rows."""
        return Seen.of([self.pairs(record)], settings.n_bins, settings.level)

    def section_cautions(self, sections: Any) -> list[str]:
        """Return the sentences that warn the reader about the sections."""
        return []

    def chance(self, seen: Any, settings: Settings, after: bool = False) -> Any:
        """Compute the errors expected if the predictions, before or ``after`` calibration, were
        perfectly calibrated.
        """
        return chance_error(
            seen, n_bins=settings.n_bins, level=settings.level, random_state=settings.random_state
        )

    def against(
        self, seen: Any, groups: Any, margin: float | None, after: bool, random_state: int
    ) -> Miscalibration:
        """Test the predictions for miscalibration, before or ``after`` calibration."""
        return miscalibration(seen.drawn, groups, margin, centred=after, random_state=random_state)

    def example(self, seen: Any, level: float) -> tuple[float, float] | None:
        """Return (predicted, observed) in the tenth of the rows that is most surely far off, or
        None.
        """
        gaps = [one for one in self.gaps(seen.region_sums, level) if one.gap is not None]
        off = [one for one in gaps if one.low > 0.0 or one.high < 0.0]
        if not off:
            return None
        _, observed, predicted, *_ = astuple(max(off, key=lambda one: surely(one.low, one.high)))
        return (predicted, observed)

    def few(self, found: Any) -> str | None:
        """Return how many rows there must be at least, in words, where there are fewer; ``found``
        is the quality.
        """
        return f"at least {self.fewest}" if found.n < self.fewest else None

    def gain(self, scores: dict[str, Score], n: float, fitted: Any) -> Gain | None:
        """Return what calibration gains on ``n`` independent rows that it has not seen; ``fitted``
        is the calibrator on all rows, where its fit made the folds.
        """
        return gain_of(scores[CHOSEN_BY[self.domain].score.key], n, relative=True)

    def sums(self, record: Any, index: np.ndarray, count: int) -> np.ndarray:
        """Return (count, c) mergeable sums by group of rows; the first column is the weight."""
        return confidence_sums(self.pairs(record), index, count)

    def gaps(self, sums: np.ndarray, level: float, worth: Worth = alone) -> Sequence[Any]:
        """Return a record for each group with rows, gap, low, high and more; the intervals are
        simultaneous, and ``worth`` corrects them for clusters.
        """
        return confidence_gaps(sums, level, worth)

    def audited(self, record: Any) -> tuple[Any, str]:
        """Return (the rows for an audit of the groups, its target)."""
        return self.pairs(record), "answer"

    def sections(self, found: Compared, settings: Settings, used: Any, chance: Any) -> Any:
        """Build the sections of the report from the states before and after; ``used`` is the
        calibrator to use, and ``chance`` the results of that method, {"before", "after"}.
        """
        return Sections(**answer_sections(found, settings))


def answer_sections(found: Compared, settings: Settings) -> dict[str, Any]:
    """Build the sections that need only answers with a probability, by name."""
    shown, n_bins, level = found.shown, settings.n_bins, settings.level
    binned = found.both(lambda seen: curves.binned(curves.in_width(seen, level)))
    bounds = found.both(lambda seen: _bound(seen, n_bins))
    index = shown.regions.index(shown.rows.confidence)
    worth = worth_of(shown.rows, shown.rows.correct, index, len(shown.regions))
    return {
        "bound": Bounds(
            n_bins, bounds["before"], bounds["after"] if found.evaluation == "held-out" else None
        ),
        "binned": binned,
        "histograms": found.both(lambda seen: curves.histogram(seen.counts)),
        "curves": {
            when: None if one is None else one[str(n_bins)].curve for when, one in binned.items()
        },
        "corp": found.both(lambda seen: curves.corp(seen, level, settings.random_state)),
        "risk": found.both(lambda seen: curves.risk(seen, level)),
        "equal_mass": found.both(lambda seen: curves.in_mass(seen, level, [n_bins])[n_bins]),
        "regions": by_region(shown.regions, confidence_gaps(shown.region_sums, level, worth)),
    }


def _bound(seen: Seen, n_bins: int) -> Bound | None:
    return (
        None
        if seen.rows.cluster is not None
        else Bound(*astuple(bound_of_sums(seen.counts.bins[n_bins]))[:4])
    )
