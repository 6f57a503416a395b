"""Several metrics at once, a metric as a scikit-learn scorer, the selection score of each domain,
and how its predictions are read from a model.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant.core.arrays import ArrayLike
from calibrant.core.domain import Facet
from calibrant.core.given import Inputs
from calibrant.core.kinds import require_metric
from calibrant.core.metric_kinds import Metric
from calibrant.core.model_outputs import model_forecast
from calibrant.core.reading import CLASSIFICATION, REGRESSION, read_for
from calibrant.errors import InputError
from calibrant.metrics.events import event_brier_score
from calibrant.metrics.forecast_scores import (
    continuous_ranked_probability_score,
    negative_log_likelihood,
)
from calibrant.metrics.proper import brier_score, log_loss

__all__ = ["CHOSEN_BY", "Choosing", "Scorer", "compute", "metrics_by_name", "scorer"]


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


def compute(
    metrics: Sequence[Metric],
    y_true: ArrayLike,
    P: ArrayLike,
    std: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> dict[str, Any] | None:
    """Compute several metrics, reading, checking and binning the data once.

    Metrics that are sums over rows share one pass in blocks that fit the cache; the others
    (``mergeable`` is False) are computed after it.

    Parameters
    ----------
    metrics : list of Metric
        The metrics, all of classification or all of regression.
    y_true : (n,) labels, or SoftLabels; for regression outcomes, (n,) or (n, d)
    P : (n, K), or (n,) for binary; for regression the means, or a forecast
    std : for regression, of the shape of the means
    sample_weight : (n,), optional
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    dict
        The value of each metric by its ``key`` (its ``repr`` where two share a key); for d outputs
        an array (d,).

    Raises
    ------
    InputError
        When the input is invalid, as for each metric.

    See Also
    --------
    report : a page of metrics and plots.
    evaluate : the same for a table of any size.

    Examples
    --------
    >>> from calibrant.metrics import accuracy, brier_score
    >>> compute([accuracy, brier_score], [0, 1], [[0.75, 0.25], [0.5, 0.5]])
    {'accuracy': 0.5, 'brier_score': 0.3125}
    >>> from calibrant.metrics import mean_absolute_error, sharpness
    >>> compute([mean_absolute_error, sharpness], [1.0, 3.0], [0.0, 0.0], [2.0, 2.0])
    {'mae': 2.0, 'sharpness': 2.0}
    """
    named = metrics_by_name(metrics)
    metrics = list(named.values())
    if not metrics:
        return {}
    # One pass over the data validates it, if any metric makes a pass.
    in_passing = any(metric.mergeable for metric in metrics)
    record = read_for(
        metrics, y_true, P, std, sample_weight, classes, inputs, check_values=not in_passing
    )
    found = [_values(metrics, output) for output in record.outputs()]
    values = list(np.array(found).T) if record.several else found[0]
    return dict(zip(named, values, strict=True))


def metrics_by_name(metrics: Sequence[Metric]) -> dict[str, Metric]:
    """Map validated metrics by ``key``, or by ``repr`` where two share a key."""
    if isinstance(metrics, str | Metric) or not isinstance(metrics, Iterable):
        raise InputError(
            f"metrics must be a list of metrics such as [metrics.log_loss]; got {metrics!r};"
            " pass a list, even for one metric."
        )
    metrics = [require_metric(metric, "each of metrics").with_options() for metric in metrics]
    keys = [metric.key for metric in metrics]
    return {
        metric.key if keys.count(metric.key) == 1 else repr(metric): metric for metric in metrics
    }


def _values(metrics: list[Any], record: Any) -> list[float]:
    """Compute each metric: sums in one pass, then the others."""
    summed = [metric for metric in metrics if metric.mergeable]
    totals = dict.fromkeys(map(id, summed), 0.0)
    for block in record.blocks():
        for metric in summed:
            totals[id(metric)] = totals[id(metric)] + metric.totals_of(block)
    return [
        float(metric.finalise(totals[id(metric)])) if metric.mergeable else metric.of(record)
        for metric in metrics
    ]


class Scorer:
    """Scorer called as ``scorer(estimator, X, y)``: a metric of the estimator's ``predict_proba``
    or forecast; greater is better.

    Parameters
    ----------
    metric : Metric
        The metric, with its options set.
    """

    def __init__(self, metric: Metric) -> None:
        self.metric: Metric = require_metric(metric)

    def __call__(
        self, estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Compute the metric on the estimator's predictions for ``X``, negated where smaller is
        better; the mean over several outputs.

        For a regressor, the predictions come from ``predict_distribution``, ``predict`` with
        ``return_std``, or ``predict``, whichever exists first.
        """
        predicted, options = CHOSEN_BY[self.metric.domain].predicted(estimator, X)
        value = float(np.mean(self.metric(y, predicted, sample_weight=sample_weight, **options)))
        return -value if self.metric.direction == "minimize" else value

    def __repr__(self) -> str:
        return f"Scorer({self.metric!r})"


def scorer(metric: Metric, *, allow_improper: bool = False, **options: Any) -> Scorer:
    """Turn a metric into a scorer for ``GridSearchCV(scoring=...)``, ``cross_val_score`` and
    similar.

    Parameters
    ----------
    metric : Metric
        ``log_loss`` or ``brier_score`` (proper: the best choice), ``spherical_score``;
        ``accuracy``, ``confidence_auroc``, ``area_under_risk_coverage``, ``coverage_at_risk`` to
        choose for the label or the ranking alone. For regressors ``negative_log_likelihood``,
        ``continuous_ranked_probability_score``, ``pinball_loss`` (proper), or
        ``root_mean_squared_error``, ``mean_absolute_error`` of the means alone. ``options`` set its
        options.
    allow_improper : bool, default False
        Accept a calibration error, to report it with a proper score.

    Returns
    -------
    Scorer
        Greater is better: metrics to minimise change sign, as scikit-learn's ``neg_log_loss`` does.

    Raises
    ------
    InputError
        For a metric that must not select models, such as any calibration error: predicting the base
        rate for every row has error 0.

    See Also
    --------
    compute : several metrics of given predictions.

    Notes
    -----
    The attributes ``proper`` and ``selects`` of a metric, and its docstring, show whether it may
    select models.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from calibrant.metrics import log_loss
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 5, [0, 0, 1, 1] * 5
    >>> cross_val_score(LogisticRegression(), X, y, scoring=scorer(log_loss), cv=2).round(
    ...     1
    ... ).tolist()
    [-0.2, -0.2]
    """
    metric = require_metric(metric).with_options(**options)
    proper = CHOSEN_BY[metric.domain].proper
    if not metric.selects and not allow_improper:
        raise InputError(
            f"metric must be one that may select a model; {metric.name} is not (a useless model"
            f" can have its best value); use {proper}, or pass allow_improper=True to report it"
            " with them."
        )
    if metric.direction == "none":
        raise InputError(f"metric must have a direction; {metric.name} has none; use {proper}.")
    return Scorer(metric)
