"""Probability integral transform (PIT) of outcomes: histogram, test, randomised PIT of counts."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy
from scipy import special

from calibrant._numerics.bootstrap import null_generator, score_drawer
from calibrant._numerics.clusters import mean_worth
from calibrant.core.arrays import ArrayLike, to_array
from calibrant.core.estimators import require_count, require_option, seeded
from calibrant.core.forecast_record import ForecastRecord, read_forecast
from calibrant.core.groups import clustered
from calibrant.core.guarantee import Record
from calibrant.core.joint_normal import JointNormalForecast, read_joint
from calibrant.core.metric_kinds import on_record
from calibrant.errors import InputError
from calibrant.metrics.forecast_joint import PreRank, joint_scores
from calibrant.metrics.tests import CalibrationTest

__all__ = ["PitHistogram", "pit_histogram", "pit_test", "randomised_pit"]


@dataclass(frozen=True)
class PitHistogram(Record):
    """PIT histogram, one row per bin of F(y): edges, n (sum of weights), share times the number of
    bins (1 if uniform), and its band under uniformity.
    """

    lower: np.ndarray
    upper: np.ndarray
    n: np.ndarray
    density: np.ndarray
    low: np.ndarray
    high: np.ndarray


def _read(
    y_true: ArrayLike,
    mean: np.ndarray,
    std: ArrayLike | None,
    cluster: Any,
    pre_rank: Any,
    sample_weight: Any = None,
) -> ForecastRecord:
    """Read a record of one output; for joint forecasts, that of the normal scores of their joint
    PIT.
    """
    if isinstance(mean, JointNormalForecast):
        joint = read_joint(mean, y_true, sample_weight)
        record = read_forecast(
            np.zeros(len(joint)), np.ones(len(joint)), joint_scores(joint, pre_rank)
        )
        record = (
            record
            if sample_weight is None
            else replace(record, weight=joint.weights, kept=joint.kept)
        )
    elif pre_rank is None:
        record = read_forecast(mean, std, y_true, sample_weight=sample_weight).one_output()
    else:
        raise InputError(
            f"pre_rank applies to joint forecasts; got a {type(mean).__name__}; leave it out, or"
            " pass a JointNormalForecast."
        )
    return clustered(record, cluster)


def _of(record: ForecastRecord, *, n_bins: int = 20, level: float = 0.95) -> PitHistogram:
    require_count("n_bins", n_bins)
    sums, worth = pit_sums(record, n_bins), 1.0
    if record.cluster is not None:
        index = _bin(record, n_bins)
        worth = np.array(
            [
                mean_worth((index == b) * 1.0, record.weights, record.cluster, level)
                for b in range(n_bins)
            ]
        )
    return pit_histogram_of_sums(sums, record.weights.sum(), level, worth)


def pit_sums(record: ForecastRecord, n_bins: int = 20) -> np.ndarray:
    """(n_bins,) weight by bin of F(y); sums of parts add up."""
    return np.bincount(_bin(record, n_bins), weights=record.weights, minlength=n_bins)


def _bin(record: ForecastRecord, n_bins: int) -> np.ndarray:
    return np.minimum((special.ndtr(record.score) * n_bins).astype(np.intp), n_bins - 1)


def pit_histogram_of_sums(
    n: np.ndarray, total: float, level: float, worth: np.ndarray | float = 1.0
) -> PitHistogram:
    """Make the histogram from ``pit_sums`` of rows of that weight; ``worth`` (n_bins,) multiplies
    them for clusters.
    """
    n_bins = len(n)
    edges, rows = np.arange(n_bins + 1) / n_bins, np.maximum(np.full(n_bins, total) * worth, 1.0)
    low, high = (
        end * n_bins / rows
        for end in scipy.stats.binom(np.rint(rows), 1.0 / n_bins).interval(level)
    )
    return PitHistogram(edges[:-1], edges[1:], n, n * n_bins / total, low, high)


@on_record(_of)
def pit_histogram(
    y_true: ArrayLike,
    mean: Any,
    std: ArrayLike | None = None,
    *,
    n_bins: int = 20,
    level: float = 0.95,
    pre_rank: PreRank | None = None,
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> PitHistogram:
    """Compute the histogram of the probabilities F(y) of the outcomes on [0, 1].

    Parameters
    ----------
    y_true : (n,), or (n, d) for joint forecasts
    mean, std : (n,) each, or a forecast instead of mean
    n_bins : int, default 20
    level : float, default 0.95
        The level of the band that contains a bin under calibration.
    pre_rank : {"distance", "sum", "dependence"}, optional
        For a JointNormalForecast with outcomes (n, d): the statistic of :func:`joint_pit`, by
        default "distance".
    cluster : (n,) labels of any kind, optional
        Clusters of dependent rows (series, places, days). They widen the band.
    sample_weight : (n,), optional

    Returns
    -------
    PitHistogram
        A hump means that forecasts are too wide, a U shape too narrow, a slope biased.

    See Also
    --------
    PitHistogramDisplay : the plot of it.
    pit_test : the test of uniformity.

    Examples
    --------
    >>> pit_histogram([0.1, -0.1, 3.0, -3.0], [0.0] * 4, [1.0] * 4, n_bins=4).n.tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    return pit_histogram.of(
        _read(y_true, mean, std, cluster, pre_rank, sample_weight), n_bins=n_bins, level=level
    )


@seeded
def pit_test(
    y_true: ArrayLike,
    mean: Any,
    std: ArrayLike | None = None,
    *,
    method: Literal["ks", "cramer-von-mises", "chi-square"] = "ks",
    pre_rank: PreRank | None = None,
    cluster: ArrayLike | None = None,
    n_draws: int = 999,
    random_state: int = 0,
) -> CalibrationTest:
    """Test that the probabilities F(y) of the outcomes are uniform, as for a calibrated forecast.

    Parameters
    ----------
    y_true : (n,), or (n, d) for joint forecasts
    mean, std : (n,) each, or a forecast instead of mean
    method : {"ks", "cramer-von-mises", "chi-square"}
        Kolmogorov-Smirnov, Cramer-von Mises, or chi-square over 20 bins.
    pre_rank : {"distance", "sum", "dependence"}, optional
        For a JointNormalForecast with outcomes (n, d): the statistic of :func:`joint_pit`, by
        default "distance".
    cluster : (n,) labels of any kind, optional
        Clusters of dependent rows (series, places, days). The null is then simulated from normal
        scores that are as correlated within clusters as the observed ones.
    n_draws : int, default 999
        Number of draws of a simulated null; the p-value is a multiple of 1 / (n_draws + 1).
    random_state : int, default 0

    Returns
    -------
    CalibrationTest
        It has statistic, p_value, method and n. Without clusters, it assumes independent rows. It
        takes no weights, since repeated rows would invalidate the test.

    See Also
    --------
    pit_histogram : the deviations from uniformity.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.random.default_rng(0).normal(size=500)
    >>> (
    ...     bool(pit_test(y, np.zeros(500), np.ones(500)).p_value > 0.05),
    ...     bool(pit_test(y, np.zeros(500), np.full(500, 2.0)).p_value < 1e-6),
    ... )
    (True, True)
    """
    require_option("method", method, TESTS)
    require_count("n_draws", n_draws, 19, usual=999)
    record = _read(y_true, mean, std, cluster, pre_rank)
    pit = special.ndtr(record.score)
    found = TESTS[method](pit)
    said, p_value = str(method), float(found.pvalue)
    if record.cluster is not None:
        draw, rng, statistic = (
            score_drawer(record.score, record.cluster),
            null_generator(random_state),
            STATISTICS[method],
        )
        drawn = np.array([statistic(special.ndtr(draw(rng))) for _ in range(n_draws)])
        p_value = (1.0 + float(np.sum(drawn >= statistic(pit) * (1.0 - 1e-10)))) / (n_draws + 1.0)
        said = f"{method}, {n_draws} draws of clusters"
    return CalibrationTest(float(found.statistic), p_value, said, float(len(record)))


def _counts(pit):
    return np.bincount(np.minimum((pit * 20).astype(np.intp), 19), minlength=20)


def _steps(pit):
    """(probabilities in ascending order, midpoints of the steps of their distribution)."""
    return np.sort(pit), (np.arange(len(pit)) + 0.5) / len(pit)


#: Tests of (n,) independent probabilities, and functions that increase with their statistics.
TESTS: dict[str, Any] = {
    "ks": lambda pit: scipy.stats.kstest(pit, "uniform"),
    "cramer-von-mises": lambda pit: scipy.stats.cramervonmises(pit, "uniform"),
    "chi-square": lambda pit: scipy.stats.chisquare(_counts(pit)),
}
STATISTICS: dict[str, Any] = {
    "ks": lambda pit: np.abs(np.subtract(*_steps(pit))).max(),
    "cramer-von-mises": lambda pit: np.square(np.subtract(*_steps(pit))).sum(),
    "chi-square": lambda pit: np.square(_counts(pit)).sum(),
}


@seeded
def randomised_pit(y_true: ArrayLike, forecast: Any, *, random_state: int = 0) -> np.ndarray:
    r"""Compute the randomised PIT of each count, uniform on [0, 1] for calibrated forecasts.

    .. math:: P(Y_i < y_i) + u_i P(Y_i = y_i), \qquad u_i \sim U(0, 1)

    Parameters
    ----------
    y_true : (n,) whole numbers
    forecast : frozen discrete distribution of scipy.stats, or (below, at)
        For example ``stats.poisson(mu)``, with scalar or (n,) parameters; or the (n,) probabilities
        P(Y < y) and P(Y <= y).
    random_state : int, default 0
        Draws are assigned to the rows in the order of their values, so the order of the arrays does
        not matter.

    Returns
    -------
    (n,) float64

    Raises
    ------
    InputError
        When outcomes are not whole numbers, the forecast is continuous, or the probabilities are
        out of order or range.

    See Also
    --------
    pit_histogram, pit_test : functions that take normal scores of these with means 0 and stds 1, as
        below.
    BoundedOutcomes : forecasts of bounded amounts that are not counts.

    Notes
    -----
    The plain PIT of a count is not uniform even for a perfect forecast. A U shape means that the
    forecast is too narrow (counts vary more than predicted), a hump too wide. An outcome of
    predicted probability 0 gives 0 or 1.

    References
    ----------
    Czado, Gneiting and Held, "Predictive model assessment for count data", Biometrics 65, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import special, stats
    >>> from calibrant.metrics import pit_test
    >>> mu = np.random.default_rng(0).uniform(0.5, 5.0, 1000)
    >>> y = np.random.default_rng(1).negative_binomial(1.0, 1.0 / (1.0 + mu))
    >>> for said in (stats.nbinom(1.0, 1.0 / (1.0 + mu)), stats.poisson(mu)):
    ...     z = special.ndtri(randomised_pit(y, said))
    ...     print(
    ...         bool(pit_test(np.clip(z, -9.0, 9.0), np.zeros(1000), np.ones(1000)).p_value > 0.01)
    ...     )
    True
    False
    """
    y = to_array(y_true, "y_true").astype(np.float64)
    if y.ndim != 1 or len(y) == 0 or not (np.isfinite(y).all() and (y == np.rint(y)).all()):
        raise InputError(
            f"y_true must be (n,) whole numbers; got shape {y.shape} starting with"
            f" {y.ravel()[:3].tolist()}; use pit_histogram."
        )
    below, at = _drawn_steps(y, forecast)
    if not ((below >= 0.0) & (below <= at) & (at <= 1.0 + 1e-12)).all():
        row = int(np.flatnonzero(~((below >= 0.0) & (below <= at) & (at <= 1.0 + 1e-12)))[0])
        raise InputError(
            f"P(Y < y) and P(Y <= y) must be ascending in [0, 1]; row {row} has {below[row]:g}"
            f" and {at[row]:g}; pass (below, at)."
        )
    draws = np.empty(len(y))
    draws[np.lexsort((at, below, y))] = null_generator(random_state).random(len(y))
    return np.minimum(below + draws * (at - below), 1.0)


def _drawn_steps(y: np.ndarray, forecast: Any) -> list[np.ndarray]:
    frozen = forecast
    if isinstance(forecast, tuple) and len(forecast) == 2:
        pair = [
            to_array(part, name).astype(np.float64)
            for part, name in zip(forecast, ("below", "at"), strict=True)
        ]
    elif hasattr(forecast, "pmf") and hasattr(forecast, "cdf"):
        try:
            pair = [np.asarray(frozen.cdf(y + step), dtype=np.float64) for step in (-1.0, 0.0)]
        except ValueError as error:
            raise InputError(
                f"the forecast must have the {len(y)} rows of y_true; {error}; pass one"
                " distribution per row."
            ) from error
    else:
        raise InputError(
            "forecast must be a frozen discrete distribution of scipy.stats, or (below, at); got"
            f" {type(forecast).__name__}; for continuous ones use pit_histogram."
        )
    if any(part.shape != y.shape for part in pair):
        raise InputError(
            f"the forecast must have the {len(y)} rows of y_true; got shape {pair[0].shape};"
            " pass one distribution per row."
        )
    return pair
