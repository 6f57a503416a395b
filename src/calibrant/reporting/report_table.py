"""What the report of a kind of prediction has of its own; the skeleton that all share is in
``summarise``.

Whoever reports on a kind subclasses :class:`ReportTable` and registers an instance in ``TABLES``.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from typing import Any, ClassVar, cast

import numpy as np

from calibrant import metrics
from calibrant.comparison.before_after import Compared
from calibrant.comparison.scores import Measure
from calibrant.confidence.signal_accuracy import SignalAccuracy
from calibrant.contracts.domain import Domain
from calibrant.contracts.metric import MeanMetric, Metric
from calibrant.contracts.reading import read_for
from calibrant.errors import InputError
from calibrant.groups import n_clusters
from calibrant.metrics.chosen_by import CHOSEN_BY
from calibrant.metrics.error_bound import bound_of_sums
from calibrant.predictions import Predictions
from calibrant.reporting import cautions, curves
from calibrant.reporting.advice import Evidence
from calibrant.reporting.chance import chance_error
from calibrant.reporting.evidence import Confidence
from calibrant.reporting.miscalibration import Miscalibration, miscalibration
from calibrant.reporting.promises import Promises
from calibrant.reporting.quality import quality
from calibrant.reporting.regions import (
    Place,
    Worth,
    alone,
    by_region,
    confidence_gaps,
    confidence_sums,
    worth_of,
)
from calibrant.reporting.states import Seen
from calibrant.reporting.summary import Verdict
from calibrant.reporting.verdict import verdict

__all__ = [
    "RANKING",
    "Asked",
    "Decisions",
    "ReportTable",
    "Sections",
    "affordable",
    "few_resamples",
]

#: What tells useful confidences from honest ones; they look at the confidence and whether it was
#: right, and nothing else.
RANKING = (metrics.confidence_spread, metrics.confidence_auroc, metrics.area_under_risk_coverage)
#: Products of rows, classes and resamples that one bootstrap may cost; below 100 resamples the
#: interval is left out.
BOOTSTRAP_BUDGET = 4e8
#: The rankings sort the rows in each resample.
RANKING_RESAMPLES = 200


def affordable(metric: Any, record: Any, n_resamples: int) -> int:
    """How many resamples of the metric the rows allow; 0 where they would be too few to say
    anything.
    """
    if isinstance(metric, MeanMetric):
        return n_resamples
    columns = record.n_classes if metric.key == metrics.classwise_calibration_error.key else 1
    count = int(min(n_resamples, BOOTSTRAP_BUDGET / (len(record) * columns)))
    return count if count >= 100 else 0


def few_resamples(record: Any, n_resamples: int) -> int:
    """How many resamples of a metric that sorts the rows they allow, or 0."""
    few = min(n_resamples, RANKING_RESAMPLES, int(BOOTSTRAP_BUDGET / 20 / len(record)))
    return few if few >= 50 else 0


@dataclass(frozen=True)
class Decisions:
    """What the user says of the decisions made on risks: thresholds looked at, and what a wrong
    alarm and a missed event cost.
    """

    thresholds: Any = None
    cost_false_positive: float | None = None
    cost_false_negative: float | None = None


@dataclass(frozen=True)
class Asked:
    """What the user asks of a report: the groups (with their columns), features (cut) and times
    of the rows, how to measure, the margin.
    """

    groups: Any
    columns: Any
    features: Any
    times: Any
    n_bins: int
    level: float
    n_resamples: int
    random_state: int
    decisions: Decisions
    margin: float | None = None

    @property
    def dated(self) -> bool:
        """Whether the rows are of several times."""
        return self.times is not None and len(self.times.starts) > 1


@dataclass(frozen=True)
class Bound:
    """The upper limit of the binned error that fails one time in 20, whatever the distribution:
    rows not fitted on, bins fixed before.
    """

    error: float
    slack: float
    bound: float
    delta: float


@dataclass(frozen=True)
class Bounds:
    """After calibration only where the calibrator has not seen the rows: folds that share their
    rows are not independent, nor are rows
    of a cluster, of which none is known."""

    n_bins: int
    before: Bound | None
    after: Bound | None


@dataclass(frozen=True, kw_only=True)
class Sections:
    """What a report on answers shows beside scores and groups; most of it {"before", "after":
    ...}, that after None where nothing was calibrated.
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
    """The report of a kind of prediction.

    A kind says by which metrics its rows are scored, and how they are read as answers that have a
    probability and are right or wrong; all else follows from that: header, scores, curves, groups,
    cautions and verdict. Each may be said otherwise.

    Attributes
    ----------
    domain : whose report it is
    n_bins : of the reliability curve, by default
    resamples_all : whether every alternative gets the intervals of a bootstrap, or only the one
        chosen
    target : "answer" or "event": whose probability ``said`` gives
    """

    domain: ClassVar[Domain]
    n_bins: ClassVar[int] = 15
    resamples_all: ClassVar[bool] = True
    target: ClassVar[str] = "answer"

    @abstractmethod
    def said(self, record: Any) -> tuple[np.ndarray, np.ndarray]:
        """((n,) probability said, (n,) 1.0 where it was right or happened, else 0.0)."""

    @abstractmethod
    def scores(self) -> Sequence[Metric]:
        """The metrics of the record itself, among them the one that its calibrators are chosen
        by.
        """

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
        """(record, names of the outputs); the keywords are options of a report, and ``groups``
        those of the rows fitted on, where ``calibrator`` uses them.
        """
        if groups is not None:
            raise InputError(
                f"groups are not used by calibrators of {self.domain.predictions}; got some for"
                f" {type(calibrator).__name__}; take another calibrator."
            )
        return read_for([CHOSEN_BY[self.domain].score], y, P, std, sample_weight), [None]

    def read_test(self, test: Any, record: Any) -> Any:
        """The record of the rows to measure on."""
        if not (isinstance(test, tuple | list) and len(cast(Any, test)) in (2, 3)):
            raise InputError("test must be (y_test, P_test) or (y_test, P_test, weight_test).")
        y, P, weight = (*cast(Any, test), None)[:3]
        return self.read(y, P, None, None, sample_weight=weight)[0]

    def question(self, target: Any, record: Any, calibrators: Any) -> Any:
        """The question answered, of what is asked for; by default the only one there is."""
        if target is not None:
            raise InputError(
                f"target asks a question about classes; got {target!r} with"
                f" {self.domain.predictions}; leave it out."
            )
        return self.domain.name

    def event(self, target: Any) -> Any:
        """The class whose risk the question is about, or None."""
        return None

    def data(self, record: Any, names: Sequence[Any]) -> dict[str, Any]:
        """Facts of the header."""
        return {
            "n": float(record.weights.sum()),
            "rows": len(record),
            "clusters": n_clusters(record),
            "weighted": record.weight is not None,
        }

    def pairs(self, record: Any) -> Predictions:
        """The rows as yes or no: was what was said right?"""
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

    def measures(self, record: Any, n_bins: int, n_resamples: int) -> list[Measure]:
        """The metrics of the table: the kind's own, the calibration error, and rankings."""
        error = metrics.expected_calibration_error.with_options(n_bins=n_bins)
        return [
            *(Measure(one, affordable(one, record, n_resamples)) for one in self.scores()),
            Measure(error, affordable(error, record, n_resamples), self.pairs),
            *self.ranking(record, n_resamples),
        ]

    def keys(self) -> dict[str, str]:
        """{key of each metric of the table: its name}, for gates."""
        measured = (*self.scores(), metrics.expected_calibration_error, *RANKING)
        return {one.key: one.name for one in measured}

    def ranking(self, record: Any, n_resamples: int) -> list[Measure]:
        """What tells useful confidences from honest ones."""
        few = few_resamples(record, n_resamples)
        return [Measure(one, few, self.pairs, analytic=True) for one in RANKING]

    def seen(self, record: Any, asked: Asked) -> Any:
        """What is read of the rows, before, after and calibrated on: states that add up."""
        return Seen.of([self.pairs(record)], asked.n_bins, asked.level)

    def quality(self, seen: Any, calibration: Any) -> Any:
        """What the rows are like."""
        return quality(seen, calibration)

    def cautions(self, seen: Any, found: Any) -> list[str]:
        """Sentences that a reader should know; ``found`` is the quality."""
        return cautions.of_answers(seen, found)

    def vetoes(self, seen: Any, found: Any) -> list[str]:
        """The cautions that forbid any advice."""
        return cautions.vetoes_of_answers(found)

    def chance(self, seen: Any, asked: Asked) -> Any:
        """What perfect predictions would show."""
        return chance_error(
            seen, n_bins=asked.n_bins, level=asked.level, random_state=asked.random_state
        )

    def against(
        self, seen: Any, groups: Any, margin: float | None, after: bool, random_state: int
    ) -> Miscalibration:
        """What speaks against the predictions, as they are or ``after`` calibration."""
        return miscalibration(seen.drawn, groups, margin, centred=after, random_state=random_state)

    def verdict(
        self,
        scores: Any,
        chance: Any,
        quality: Any,
        method: str,
        evaluation: str,
        evidence: Evidence,
    ) -> Verdict:
        """What to say of an output; ``scores`` is {key: Score}."""
        loss = CHOSEN_BY[self.domain].score.key
        return verdict(scores, chance, quality, method, evaluation, evidence, loss)

    def overall(self, verdicts: dict[Any, Verdict]) -> Verdict:
        """One verdict of {name of the output: its verdict}."""
        return next(iter(verdicts.values()))

    def sums(self, record: Any, index: np.ndarray, count: int) -> np.ndarray:
        """(count, c) mergeable sums by group of rows; the first column is the weight."""
        return confidence_sums(self.pairs(record), index, count)

    def gaps(self, sums: np.ndarray, level: float, worth: Worth = alone) -> Sequence[Any]:
        """One record for each group, rows, gap, low, high and more, of which all intervals hold
        together; ``worth`` is of the rows, from a level.
        """
        return confidence_gaps(sums, level, worth)

    def audited(self, record: Any) -> tuple[Any, str]:
        """(the rows that an audit of the groups reads, what it is asked)."""
        return self.pairs(record), "answer"

    def sections(self, found: Compared, asked: Asked, used: Any) -> Any:
        """A record of what is shown of what was seen before and after; ``used`` is the
        calibrator to use.
        """
        return Sections(**answer_sections(found, asked))


def answer_sections(found: Compared, asked: Asked) -> dict[str, Any]:
    """The sections that need no more than answers with a probability, by name."""
    shown, n_bins, level = found.shown, asked.n_bins, asked.level
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
        "corp": found.both(lambda seen: curves.corp(seen, level, asked.random_state)),
        "risk": found.both(lambda seen: curves.risk(seen, level)),
        "equal_mass": found.both(lambda seen: curves.in_mass(seen, level)[n_bins]),
        "regions": by_region(shown.regions, confidence_gaps(shown.region_sums, level, worth)),
    }


def _bound(seen: Seen, n_bins: int) -> Bound | None:
    return (
        None
        if seen.rows.cluster is not None
        else Bound(*astuple(bound_of_sums(seen.counts.bins[n_bins]))[:4])
    )
