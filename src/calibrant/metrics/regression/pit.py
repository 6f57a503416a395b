"""Positions of outcomes in their forecasts (PIT): their histogram, its test, and random ones for
counts.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from calibrant._kernels.bootstrap import null_generator, score_drawer
from calibrant._kernels.clusters import mean_worth
from calibrant._support.options import require_count
from calibrant.arrays import to_array
from calibrant.contracts.columns import Record
from calibrant.contracts.on_record import on_record
from calibrant.errors import InputError
from calibrant.forecasts.joint_normal import JointNormalForecast, read_joint
from calibrant.forecasts.read import ForecastRecord, read_forecast
from calibrant.groups import clustered
from calibrant.metrics.regression.joint import PreRank, joint_scores
from calibrant.metrics.tests import CalibrationTest

__all__ = ["PitHistogram", "pit_histogram", "pit_test", "randomised_pit"]


@dataclass(frozen=True)
class PitHistogram(Record):
    """One row a bin of F(y): edges, n (sum of weights), share times the number of bins (1 if
    uniform), and the band of uniform shares.
    """

    lower: np.ndarray
    upper: np.ndarray
    n: np.ndarray
    density: np.ndarray
    low: np.ndarray
    high: np.ndarray


def _read(y_true, mean, std, cluster, pre_rank, sample_weight=None):
    """The record of one output; of several together, that of the normal scores of their joint
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
            f"pre_rank is of outputs together; got a {type(mean).__name__}; leave it out, or pass a"
            " JointNormalForecast."
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
    """(n_bins,) weight by bin of F(y): sums of parts add up."""
    return np.bincount(_bin(record, n_bins), weights=record.weights, minlength=n_bins)


def _bin(record, n_bins):
    return np.minimum((special.ndtr(record.score) * n_bins).astype(np.intp), n_bins - 1)


def pit_histogram_of_sums(
    n: np.ndarray, total: float, level: float, worth: np.ndarray | float = 1.0
) -> PitHistogram:
    """The histogram of ``pit_sums`` of rows of that weight; ``worth`` (n_bins,) is by what they
    are to be multiplied in clusters.
    """
    n_bins = len(n)
    edges, rows = np.arange(n_bins + 1) / n_bins, np.maximum(np.full(n_bins, total) * worth, 1.0)
    low, high = (
        end * n_bins / rows for end in stats.binom(np.rint(rows), 1.0 / n_bins).interval(level)
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
    """How the probabilities F(y) of what came true are spread over [0, 1].

    Parameters
    ----------
    y_true : (n,), or (n, d) of outputs together
    mean, std : (n,) each, or a forecast in place of mean
    n_bins : int, default 20
    level : float, default 0.95
        Of the band in which a bin lies if the forecasts are calibrated.
    pre_rank : {"distance", "sum", "dependence"}, optional
        Of a JointNormalForecast with outcomes (n, d): what is looked at, as in :func:`joint_pit`.
        Default: the distance.
    cluster : (n,) labels of any kind, optional
        Which rows hang together (series, places, days): the band is then as wide as clusters ask
        for.
    sample_weight : (n,), optional

    Returns
    -------
    PitHistogram
        A hump in the middle means too wide, a bowl too narrow, a slope a shift.

    See Also
    --------
    PitHistogramDisplay : draws it.
    pit_test : whether it may be chance.

    Examples
    --------
    >>> pit_histogram([0.1, -0.1, 3.0, -3.0], [0.0] * 4, [1.0] * 4, n_bins=4).n.tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    return _of(
        _read(y_true, mean, std, cluster, pre_rank, sample_weight), n_bins=n_bins, level=level
    )


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
    """Test that the probabilities F(y) of what came true are uniform, as they are for a calibrated
    forecast.

    Parameters
    ----------
    y_true : (n,), or (n, d) of outputs together
    mean, std : (n,) each, or a forecast in place of mean
    method : {"ks", "cramer-von-mises", "chi-square"}
        Kolmogorov-Smirnov, Cramer-von Mises, or chi-square over 20 bins.
    pre_rank : {"distance", "sum", "dependence"}, optional
        Of a JointNormalForecast with outcomes (n, d): what is tested, as in :func:`joint_pit`.
        Default: the distance.
    cluster : (n,) labels of any kind, optional
        Which rows hang together (series, places, days): the law of the statistic is then drawn, of
        normal scores that are as alike in a cluster as those seen.
    n_draws : int, default 999
        Of a law that is drawn: the p-value is a multiple of 1 / (n_draws + 1).
    random_state : int, default 0

    Returns
    -------
    CalibrationTest
        statistic, p_value, method and n. Without clusters rows are taken to be independent; weights
        are not taken, since a test of repeated rows is none.

    See Also
    --------
    pit_histogram : where it is not uniform.

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
    if method not in TESTS:
        raise InputError(
            f'method must be "ks", "cramer-von-mises" or "chi-square"; got {method!r}.'
        )
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
    """(probabilities in ascending order, the middles of the steps of their distribution)."""
    return np.sort(pit), (np.arange(len(pit)) + 0.5) / len(pit)


#: By name, of (n,) probabilities: the test of independent ones, and what it rises with, without its
#: p-value.
TESTS: dict[str, Any] = {
    "ks": lambda pit: stats.kstest(pit, "uniform"),
    "cramer-von-mises": lambda pit: stats.cramervonmises(pit, "uniform"),
    "chi-square": lambda pit: stats.chisquare(_counts(pit)),
}
STATISTICS: dict[str, Any] = {
    "ks": lambda pit: np.abs(np.subtract(*_steps(pit))).max(),
    "cramer-von-mises": lambda pit: np.square(np.subtract(*_steps(pit))).sum(),
    "chi-square": lambda pit: np.square(_counts(pit)).sum(),
}


def randomised_pit(y_true: ArrayLike, forecast: Any, *, random_state: int = 0) -> np.ndarray:
    r"""A place of each count in its predicted distribution, uniform on [0, 1] where the forecasts
    are calibrated.

    .. math:: P(Y_i < y_i) + u_i P(Y_i = y_i), \qquad u_i \sim U(0, 1)

    Parameters
    ----------
    y_true : (n,) whole numbers
    forecast : frozen discrete distribution of scipy.stats, or (below, at)
        Such as ``stats.poisson(mu)``, its parameters one number or (n,); or the (n,) probabilities
        P(Y < y) and P(Y <= y) themselves.
    random_state : int, default 0
        The draws belong to the rows in the order of their numbers, so that their order in the
        arrays does not matter.

    Returns
    -------
    (n,) float64

    Raises
    ------
    InputError
        When outcomes are no whole numbers, the forecast is continuous, or the probabilities are out
        of order or range.

    See Also
    --------
    pit_histogram, pit_test : take normal scores of these with means 0 and stds 1, as below.
    BoundedOutcomes : for amounts that are no counts.

    Notes
    -----
    The plain PIT of a count is not uniform however good the forecast. A bowl means too narrow a
    forecast (counts vary more than said), a hump one too wide. An outcome that was said to be
    impossible gives 0 or 1.

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
            f"y_true must be (n,) whole numbers; got shape {y.shape} beginning"
            f" {y.ravel()[:3].tolist()}; use pit_histogram."
        )
    below, at = _drawn_steps(y, forecast)
    if not ((below >= 0.0) & (below <= at) & (at <= 1.0 + 1e-12)).all():
        row = int(np.flatnonzero(~((below >= 0.0) & (below <= at) & (at <= 1.0 + 1e-12)))[0])
        raise InputError(
            f"P(Y < y) and P(Y <= y) must ascend from 0 to 1; row {row} has {below[row]:g} and"
            f" {at[row]:g}; pass (below, at)."
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
                f"the forecast must be of the {len(y)} rows of y_true; {error}; give one"
                " distribution a row."
            ) from error
    else:
        raise InputError(
            "forecast must be a frozen discrete distribution of scipy.stats, or (below, at); got"
            f" {type(forecast).__name__}; for continuous ones use pit_histogram."
        )
    if any(part.shape != y.shape for part in pair):
        raise InputError(
            f"the forecast must be of the {len(y)} rows of y_true; got shape {pair[0].shape}; give"
            " one distribution a row."
        )
    return pair
