"""Report on predictions of classes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from calibrant import metrics
from calibrant.core.given import Inputs
from calibrant.core.metric_kinds import Metric
from calibrant.core.model_outputs import is_fitted
from calibrant.core.predictions import Predictions, read
from calibrant.core.reading import CLASSIFICATION as DOMAIN
from calibrant.errors import InputError
from calibrant.metrics.curves.reliability import ReliabilityCurve
from calibrant.reporting import states as curves
from calibrant.reporting.calibrate import Compared
from calibrant.reporting.compared_scores import Gain, Measure, Score
from calibrant.reporting.evidence import (
    confidence,
    distance,
    explained,
    label_stability,
    latent,
    promises,
    signals,
)
from calibrant.reporting.options import Settings
from calibrant.reporting.quality import cautions, vetoes
from calibrant.reporting.report_table import (
    COMPARED_BINS,
    RANKING,
    ReportTable,
    Sections,
    affordable,
    answer_sections,
    few_resamples,
)
from calibrant.reporting.states import Confusion, Place, Seen, confidence_sums

__all__ = ["CLASSIFICATION", "KEYS", "SCORES", "Classes"]

SCORES = (metrics.accuracy, metrics.log_loss, metrics.brier_score)
ERRORS = (
    metrics.expected_calibration_error,
    metrics.classwise_calibration_error,
    metrics.positive_class_calibration_error,
)
#: Mean confidence of the wrong answers, and mean doubt of the right ones.
SIDES = (metrics.overconfidence, metrics.underconfidence)
#: Key -> name of all metrics in the table, for two classes or more.
KEYS = {metric.key: metric.name for metric in (*SCORES, *ERRORS, *RANKING, *SIDES)}


@dataclass(frozen=True)
class PredictedClasses:
    """Predicted classes, the worst first, before or after calibration."""

    of: str
    rows: list[Place]


@dataclass(frozen=True, kw_only=True)
class ClassSections(Sections):
    """Sections of a report on classes."""

    confusion: Confusion
    classes: PredictedClasses
    class_curves: dict[str, ReliabilityCurve]
    class_densities: dict[str, dict[str, np.ndarray]]
    distance: dict[str, Any] | None
    label_stability: dict[str, Any] | None


class Classes(ReportTable):
    """Report on the answers of a classifier and on its classes."""

    domain = DOMAIN
    cautions: ClassVar[Callable[..., list[str]]] = staticmethod(cautions)
    vetoes: ClassVar[Callable[..., list[str]]] = staticmethod(vetoes)

    def said(self, record: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the confidence, and whether the predicted class is the true one."""
        return record.confidence, record.correct

    def pairs(self, record: Any) -> Predictions:
        """Return the rows as pairs of wrong and right at their confidence."""
        return record.as_pair("answer")

    def scores(self) -> Sequence[Metric]:
        """Return accuracy and proper scores."""
        return SCORES

    def read(
        self,
        y: Any,
        P: Any,
        std: Any,
        calibrator: Any,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        inputs: Inputs | None = None,
        classes: Any = None,
        X: Any = None,
        reference: Any = None,
    ) -> tuple[Any, Sequence[Any]]:
        """Return the record, and [None] because classes have no outputs."""
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
            raise InputError("y must be the true labels, one per row; got None; pass them.")
        return record, [None]

    def read_test(self, test: Any, record: Any) -> Any:
        """Read the test rows into a record."""
        if not (isinstance(test, tuple | list) and len(test) in (2, 3, 4, 5)):
            raise InputError(
                "test must be (y_test, P_test), (y_test, P_test, weight_test), (y_test, P_test,"
                " weight_test, groups_test) or (y_test, P_test, weight_test, groups_test, X_test)."
            )
        y, P, weight, groups, X = (*test, None, None, None)[:5]
        options = {"inputs": record.kind, "classes": record.classes, "sample_weight": weight}
        return replace(read(P, y, **options, groups=groups, X=X), reference=record.reference)

    def question(self, target: Any, record: Any, calibrators: Any) -> Any:
        """Resolve ``target``; the default is the event of two classes, or the classes if there are
        more.

        If a calibrator predicts only confidences, the default is the answer.
        """
        if target is None:
            speaks_of_answers = any(one.tags.output == "confidence" for one in calibrators)
            return (
                "answer" if speaks_of_answers else "event" if record.n_classes == 2 else "classes"
            )
        if (
            not isinstance(target, str)
            or target not in ("answer", "classes")
            or target in record.classes.tolist()
        ):
            record.position(target)  # refuses a target that is no class
        return target

    def event(self, target: Any) -> Any:
        """Return the class that ``target`` names, or None."""
        return None if target in ("answer", "classes") else target

    def data(self, record: Any, names: Sequence[Any]) -> dict[str, Any]:
        """Return the facts of the header, with the classes."""
        return {
            **super().data(record, names),
            "inputs": record.kind,
            "n_classes": record.n_classes,
            "classes": [str(c) for c in record.classes],
        }

    def curve(self, record: Any, level: float) -> Any:
        """Compute the curve of the event of two classes, and of the answer of more."""
        target = "event" if record.n_classes == 2 else "answer"
        return metrics.reliability_curve.of(
            record, n_bins=COMPARED_BINS, strategy="mass", level=level, target=target
        )

    def keys(self) -> dict[str, str]:
        """Return {key: name} of the metrics, for two classes or more."""
        return KEYS

    def measures(self, record: Any, n_bins: int, n_resamples: int) -> list[Measure]:
        """Return proper scores, errors of the confidence, and rankings."""
        of_classes = (
            metrics.positive_class_calibration_error
            if record.n_classes == 2
            else metrics.classwise_calibration_error
        )
        errors = (
            replace(metric, n_bins=n_bins)
            for metric in (metrics.expected_calibration_error, of_classes)
        )
        scores, few = (*self.scores(), *errors), few_resamples(record, n_resamples)
        return [
            *(Measure(metric, affordable(metric, record, n_resamples)) for metric in scores),
            *self.ranking(record, n_resamples),
            *(Measure(metric, few, analytic=True) for metric in SIDES),
        ]

    def seen(self, record: Any, settings: Settings) -> Any:
        """Compute the states of all classes."""
        return Seen.of([record], settings.n_bins, settings.level)

    def gain(self, scores: dict[str, Score], n: float, fitted: Any) -> Gain | None:
        """Return the gain, of an automatic choice by its own folds."""
        gain = super().gain(scores, n, fitted)
        if gain is None or not hasattr(fitted, "score_"):
            return gain
        return replace(gain, nats=n * (fitted.uncalibrated_score_ - fitted.score_))

    def sums(self, record: Any, index: np.ndarray, count: int) -> np.ndarray:
        """Return the sums of the record itself, which is faster than pairs."""
        return confidence_sums(record, index, count)

    def audited(self, record: Any) -> tuple[Any, str]:
        """Return the record itself, for an audit of the answers."""
        return record, "answer"

    def sections(self, found: Compared, settings: Settings, used: Any, chance: Any) -> Any:
        """Build the sections of the answers, the classes and the calibrator."""
        before, shown, level = found.before, found.shown, settings.level
        near = explained(used, before.rows, settings.random_state)
        drawn = curves.of_classes(shown, level)
        return ClassSections(
            **answer_sections(found, settings),
            confusion=curves.confusion(shown.counts),
            classes=PredictedClasses("before" if shown is before else "after", shown.table),
            class_curves=drawn,
            class_densities=curves.densities_of_classes(before, drawn),
            confidence=confidence(used, before.rows, found.evaluation),
            signals=signals(near, before.rows, level, settings.random_state),
            latent=latent(used, before.rows, level),
            promises=promises(before.rows),
            distance=distance(near, level, settings.random_state),
            label_stability=label_stability(used, before.rows),
        )


CLASSIFICATION = Classes()
