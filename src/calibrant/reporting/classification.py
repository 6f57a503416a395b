"""What a report on predictions of classes has of its own."""

from dataclasses import astuple, dataclass, replace
from typing import Any

from numpy.typing import ArrayLike

from calibrant import metrics
from calibrant.compare.scores import Measure
from calibrant.confidence.signal_accuracy import SignalAccuracy
from calibrant.contracts.reading import CLASSIFICATION as DOMAIN
from calibrant.contracts.sum_metric import MeanMetric
from calibrant.errors import InputError
from calibrant.folds.model_outputs import is_fitted
from calibrant.groups import n_clusters
from calibrant.metrics.curves.reliability import ReliabilityCurve
from calibrant.metrics.error_bound import bound_of_sums
from calibrant.predictions import Inputs, Predictions, read
from calibrant.reporting import curves
from calibrant.reporting.cautions import cautions, vetoes
from calibrant.reporting.chance import chance_error
from calibrant.reporting.curves import Confusion
from calibrant.reporting.evidence import Confidence, confidence, latent, signals
from calibrant.reporting.miscalibration import Miscalibration, miscalibration
from calibrant.reporting.promises import Promises, promises
from calibrant.reporting.quality import quality
from calibrant.reporting.question import question
from calibrant.reporting.regions import Place, by_region, confidence_gaps, confidence_sums, worth_of
from calibrant.reporting.states import Seen
from calibrant.reporting.task import Task
from calibrant.reporting.verdict import verdict

__all__ = ["CLASSIFICATION", "KEYS", "SCORES", "affordable", "few_resamples"]

SCORES = (metrics.accuracy, metrics.log_loss, metrics.brier_score)
ERRORS = (
    metrics.expected_calibration_error,
    metrics.classwise_calibration_error,
    metrics.positive_class_calibration_error,
)
#: What tells useful confidences from honest ones; they look at the confidence and whether it was
#: right, and nothing else.
RANKING = (metrics.confidence_spread, metrics.confidence_auroc, metrics.area_under_risk_coverage)
#: Key -> name of all metrics in the table, of two classes or more.
KEYS = {metric.key: metric.name for metric in (*SCORES, *ERRORS, *RANKING)}
#: Products of rows, classes and resamples that one bootstrap may cost; below 100 resamples the
#: interval is left out.
BOOTSTRAP_BUDGET = 4e8
#: The rankings sort the rows in each resample.
RANKING_RESAMPLES = 200


def read_rows(
    y: ArrayLike,
    P: ArrayLike,
    std: ArrayLike | None,
    calibrator: Any,
    *,
    inputs: Inputs | None = None,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    X: Any = None,
    reference: Any = None,
    groups: Any = None,
) -> tuple[Any, ...]:
    """The record, and that there are no outputs to name."""
    if classes is None:
        classes = calibrator.classes_ if is_fitted(calibrator) else calibrator.classes
    record = read(
        P,
        y,
        inputs=inputs or calibrator.inputs,
        classes=classes,
        sample_weight=sample_weight,
        X=X,
        reference=reference,
        groups=groups,
    )
    if record.labels is None:
        raise InputError("y must be the true labels, one a row; got None.")
    return record, [None]


def read_test(test: Any, record: Any) -> Predictions:
    """The record of the rows to measure on."""
    if not (isinstance(test, tuple | list) and len(test) in (2, 3, 4)):
        raise InputError(
            "test must be (y_test, P_test), (y_test, P_test, weight_test) or (y_test, P_test,"
            " weight_test, groups_test)."
        )
    y, P, weight, groups = (*test, None, None)[:4]
    return read(
        P, y, inputs=record.kind, classes=record.classes, sample_weight=weight, groups=groups
    )


def measures(record: Any, n_bins: int, n_resamples: int) -> list[Measure]:
    """Proper scores, errors of the confidence, and rankings."""
    of_classes = (
        metrics.positive_class_calibration_error
        if record.n_classes == 2
        else metrics.classwise_calibration_error
    )
    errors = (
        replace(metric, n_bins=n_bins)
        for metric in (metrics.expected_calibration_error, of_classes)
    )
    return [
        *(
            Measure(metric, affordable(metric, record, n_resamples))
            for metric in (*SCORES, *errors)
        ),
        *(
            Measure(metric, few_resamples(record, n_resamples), _answer, analytic=True)
            for metric in RANKING
        ),
    ]


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


def _answer(record):
    """Right or wrong at its confidence: all that metrics of the answer look at, in two columns."""
    return record.as_pair("answer")


def _data(record, names):
    return {
        "n": float(record.weights.sum()),
        "rows": len(record),
        "clusters": n_clusters(record),
        "weighted": record.weight is not None,
        "inputs": record.kind,
        "n_classes": record.n_classes,
        "classes": [str(c) for c in record.classes],
    }


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


@dataclass(frozen=True)
class Classes:
    """The predicted classes, the worst first, before or after calibration."""

    of: str
    rows: list[Place]


@dataclass(frozen=True)
class Sections:
    """What only a report on classes shows; most of it {"before", "after": ...}, that after None
    where nothing was calibrated.
    """

    bound: Bounds
    binned: dict[str, Any]
    histograms: dict[str, Any]
    curves: dict[str, Any]
    corp: dict[str, Any]
    risk: dict[str, Any]
    equal_mass: dict[str, Any]
    confusion: Confusion
    classes: Classes
    class_curves: dict[str, ReliabilityCurve]
    regions: list[Place]
    confidence: Confidence | None
    signals: list[SignalAccuracy]
    latent: dict[str, Any] | None
    promises: Promises | None


def _bound(seen, n_bins):
    return (
        None
        if seen.rows.cluster is not None
        else Bound(*astuple(bound_of_sums(seen.counts.bins[n_bins]))[:4])
    )


def _sections(found, asked, used):
    before, shown, n_bins, level, seed = (
        found.before,
        found.shown,
        asked.n_bins,
        asked.level,
        asked.random_state,
    )
    binned = found.both(lambda seen: curves.binned(curves.in_width(seen, level)))
    bounds = found.both(lambda seen: _bound(seen, n_bins))
    worth = worth_of(
        shown.rows,
        shown.rows.correct,
        shown.regions.index(shown.rows.confidence),
        len(shown.regions),
    )
    return Sections(
        bound=Bounds(
            n_bins, bounds["before"], bounds["after"] if found.evaluation == "held-out" else None
        ),
        binned=binned,
        histograms=found.both(lambda seen: curves.histogram(seen.counts)),
        curves={
            when: None if one is None else one[str(n_bins)].curve for when, one in binned.items()
        },
        corp=found.both(lambda seen: curves.corp(seen, level, seed)),
        risk=found.both(lambda seen: curves.risk(seen, level)),
        equal_mass=found.both(lambda seen: curves.in_mass(seen, level)[n_bins]),
        confusion=curves.confusion(shown.counts),
        classes=Classes("before" if shown is before else "after", shown.table),
        class_curves=curves.of_classes(shown, level),
        regions=by_region(shown.regions, confidence_gaps(shown.region_sums, level, worth)),
        confidence=confidence(used, before.rows, found.evaluation),
        signals=signals(used, before.rows, level, seed),
        latent=latent(used, before.rows, level),
        promises=promises(before.rows),
    )


def _against(
    seen: Seen, groups: Any, margin: float | None, after: bool, random_state: int
) -> Miscalibration:
    return miscalibration(seen.drawn, groups, margin, centred=after, random_state=random_state)


CLASSIFICATION = Task(
    domain=DOMAIN,
    question=question,
    n_bins=15,
    resamples_all=True,
    read=read_rows,
    read_test=read_test,
    data=_data,
    measures=measures,
    seen=lambda record, asked: Seen.of([record], asked.n_bins, asked.level),
    quality=quality,
    cautions=cautions,
    sums=confidence_sums,
    gaps=confidence_gaps,
    vetoes=vetoes,
    against=_against,
    verdict=verdict,
    sections=_sections,
    chance=lambda seen, asked: chance_error(
        seen, n_bins=asked.n_bins, level=asked.level, random_state=asked.random_state
    ),
    overall=lambda verdicts: next(iter(verdicts.values())),
    said=lambda r: (r.confidence, r.correct),
)
