"""Which score chooses among calibrators, and what it reads of a model, for each domain."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from calibrant.contracts.domain import Facet
from calibrant.contracts.metric import Metric
from calibrant.contracts.reading import CLASSIFICATION, REGRESSION
from calibrant.folds.model_outputs import model_forecast
from calibrant.metrics.proper import log_loss
from calibrant.metrics.regression.scores import (
    continuous_ranked_probability_score,
)

__all__ = ["CHOSEN_BY", "Choosing"]


@dataclass(frozen=True)
class Choosing:
    """How the calibrators of a domain are chosen.

    Attributes
    ----------
    score : the proper score that they are chosen by
    guard : the key of the score that they must not surely worsen, or None
    proper : the names of scores that may select a model
    predicted : (estimator, X) -> (what its metrics read, the keywords that go with it)
    """

    score: Metric
    guard: str | None
    proper: str
    predicted: Callable[[Any, Any], tuple[Any, dict[str, Any]]]


def _of_classifier(estimator: Any, X: Any) -> tuple[Any, dict[str, Any]]:
    return estimator.predict_proba(X), {"classes": list(estimator.classes_)}


CHOSEN_BY: Facet[Choosing] = Facet("score to choose by")
CHOSEN_BY.register(
    CLASSIFICATION, lambda: Choosing(log_loss, None, "log_loss or brier_score", _of_classifier)
)
CHOSEN_BY.register(
    REGRESSION,
    lambda: Choosing(
        continuous_ranked_probability_score,
        "nll",
        "negative_log_likelihood or continuous_ranked_probability_score",
        lambda estimator, X: (model_forecast(estimator, X), {}),
    ),
)
