"""Metrics of joint forecasts of several outputs: coverage of boxes and ellipses, energy and
variogram scores, joint PIT.
"""

from collections.abc import Sequence
from dataclasses import field
from typing import Any, Literal

import numpy as np
import scipy
from scipy import special

from calibrant._numerics.normal_scores import empirical_scores, mean_norm
from calibrant.core.arrays import ArrayLike
from calibrant.core.domain import Domain
from calibrant.core.estimators import require_option
from calibrant.core.joint_normal import JointNormalForecast, JointRecord, read_joint
from calibrant.core.metric import BaseMetric, require_level
from calibrant.core.metric_kinds import MeanMetric
from calibrant.core.reading import shared_option
from calibrant.errors import InputError

__all__ = [
    "FARTHEST",
    "JOINT",
    "BoxCoverage",
    "EllipseCoverage",
    "EnergyScore",
    "PreRank",
    "VariogramScore",
    "box_coverage",
    "ellipse_coverage",
    "energy_score",
    "joint_pit",
    "joint_scores",
    "variogram_score",
]


def _read(
    metrics: Sequence[BaseMetric],
    y_true: ArrayLike | None,
    P: Any,
    *,
    std: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> JointRecord:
    if y_true is None:
        raise InputError("y_true must be the outcomes, (n, d); got None.")
    given = P if std is None else (P, std)
    return read_joint(given, y_true, sample_weight, shared_option(metrics, "member_weight"))


#: Forecasts of several outputs together: JointNormalForecast, (mean, cov), or draws (n, d, m).
JOINT = Domain(
    "joint",
    "joint forecasts of several numbers",
    JointRecord,
    _read,
    takes=lambda P, std: isinstance(P, JointNormalForecast),
)


class JointCoverage(
    MeanMetric,
    domain=JOINT,
    estimand="share of new rows",
    direction="none",
    range=(0.0, 1.0),
    rate=True,
):
    """Template of the share of the rows whose outcomes lie in their predicted regions."""

    said: float = 0.9

    def _check(self) -> None:
        require_level(self.said, "said", usual=0.9)


class BoxCoverage(JointCoverage, name="box coverage", key="box_coverage"):
    r"""Share of the rows whose outputs all lie in the box of nominal coverage ``said`` or more.

    .. math:: \frac{1}{n} \sum_i \prod_j \left[ |y_{ij} - \mu_{ij}| \le z \sigma_{ij} \right],
        \qquad
        (2 \Phi(z) - 1)^d = \text{said}

    Parameters
    ----------
    said : float, default 0.9
        The smallest nominal coverage of the boxes.

    See Also
    --------
    ellipse_coverage : the coverage that depends on correlations too.
    interval_coverage : the coverage of one output.

    Notes
    -----
    The boxes are Sidak's (``JointNormalForecast.box``). For a calibrated forecast they cover
    exactly ``said`` where outputs are independent, and more where they are correlated. Coverage
    below ``said`` shows miscalibration; coverage above it need not. The forecast is a
    JointNormalForecast, or its mean and covariance.

    References
    ----------
    Sidak, "Rectangular confidence regions for the means of multivariate normal distributions",
    1967.

    Examples
    --------
    >>> mean, cov = [[0.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]
    >>> box_coverage([[0.0, 0.0], [3.0, 0.0]], mean, cov)
    0.5
    >>> print(box_coverage.interval([[0.0, 0.0], [3.0, 0.0]], mean, cov))
    0.5 [0.01258, 0.9874]
    """

    def _losses(self, record: Any) -> np.ndarray:
        low, high = record.normal.box(self.said)
        return ((low <= record.y) & (record.y <= high)).all(axis=1) * 1.0


class EllipseCoverage(JointCoverage, name="ellipse coverage", key="ellipse_coverage"):
    r"""Share of the outcomes inside the ellipse of nominal coverage ``said``.

    .. math:: \frac{1}{n} \sum_i \left[ (y_i - \mu_i)^\top \Sigma_i^{-1} (y_i - \mu_i) \le
        \chi^2_{d, \text{said}} \right]

    Parameters
    ----------
    said : float, default 0.9
        The nominal coverage of the ellipses.

    See Also
    --------
    box_coverage : the coverage of one interval per output.
    joint_pit : the same for ellipses of all sizes.
    CovarianceScaling : a calibrator that corrects it.

    Notes
    -----
    It is close to ``said`` where variances and correlations are correct on average. Ellipses that
    are too narrow in one direction and too wide in another can cancel.

    Examples
    --------
    >>> mean, cov = [[0.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]
    >>> ellipse_coverage([[0.0, 0.0], [3.0, 0.0]], mean, cov)
    0.5
    """

    def _losses(self, record: Any) -> np.ndarray:
        most = 2.0 * special.gammaincinv(0.5 * record.y.shape[1], self.said)
        return (record.normal.distance(record.y) <= most) * 1.0


class EnergyScore(
    MeanMetric,
    name="energy score",
    key="energy_score",
    domain=JOINT,
    direction="minimize",
    range=(0.0, float("inf")),
    proper=True,
    selects=True,
):
    r"""Mean distance from draws to the outcome minus half the mean distance between draws.

    .. math:: \frac{1}{n} \sum_i \left( E \|X_i - y_i\| - \frac{1}{2} E \|X_i - X_i'\| \right)

    Parameters
    ----------
    estimator : {"empirical", "fair"}
        For draws only: the score of their empirical distribution, or the unbiased estimate for the
        distribution that they come from.
    member_weight : (m,) or (n, m), optional
        For draws only: the weight of each ensemble member relative to the others of its row.

    See Also
    --------
    variogram_score : a score more sensitive to wrong correlations.
    continuous_ranked_probability_score : the score of one output, equal for d = 1, but without
        member weights.

    Notes
    -----
    It is a proper score in the units of y: bring outputs of different units to one scale first. The
    forecast is a JointNormalForecast, its mean and covariance, or draws (n, d, m). For normal
    forecasts both means are exact, by one integral each. Draws are treated as the distribution
    itself, so the score is larger by about 1 / m of the spread. It detects wrong means and
    variances well and wrong correlations poorly.

    References
    ----------
    Gneiting and Raftery, "Strictly proper scoring rules, prediction, and estimation", 2007, section
    4.3.

    Examples
    --------
    >>> round(energy_score([[0.0]], [[0.0]], [[[1.0]]]), 6)
    0.233695
    """

    estimator: Literal["empirical", "fair"] = "empirical"
    member_weight: ArrayLike | None = field(default=None, compare=False)

    def _check(self) -> None:
        require_option("estimator", self.estimator, ("empirical", "fair"))

    def _losses(self, record: Any) -> np.ndarray:
        if record.draws is not None:
            return _of_draws(record, self.estimator)
        if self.estimator != "empirical":
            raise InputError(
                "member_weight and estimator apply to draws; leave them out for a normal"
                " forecast, whose score is exact."
            )
        joint = record.normal
        variance = joint.principal_variance
        return mean_norm(joint.along(record.y), variance) - 0.5 * mean_norm(
            np.zeros_like(variance), 2.0 * variance
        )


def _of_draws(record, estimator):
    n, _, m = record.draws.shape
    share = np.full((n, m), 1.0 / m) if record.member_share is None else record.member_share
    first, second = np.triu_indices(m, 1)
    apart = np.array(
        [
            scipy.spatial.distance.pdist(row.T) @ (w[first] * w[second])
            for row, w in zip(record.draws, share, strict=True)
        ]
    )
    if estimator == "fair":
        # A member is never compared with itself.
        apart /= 1.0 - np.square(share).sum(axis=1)
    off = np.sqrt(np.square(record.draws - record.y[..., None]).sum(axis=1))
    return (off * share).sum(axis=1) - apart


#: Beyond this many standard deviations, an asymptotic series gives the mean of a power to 1e-9, and
#: the series around 0 loses digits.
FAR = 30.0


class VariogramScore(
    MeanMetric,
    name="variogram score",
    key="variogram_score",
    domain=JOINT,
    direction="minimize",
    range=(0.0, float("inf")),
    proper=True,
    selects=True,
):
    r"""Mean squared error of the predicted powers of the differences between outputs.

    .. math:: \frac{1}{n} \sum_i \sum_{j, k} \left( |y_{ij} - y_{ik}|^p - E |X_{ij} - X_{ik}|^p
        \right)^2

    Parameters
    ----------
    power : float, default 0.5
        The power p, above 0 and at most 2; small powers are less sensitive to single large
        differences.

    See Also
    --------
    energy_score : a score more sensitive to means and variances.

    Notes
    -----
    It is proper, but not strictly: an equal bias in all outputs goes undetected, so report it with
    the energy score. Bring outputs of different units to one scale first. The forecast is a
    JointNormalForecast, its mean and covariance, or draws (n, d, m), of two outputs or more. It is
    exact for normal forecasts.

    References
    ----------
    Scheuerer and Hamill, "Variogram-based proper scoring rules for probabilistic forecasts of
    multivariate quantities", 2015.

    Examples
    --------
    >>> mean, cov = [[0.0, 0.0]], [[[0.5, 0.0], [0.0, 0.5]]]
    >>> round(variogram_score([[0.0, 1.0]], mean, cov, power=2.0), 6)
    0.0
    """

    power: float = 0.5

    def _check(self) -> None:
        if not (isinstance(self.power, float | int) and 0.0 < self.power <= 2.0):
            raise InputError(
                f"power must be above 0 and at most 2; got {self.power!r}; 0.5 is usual."
            )

    def _losses(self, record: Any) -> np.ndarray:
        if record.y.shape[1] < 2:
            raise InputError(
                "the variogram score needs at least two outputs; got one; use"
                " continuous_ranked_probability_score."
            )
        j, k = np.triu_indices(record.y.shape[1], 1)
        seen = np.abs(record.y[:, j] - record.y[:, k]) ** self.power
        if record.draws is None:
            mean, cov = record.normal.mean, record.normal.cov
            variance = cov[:, j, j] + cov[:, k, k] - 2.0 * cov[:, j, k]
            said = _mean_power(mean[:, j] - mean[:, k], np.sqrt(variance), self.power)
        else:
            said = np.stack(
                [
                    (np.abs(record.draws[:, a] - record.draws[:, b]) ** self.power).mean(axis=1)
                    for a, b in zip(j, k, strict=True)
                ],
                axis=1,
            )
        return 2.0 * np.square(seen - said).sum(axis=1)


def _mean_power(mean: np.ndarray, std: np.ndarray, power: float) -> np.ndarray:
    """Compute E |mean + std Z|^power."""
    z = np.abs(mean / std)
    near = np.minimum(z, FAR)
    middle = (
        2.0 ** (0.5 * power)
        * special.gamma(0.5 + 0.5 * power)
        / np.sqrt(np.pi)
        * special.hyp1f1(-0.5 * power, 0.5, -0.5 * near * near)
    )
    far = np.maximum(z, FAR)
    # Moments of a normal distribution: 1, 3 and 15 times the powers of its variance.
    c = [power * (power - 1.0) / 2.0, power * (power - 1.0) * (power - 2.0) * (power - 3.0) / 8.0]
    c.append(c[1] * (power - 4.0) * (power - 5.0) / 6.0)
    series = far**power * (1.0 + c[0] / far**2 + c[1] / far**4 + c[2] / far**6)
    return std**power * np.where(z < FAR, middle, series)


box_coverage: BoxCoverage = BoxCoverage()
ellipse_coverage: EllipseCoverage = EllipseCoverage()
energy_score: EnergyScore = EnergyScore()
variogram_score: VariogramScore = VariogramScore()


PreRank = Literal["distance", "sum", "dependence"]
#: Cap on normal scores; the tail beyond it has probability below 1e-300.
FARTHEST = 38.0


def joint_pit(
    y_true: ArrayLike,
    forecast: Any,
    *,
    pre_rank: PreRank = "distance",
    sample_weight: ArrayLike | None = None,
) -> np.ndarray:
    r"""Compute the joint PIT: the position of each row in its predicted joint distribution, uniform
    on [0, 1] under calibration.

    .. math:: u_i = P(\rho(X_i) \le \rho(y_i)), \qquad X_i \sim N(\mu_i, \Sigma_i)

    Parameters
    ----------
    y_true : (n, d) outcomes
    forecast : JointNormalForecast, or (mean, cov)
    pre_rank : {"distance", "sum", "dependence"}
        :math:`\rho`, which reduces a row to one number. "distance": the squared Mahalanobis
        distance, chi-squared with d degrees of freedom. "sum": the sum of the outputs' normal
        scores. "dependence": the same distance, with each output's normal scores replaced by those
        of their ranks among the rows, so that only the correlations are tested.
    sample_weight : (n,), optional
        Weight 2 counts a row twice, also in ranks; weight 0 drops it.

    Returns
    -------
    (n,) float64

    Raises
    ------
    InputError
        When shapes differ, or a covariance is not positive definite.

    See Also
    --------
    pit_histogram, pit_test : functions that also take a JointNormalForecast and ``pre_rank``.
    ellipse_coverage : the share of distances below one bound.

    Notes
    -----
    For "distance", a peak at 1 means that the forecast is too narrow, one at 0 too wide. For "sum",
    a U shape means that outputs are more correlated than predicted, or all too narrow; a slope is a
    shared bias. Check the margins first (``forecast.marginals``). Where they are calibrated,
    "dependence" shows the rest: a U shape or a peak at 1 means wrong correlations. Ranks make the
    margins exactly uniform, so its test is slightly conservative.

    References
    ----------
    Gneiting, Stanberry, Grimit, Held and Johnson, "Assessing probabilistic forecasts of
    multivariate quantities", TEST 17, 2008. Ziegel and Gneiting, "Copula calibration", Electronic
    Journal of Statistics 8, 2014. Allen, Ziegel and Ginsbourger, "Assessing the calibration of
    multivariate probabilistic forecasts", QJRMS 150, 2024.

    Examples
    --------
    >>> joint_pit([[0.0, 0.0], [1.0, 1.0]], ([[0.0, 0.0]] * 2, [[1.0, 0.0], [0.0, 1.0]])).round(
    ...     3
    ... ).tolist()
    [0.0, 0.632]
    """
    return special.ndtr(joint_scores(read_joint(forecast, y_true, sample_weight), pre_rank))


def joint_scores(record: JointRecord, pre_rank: PreRank | None) -> np.ndarray:
    """(n,) normal scores of the joint PIT of a record's rows; by default of the distance."""
    require_option("pre_rank", "distance" if pre_rank is None else pre_rank, tuple(SCORES))
    return np.clip(SCORES[pre_rank or "distance"](record), -FARTHEST, FARTHEST)


def _distance(joint, y):
    half, d = 0.5 * joint.distance(y), 0.5 * joint.shape[1]
    low, high = special.gammainc(d, half), special.gammaincc(d, half)
    # Each half uses the tail that keeps its precision.
    return np.where(low < 0.5, special.ndtri(low), -special.ndtri(high))


def _standard(record):
    """(scores of the outputs (n, d), predicted correlations (n, d, d))."""
    margins = record.normal.marginals
    return margins.score_at(record.y), record.normal.cov / (
        margins.std[:, :, None] * margins.std[:, None, :]
    )


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


SCORES: dict[str, Any] = {
    "distance": lambda record: _distance(record.normal, record.y),
    "sum": _sum,
    "dependence": _dependence,
}
