"""Probability integral transforms of outputs together."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from calibrant._kernels.normal_scores import empirical_scores
from calibrant._support.options import require_option
from calibrant.forecasts.joint_normal import JointNormalForecast, JointRecord, read_joint

__all__ = ["FARTHEST", "PreRank", "joint_pit", "joint_scores"]

PreRank = Literal["distance", "sum", "dependence"]
#: Normal scores further out, which are beyond 1e-300, count as this one.
FARTHEST = 38.0


def joint_pit(y_true: ArrayLike, forecast: Any, *, pre_rank: PreRank = "distance", sample_weight: ArrayLike | None = None) -> np.ndarray:
    r"""A place of each row of outcomes in its predicted joint distribution, uniform on [0, 1] where the forecasts are calibrated.

    .. math:: u_i = P(\rho(X_i) \le \rho(y_i)), \qquad X_i \sim N(\mu_i, \Sigma_i)

    Parameters
    ----------
    y_true : (n, d) outcomes
    forecast : JointNormalForecast, or (mean, cov)
    pre_rank : {"distance", "sum", "dependence"}
        :math:`\rho`, which makes one number of a row. "distance": the squared Mahalanobis distance, chi-squared with d degrees of
        freedom. "sum": the sum of the outputs' normal scores. "dependence": the distance once more, after each output's normal scores have
        been replaced by those of their ranks among the rows, so that only the correlations are judged.
    sample_weight : (n,), optional
        Weight 2 means the row twice, which ranks count; rows of weight 0 are left out.

    Returns
    -------
    (n,) float64

    Raises
    ------
    InputError
        When shapes differ, or a covariance is not positive definite.

    See Also
    --------
    pit_histogram, pit_test : take a JointNormalForecast and ``pre_rank``, too.
    ellipse_coverage : how many distances are below one bound.

    Notes
    -----
    Of the distance a heap at 1 means too narrow a forecast, one at 0 too wide. Of the sum a bowl means that outputs rise and fall together
    more than said, or that all are too narrow, a slope a bias that they share. Look at the margins first (``forecast.marginals``): where
    they are right "dependence" says what is left, a bowl or a heap at 1 where correlations are wrong. With ranks the margins are uniform
    exactly, so its test is a little careful.

    References
    ----------
    Gneiting, Stanberry, Grimit, Held and Johnson, "Assessing probabilistic forecasts of multivariate quantities", TEST 17, 2008. Ziegel and
    Gneiting, "Copula calibration", Electronic Journal of Statistics 8, 2014. Allen, Ziegel and Ginsbourger, "Assessing the calibration of
    multivariate probabilistic forecasts", QJRMS 150, 2024.

    Examples
    --------
    >>> joint_pit([[0.0, 0.0], [1.0, 1.0]], ([[0.0, 0.0]] * 2, [[1.0, 0.0], [0.0, 1.0]])).round(3).tolist()
    [0.0, 0.632]
    """
    return special.ndtr(joint_scores(read_joint(forecast, y_true, sample_weight), pre_rank))


def joint_scores(record: JointRecord, pre_rank: PreRank | None) -> np.ndarray:
    """(n,) normal scores of the joint PIT of a record's rows, by the distance where nothing is asked."""
    require_option("pre_rank", "distance" if pre_rank is None else pre_rank, tuple(SCORES))
    return np.clip(SCORES[pre_rank or "distance"](record), -FARTHEST, FARTHEST)


def _distance(joint, y):
    half, d = 0.5 * joint.distance(y), 0.5 * joint.shape[1]
    low, high = special.gammainc(d, half), special.gammaincc(d, half)
    # Each half by the tail that keeps its digits.
    return np.where(low < 0.5, special.ndtri(low), -special.ndtri(high))


def _standard(record):
    """(scores of the outputs (n, d), the correlations said (n, d, d))."""
    margins = record.normal.marginals
    return margins.score_at(record.y), record.normal.cov / (margins.std[:, :, None] * margins.std[:, None, :])


def _sum(record):
    score, correlation = _standard(record)
    return score.sum(axis=1) / np.sqrt(correlation.sum(axis=(1, 2)))


def _dependence(record):
    score, correlation = _standard(record)
    ranked = np.empty_like(score)
    for j, one in enumerate(score.T):
        own, values = empirical_scores(one, record.weights)
        ranked[:, j] = own[np.searchsorted(values, one)]
    return _distance(JointNormalForecast(np.zeros_like(score), correlation), ranked)


SCORES: dict[str, Any] = {"distance": lambda record: _distance(record.normal, record.y), "sum": _sum, "dependence": _dependence}
