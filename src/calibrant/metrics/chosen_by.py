"""Selection score of each domain, and how its predictions are read from a model."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from calibrant.core.domain import Facet
from calibrant.core.metric_kinds import Metric
from calibrant.core.model_outputs import model_forecast
from calibrant.core.reading import CLASSIFICATION, REGRESSION
from calibrant.metrics.events import event_brier_score
from calibrant.metrics.proper import brier_score, log_loss
from calibrant.metrics.scores import continuous_ranked_probability_score, negative_log_likelihood

__all__ = ["CHOSEN_BY", "Choosing"]


@dataclass(frozen=True)
class Choosing:
    """Rules by which the calibrators of a domain are chosen.

    Attributes
    ----------
    score : the proper score that selects calibrators
    guard : the key of the score that they must not significantly worsen, or None
    proper : the names of scores that may select a model
    predicted : (estimator, X) -> (predictions for the metrics, their keywords)
    usual : (records, target or None) -> default metrics of a comparison; the score alone if absent
    """

    score: Metric
    guard: str | None
    proper: str
    predicted: Callable[[Any, Any], tuple[Any, dict[str, Any]]]
    usual: Callable[[Collection[Any], Any], Sequence[Metric]] | None = None

    def compared(self, records: Collection[Any], question: Any = None) -> Sequence[Metric]:
        """Default metrics of a comparison of models."""
        return (self.score,) if self.usual is None else self.usual(records, question)


def _of_classifier(estimator: Any, X: Any) -> tuple[Any, dict[str, Any]]:
    return estimator.predict_proba(X), {"classes": list(estimator.classes_)}


def _of_classes(records: Collection[Any], question: Any) -> Sequence[Metric]:
    """Choose default metrics; for an event, as in the report, the Brier score has one column."""
    event = (
        all(record.n_classes == 2 for record in records)
        if question is None
        else question not in ("answer", "classes")
    )
    return log_loss, event_brier_score if event else brier_score


CHOSEN_BY: Facet[Choosing] = Facet("score to choose by")
CHOSEN_BY.register(
    CLASSIFICATION,
    lambda: Choosing(log_loss, None, "log_loss or brier_score", _of_classifier, _of_classes),
)
CHOSEN_BY.register(
    REGRESSION,
    lambda: Choosing(
        continuous_ranked_probability_score,
        "nll",
        "negative_log_likelihood or continuous_ranked_probability_score",
        lambda estimator, X: (model_forecast(estimator, X), {}),
        lambda records, question: (continuous_ranked_probability_score, negative_log_likelihood),
    ),
)
