"""The calibration curve by logistic regression on a restricted cubic spline, with a pointwise and a simultaneous band."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.bootstrap import null_generator
from calibrant._kernels.intervals import normal_interval
from calibrant._kernels.logistic import sigmoid
from calibrant._kernels.splines import fit_restricted_spline, largest_t, spline_design, spline_knots
from calibrant.contracts.on_record import on_record
from calibrant.contracts.reading import read_labelled
from calibrant.errors import InputError
from calibrant.groups import WeightKind, clustered
from calibrant.metrics.curves.loess_curve import CalibrationCurve, curve_points, of_clusters
from calibrant.predictions import Inputs, Predictions

__all__ = ["spline_curve"]


def _of(
    record: Predictions, *, target: Any = "event", n_knots: int = 5, level: float = 0.95, n_points: int = 100, n_draws: int = 1000,
    random_state: int = 0,
) -> CalibrationCurve:  # fmt: skip
    if n_knots not in (3, 4, 5):
        raise InputError(f"n_knots must be 3, 4 or 5; got {n_knots!r}.")
    x, mass, mean, grid = curve_points(record, target, level, n_points, n_draws)
    knots = spline_knots(x, mass, n_knots)
    design, at = spline_design(x, knots), spline_design(grid, knots)
    theta, covariance = fit_restricted_spline(design, mean, mass)
    odds, variance = at @ theta, np.einsum("gi,ij,gj->g", at, covariance, at)
    error = np.sqrt(variance)
    # One Newton step from the fit: what the log-odds of the curve take from the mean of the outcomes at each score.
    matrix = at @ covariance @ (design * mass[:, None]).T
    reach = largest_t(matrix, lambda _: error, sigmoid(design @ theta), mass, level, n_draws, null_generator(random_state))
    rng = null_generator(random_state)
    error, reach = of_clusters(record, target, matrix, sigmoid(design @ theta), (error, reach), level, n_draws, rng)
    lines = (odds, *normal_interval(odds, error**2, level), odds - reach * error, odds + reach * error)
    return CalibrationCurve(grid, *map(sigmoid, lines))


@on_record(_of)
def spline_curve(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    target: Any = "event",
    n_knots: int = 5,
    level: float = 0.95,
    n_points: int = 100,
    n_draws: int = 1000,
    random_state: int = 0,
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: WeightKind = "frequency",
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> CalibrationCurve:
    r"""Smooth calibration curve of the event: logistic regression of the outcomes on a restricted cubic spline of the log-odds.

    .. math:: \mathrm{logit}\, \hat g(t) = \beta_0 + \beta_1 \ell + \sum_{j=1}^{k-2} \beta_{j+1} S_j(\ell), \quad \ell = \mathrm{logit}\, t

    with S_j cubic between the knots and straight beyond the outer ones.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : {"event", "answer"} or a class label
    n_knots : {5, 4, 3}
        Knots at Harrell's quantiles of the scores; those that coincide count once. 3 is enough for fewer than 100 events.
    level : float, default 0.95
        Of both bands: each point's interval by itself, and the band that holds the whole curve at once.
    n_points : int, default 100
        Points from the lowest score to the highest, half at equal steps and half at quantiles of the scores.
    n_draws : int, default 1000
        Outcomes drawn from the fitted curve; the curves' largest deviation in standard errors is the reach of the simultaneous band.
    random_state : int, default 0
    cluster : (n,) labels of any kind, optional
        Which rows hang together (visits of one patient, answers to one question): both bands are then cluster-robust, and never narrower
        than those of independent rows.
    sample_weight : (n,), optional
        Weight 2 means the row twice, weight 0 no row.
    weight_kind : {"frequency", "sampling"}
        A weight is so many rows; or it is one row that stands for others ("sampling"), as weights of a design or of importance have it.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    CalibrationCurve
        Columns ``score``, ``observed``, ``low``, ``high`` (pointwise), ``band_low``, ``band_high`` (simultaneous).
        ``.frame()`` gives it as a data frame.

    Raises
    ------
    InputError
        When the predictions cannot be read, the target is unknown, or an option is out of its range.

    See Also
    --------
    loess_curve : The same by local regression on the scores themselves.
    calibration_slope : The straight line in place of the spline.

    Notes
    -----
    Use it with many rows and for rare events: it costs one logistic fit and its bands stay inside 0 and 1. A calibrated model is the
    straight line of slope 1, so the curve has no bias there. Do not read its ends beyond the outer knots, where few rows speak. Where the
    spline separates the outcomes, as when none is a hit, the likelihood has no maximum: then a straight line by Firth's likelihood.

    References
    ----------
    Harrell, "Regression modeling strategies", 2015 (knots and spline); Van Calster et al., "A calibration hierarchy for risk models was
    defined", Journal of Clinical Epidemiology 2016.

    Examples
    --------
    >>> curve = spline_curve([0, 0, 0, 1, 0, 1, 1, 1] * 10, [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9] * 10, n_knots=3, n_points=5)
    >>> curve.score.round(2).tolist(), curve.observed.round(2).tolist()
    ([0.1, 0.4, 0.9], [0.02, 0.32, 0.98])
    """
    record = clustered(read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs), cluster, weight_kind)
    options: dict[str, Any] = {"level": level, "n_points": n_points, "n_draws": n_draws, "random_state": random_state}
    return _of(record, target=target, n_knots=n_knots, **options)
