"""Metrics as scikit-learn scorers, for model selection."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant.contracts.kinds import require_metric
from calibrant.contracts.metric import Metric
from calibrant.errors import InputError
from calibrant.metrics.chosen_by import CHOSEN_BY

__all__ = ["Scorer", "scorer"]


class Scorer:
    """``scorer(estimator, X, y)``: a metric of the estimator's ``predict_proba``, or of its forecast; greater is better.

    Parameters
    ----------
    metric : Metric
        With its options set.
    """

    def __init__(self, metric: Metric) -> None:
        self.metric: Metric = require_metric(metric)

    def __call__(self, estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The metric on what the estimator says of ``X``, its sign turned where smaller is better; the mean over several outputs.

        Of a regressor that is ``predict_distribution``, ``predict`` with ``return_std``, or ``predict``, whichever it has first.
        """
        predicted, options = CHOSEN_BY[self.metric.domain].predicted(estimator, X)
        value = float(np.mean(self.metric(y, predicted, sample_weight=sample_weight, **options)))
        return -value if self.metric.direction == "minimize" else value

    def __repr__(self) -> str:
        return f"Scorer({self.metric!r})"


def scorer(metric: Metric, *, allow_improper: bool = False, **options: Any) -> Scorer:
    """A metric as a scorer for ``GridSearchCV(scoring=...)``, ``cross_val_score`` and their like.

    Parameters
    ----------
    metric : Metric
        ``log_loss`` or ``brier_score`` (proper: the best choice), ``spherical_score``; ``accuracy``, ``confidence_auroc``,
        ``area_under_risk_coverage``, ``coverage_at_risk`` to choose for the label or the ranking alone. For regressors
        ``negative_log_likelihood``, ``continuous_ranked_probability_score``, ``pinball_loss`` (proper), or
        ``root_mean_squared_error``, ``mean_absolute_error`` of the means alone. Its options are set, or given here as ``options``.
    allow_improper : bool, default False
        Take a calibration error all the same, to report it beside a proper score.

    Returns
    -------
    Scorer
        Greater is better: metrics to minimise change sign, as scikit-learn's ``neg_log_loss`` does.

    Raises
    ------
    InputError
        For a metric that must not select a model, such as every calibration error: the base rate, given to all, has error 0.

    See Also
    --------
    compute : several metrics of given predictions.

    Notes
    -----
    Each metric says whether it may select in its attributes ``proper`` and ``selects``, and in its docstring.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from calibrant.metrics import log_loss
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 5, [0, 0, 1, 1] * 5
    >>> cross_val_score(LogisticRegression(), X, y, scoring=scorer(log_loss), cv=2).round(1).tolist()
    [-0.2, -0.2]
    """
    metric = require_metric(metric).with_options(**options)
    proper = CHOSEN_BY[metric.domain].proper
    if not metric.selects and not allow_improper:
        raise InputError(
            f"metric must be one that may select a model; {metric.name} is not (a useless model can have its best value); "
            f"use {proper}, or pass allow_improper=True to report it beside them."
        )
    if metric.direction == "none":
        raise InputError(f"metric must have a direction; {metric.name} has none; use {proper}.")
    return Scorer(metric)
