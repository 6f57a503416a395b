"""Smooth reliability curves: by splines and by local regression."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._numerics.bootstrap import null_generator
from calibrant._numerics.intervals import normal_interval
from calibrant._numerics.logistic import sigmoid
from calibrant._numerics.smoothing import (
    clustered_band,
    fit_restricted_spline,
    interpolated_loess_errors,
    largest_t,
    loess_matrix,
    pooled_scores,
    score_grid,
    spline_design,
    spline_knots,
)
from calibrant.core.arrays import ArrayLike
from calibrant.core.estimators import require_count
from calibrant.core.given import Inputs
from calibrant.core.groups import WeightKind
from calibrant.core.guarantee import Record
from calibrant.core.metric import require_level
from calibrant.core.metric_kinds import on_record
from calibrant.core.predictions import Predictions
from calibrant.core.reading import read_clustered
from calibrant.errors import InputError

__all__ = ["CalibrationCurve", "curve_points", "loess_curve", "of_clusters", "spline_curve"]


@dataclass(frozen=True)
class CalibrationCurve(Record):
    """Smooth calibration curve, one row per point: score, fitted share of hits, its pointwise
    interval, and the simultaneous band.
    """

    score: np.ndarray
    observed: np.ndarray
    low: np.ndarray
    high: np.ndarray
    band_low: np.ndarray
    band_high: np.ndarray


def curve_points(
    record: Predictions, target: Any, level: float, n_points: int, n_draws: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(distinct scores, their mass, their mean hit, points of the curve) of a record; validates a
    curve's options.
    """
    require_level(level)
    require_count("n_points", n_points, 2)
    require_count("n_draws", n_draws, 20)
    score, hit = record.pair(target)
    x, mass, index = pooled_scores(score, record.weights)
    return (
        x,
        mass,
        np.bincount(index, weights=record.weights * hit) / mass,
        score_grid(x, mass, n_points),
    )


def of_clusters(
    record: Predictions,
    target: Any,
    matrix: np.ndarray,
    expected: np.ndarray,
    band: tuple[np.ndarray, float],
    level: float,
    n_draws: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, float]:
    """Widen the ``band``, (errors, reach), for clusters of rows; ``expected`` (m,) are the expected
    outcomes at the distinct scores.
    """
    if record.cluster is None:
        return band
    score, hit = record.pair(target)
    _, mass, index = pooled_scores(score, record.weights)
    cluster = np.unique(record.cluster, return_inverse=True)[1]
    moves = record.weights * (hit - expected[index]) / mass[index]
    error, reach = clustered_band(matrix, index, moves, cluster, level, n_draws, rng)
    return np.maximum(error, band[0]), max(reach, band[1])


def _loess_curve_of(
    record: Predictions,
    *,
    target: Any = "event",
    span: float = 0.75,
    level: float = 0.95,
    n_points: int = 100,
    n_draws: int = 1000,
    random_state: int = 0,
) -> CalibrationCurve:
    if not 0.0 < span <= 1.0:
        raise InputError(f"span must be in (0, 1]; got {span!r}; 0.75 is usual.")
    x, mass, mean, grid = curve_points(record, target, level, n_points, n_draws)
    matrix = loess_matrix(x, mass, grid, span)
    fitted = matrix @ mean
    errors, inside = interpolated_loess_errors(matrix, x, mass, grid)
    drawn_from = np.interp(x, grid, inside(fitted))
    reach = largest_t(
        matrix,
        lambda moved: errors(fitted + moved),
        drawn_from,
        mass,
        level,
        n_draws,
        null_generator(random_state),
    )
    smooth, rng = np.clip(np.interp(x, grid, fitted), 0.0, 1.0), null_generator(random_state)
    error, reach = of_clusters(
        record, target, matrix, smooth, (errors(fitted), reach), level, n_draws, rng
    )
    ends = (
        *normal_interval(fitted, error**2, level),
        fitted - reach * error,
        fitted + reach * error,
    )
    return CalibrationCurve(grid, *(np.clip(line, 0.0, 1.0) for line in (fitted, *ends)))


@on_record(_loess_curve_of)
def loess_curve(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    target: Any = "event",
    span: float = 0.75,
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
    r"""Fit the smooth calibration curve of the event by local quadratic regression (loess) of the
    outcomes on the scores, with bands.

    .. math:: \hat g(t) = \hat a_t, \quad (\hat a_t, \hat b_t, \hat c_t) = \arg\min \sum_i
        K\!\left(\frac{s_i - t}{h_t}\right)
              \left(y_i - a - b (s_i - t) - c (s_i - t)^2\right)^2

    Here K(u) = (1 - \|u\|³)³, and h_t is the distance that contains the nearest ``span`` of the
    rows.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : {"event", "answer"} or a class label
    span : float, default 0.75
        Share of the rows in each local fit.
    level : float, default 0.95
        The level of both bands: the pointwise interval, and the band for the whole curve.
    n_points : int, default 100
        Number of points from the lowest score to the highest, half equally spaced and half at
        quantiles of the scores.
    n_draws : int, default 1000
        Number of simulated curves from the fitted one; their largest deviation, in standard errors,
        sets the width of the simultaneous band.
    random_state : int, default 0
    cluster : (n,) labels of any kind, optional
        Clusters of dependent rows (visits of one patient, answers to one question). Both bands are
        then cluster-robust, and never narrower than those of independent rows.
    sample_weight : (n,), optional
        Weight 2 counts a row twice; weight 0 drops it.
    weight_kind : {"frequency", "sampling"}
        "frequency": a weight counts identical rows. "sampling": a weighted row is one row that
        stands for others, as with design or importance weights.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    CalibrationCurve
        Columns ``score``, ``observed``, ``low``, ``high`` (pointwise), ``band_low``, ``band_high``
        (simultaneous), all cut to [0, 1]; ``.frame()`` returns a data frame.

    Raises
    ------
    InputError
        When the predictions are invalid, the target is unknown, or an option is out of range.

    See Also
    --------
    spline_curve : the same by logistic regression on a spline, faster and more stable in sparse
        tails.
    isotonic_curve : a monotone curve without a span to choose.
    integrated_calibration_index : the mean gap between this curve and the diagonal.

    Notes
    -----
    Use it where clinical reports require it. The data show no miscalibration if the simultaneous
    band contains the diagonal; the pointwise interval applies to one score chosen beforehand. The
    bands are for the smoothed curve and ignore its bias where the truth bends within a span. In
    simulations of 200 and of 1,000 rows, the simultaneous 95 % band covered the whole truth 95 to
    98 times of 100 for calibrated risks. Where log-odds were too large by 1 / 0.6, it covered 93
    and 80 times (``spline_curve``: 93 and more). The curve equals R's
    ``loess(y ~ p, surface = "direct")``; beyond 5,000 distinct scores, these are first pooled into
    groups, which changes it by about 1e-4.

    References
    ----------
    Cleveland and Devlin, "Locally weighted regression", JASA 1988; Austin and Steyerberg,
    "Graphical assessment of internal and external calibration of logistic regression models by
    using loess smoothers", Statistics in Medicine 2014.

    Examples
    --------
    >>> curve = loess_curve(
    ...     [0, 0, 0, 1, 0, 1, 1, 1] * 10, [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9] * 10, n_points=5
    ... )
    >>> curve.score.round(2).tolist(), curve.observed.round(2).tolist()
    ([0.1, 0.4, 0.9], [0.0, 0.74, 1.0])
    """
    record = read_clustered(
        y_true, P, cluster, weight_kind, sample_weight=sample_weight, classes=classes, inputs=inputs
    )
    options: dict[str, Any] = {
        "level": level,
        "n_points": n_points,
        "n_draws": n_draws,
        "random_state": random_state,
    }
    return loess_curve.of(record, target=target, span=span, **options)


def _spline_curve_of(
    record: Predictions,
    *,
    target: Any = "event",
    n_knots: int = 5,
    level: float = 0.95,
    n_points: int = 100,
    n_draws: int = 1000,
    random_state: int = 0,
) -> CalibrationCurve:
    if n_knots not in (3, 4, 5):
        raise InputError(f"n_knots must be 3, 4 or 5; got {n_knots!r}.")
    x, mass, mean, grid = curve_points(record, target, level, n_points, n_draws)
    knots = spline_knots(x, mass, n_knots)
    design, at = spline_design(x, knots), spline_design(grid, knots)
    theta, covariance = fit_restricted_spline(design, mean, mass)
    odds, variance = at @ theta, np.einsum("gi,ij,gj->g", at, covariance, at)
    error = np.sqrt(variance)
    # One Newton step from the fit: influence of the mean outcome at each score on the log-odds of
    # the curve.
    matrix = at @ covariance @ (design * mass[:, None]).T
    reach = largest_t(
        matrix,
        lambda _: error,
        sigmoid(design @ theta),
        mass,
        level,
        n_draws,
        null_generator(random_state),
    )
    rng = null_generator(random_state)
    error, reach = of_clusters(
        record, target, matrix, sigmoid(design @ theta), (error, reach), level, n_draws, rng
    )
    lines = (
        odds,
        *normal_interval(odds, error**2, level),
        odds - reach * error,
        odds + reach * error,
    )
    return CalibrationCurve(grid, *map(sigmoid, lines))


@on_record(_spline_curve_of)
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
    r"""Fit the smooth calibration curve of the event by logistic regression of the outcomes on a
    restricted cubic spline of the log-odds.

    .. math:: \mathrm{logit}\, \hat g(t) = \beta_0 + \beta_1 \ell + \sum_{j=1}^{k-2} \beta_{j+1}
        S_j(\ell), \quad \ell = \mathrm{logit}\, t

    Here S_j is cubic between the knots and linear beyond the outer ones.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : {"event", "answer"} or a class label
    n_knots : {5, 4, 3}
        Number of knots, at Harrell's quantiles of the scores; equal knots count once. 3 are enough
        for fewer than 100 events.
    level : float, default 0.95
        The level of both bands: the pointwise interval, and the band for the whole curve.
    n_points : int, default 100
        Number of points from the lowest score to the highest, half equally spaced and half at
        quantiles of the scores.
    n_draws : int, default 1000
        Number of simulated curves from the fitted one; their largest deviation, in standard errors,
        sets the width of the simultaneous band.
    random_state : int, default 0
    cluster : (n,) labels of any kind, optional
        Clusters of dependent rows (visits of one patient, answers to one question). Both bands are
        then cluster-robust, and never narrower than those of independent rows.
    sample_weight : (n,), optional
        Weight 2 counts a row twice; weight 0 drops it.
    weight_kind : {"frequency", "sampling"}
        "frequency": a weight counts identical rows. "sampling": a weighted row is one row that
        stands for others, as with design or importance weights.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    CalibrationCurve
        Columns ``score``, ``observed``, ``low``, ``high`` (pointwise), ``band_low``, ``band_high``
        (simultaneous). ``.frame()`` returns a data frame.

    Raises
    ------
    InputError
        When the predictions are invalid, the target is unknown, or an option is out of range.

    See Also
    --------
    loess_curve : the same by local regression on the scores.
    calibration_slope : the fit of a straight line instead of a spline.

    Notes
    -----
    Use it with many rows and for rare events: it costs one logistic fit, and its bands stay within
    0 and 1. A calibrated model is the straight line of slope 1, so the curve is unbiased there. Do
    not interpret its ends beyond the outer knots, where data are sparse. Where the spline separates
    the outcomes, for example without hits, the likelihood has no maximum; the fit is then a
    straight line by Firth's likelihood.

    References
    ----------
    Harrell, "Regression modeling strategies", 2015 (knots and spline); Van Calster et al., "A
    calibration hierarchy for risk models was defined", Journal of Clinical Epidemiology 2016.

    Examples
    --------
    >>> curve = spline_curve(
    ...     [0, 0, 0, 1, 0, 1, 1, 1] * 10,
    ...     [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9] * 10,
    ...     n_knots=3,
    ...     n_points=5,
    ... )
    >>> curve.score.round(2).tolist(), curve.observed.round(2).tolist()
    ([0.1, 0.4, 0.9], [0.02, 0.32, 0.98])
    """
    record = read_clustered(
        y_true, P, cluster, weight_kind, sample_weight=sample_weight, classes=classes, inputs=inputs
    )
    options: dict[str, Any] = {
        "level": level,
        "n_points": n_points,
        "n_draws": n_draws,
        "random_state": random_state,
    }
    return spline_curve.of(record, target=target, n_knots=n_knots, **options)
