"""Tests of calibration, their result and the null that they draw: Hosmer-Lemeshow,
Spiegelhalter, of any error.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from calibrant._kernels import bins
from calibrant._kernels.bootstrap import draw_hits, draw_shared_hits, null_generator, shared_share
from calibrant._kernels.clusters import variance_of_sum
from calibrant._support.options import require_count
from calibrant.contracts.kinds import require_metric
from calibrant.contracts.metric import Metric
from calibrant.contracts.reading import CLASSIFICATION, read_clustered, read_labelled
from calibrant.errors import InputError, SparseDataWarning, warn
from calibrant.groups import WeightKind, rows_apart
from calibrant.predictions import Inputs

__all__ = [
    "CalibrationTest",
    "calibration_error_test",
    "hosmer_lemeshow_test",
    "signs_of_clusters",
    "simulated_p_value",
    "spiegelhalter_test",
]


@dataclass(frozen=True)
class CalibrationTest:
    """The result of a test of the claim that the predictions are calibrated.

    Attributes
    ----------
    statistic : float
    p_value : float
        Probability of a statistic at least as extreme if the claim were true. A small one speaks
        against calibration; a large one does not prove it, with few rows least of all.
    method : str
    n : float
        Sum of the weights.
    """

    statistic: float
    p_value: float
    method: str
    n: float


#: Outcomes drawn at once.
CELLS = 2_000_000


def simulated_p_value(
    statistic: Callable[..., Callable[[np.ndarray], np.ndarray]],
    options: tuple[Any, ...],
    score: np.ndarray,
    hit: np.ndarray,
    weight: np.ndarray,
    n_draws: int,
    random_state: int,
    cluster: np.ndarray | None = None,
) -> tuple[float, float]:
    """(statistic, p-value): ``statistic(score, weight, *options)`` is a function of hits (draws, n)
    that is large for miscalibration.

    It is exact for any n, and the same for scores in any order. An infinite
    statistic has a p-value of 0. Of rows in clusters, (n,) numbers, it is the larger of two, for
    statistics of the residuals hit - score alone. One turns the signs of the residuals of whole
    clusters: right for many clusters, whatever hangs together in them, but with 20 to 40 and rare
    hits it alarms 8 to 11 times of 100. The other draws outcomes that fall together as often as
    seen, in all clusters alike: right for few of them.
    """
    order = np.lexsort((weight, score) if cluster is None else (hit, cluster, weight, score))
    score, hit, weight = score[order], hit[order], weight[order]
    if cluster is not None:
        times = np.maximum(np.rint(weight), 1.0)
        score, hit, weight, cluster = (
            np.repeat(one, times.astype(np.intp))
            for one in (score, hit, weight / times, cluster[order])
        )
    of_hits = statistic(score, weight, *options)
    observed = float(of_hits(hit[None])[0])
    if np.isinf(observed):
        return observed, 0.0
    if cluster is None:
        rng = null_generator(random_state)
        nulls = [
            np.concatenate(
                [
                    of_hits(np.array([draw_hits(score, weight, rng) for _ in range(count)]))
                    for count in _blocks(n_draws, len(score))
                ]
            )
        ]
    else:
        turned = (
            of_hits(score + sign * (hit - score))
            for sign in signs_of_clusters(cluster, n_draws, random_state)
        )
        nulls = [
            np.concatenate(list(one))
            for one in (turned, _shared(of_hits, score, hit, cluster, n_draws, random_state))
        ]
    # As large but for rounding is as large.
    return observed, max(
        (1.0 + float(np.sum(null >= observed * (1.0 - 1e-10)))) / (n_draws + 1.0) for null in nulls
    )


def _shared(of_hits, score, hit, cluster, n_draws, random_state):
    """The statistic of outcomes that fall together in their clusters, in blocks of ``n_draws``
    in all.
    """
    rng, share = null_generator(random_state), shared_share(score, hit, cluster)
    for count in _blocks(n_draws, len(score)):
        yield of_hits(draw_shared_hits(score, cluster, share, count, rng))


def _blocks(n_draws, n):
    step = max(CELLS // n, 1)
    return [min(step, n_draws - start) for start in range(0, n_draws, step)]


def signs_of_clusters(cluster: np.ndarray, n_draws: int, random_state: int) -> Iterator[np.ndarray]:
    """Signs, 1 and -1, that are one in a cluster, in blocks (draws, n) of ``n_draws`` in all."""
    rng = null_generator(random_state)
    for count in _blocks(n_draws, len(cluster)):
        yield (2.0 * rng.integers(0, 2, (count, cluster.max() + 1)) - 1.0)[:, cluster]


#: Expected hits and misses that every bin must have for the chi-squared law.
ENOUGH = 5.0


def hosmer_lemeshow_test(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    n_bins: int = 10,
    fitted: bool = False,
    target: Any = "event",
    method: Literal["auto", "chi-squared", "simulated"] = "auto",
    n_draws: int = 999,
    random_state: int = 0,
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: WeightKind = "frequency",
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> CalibrationTest:
    r"""Test calibration by observed against expected hits in bins of equal weight.

    .. math:: \sum_b \frac{(O_b - E_b)^2}{E_b (1 - E_b / n_b)}

    against a chi-squared law with as many degrees of freedom as bins, or, where a bin expects few,
    against outcomes drawn from the scores.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    n_bins : int, default 10
        Ties are never split, so there may be fewer.
    fitted : bool, default False
        The model was fitted on these very rows: two degrees of freedom fewer.
    target : {"answer", "event"} or a class label
        Whose probability: the predicted label's against its being right, class 1's of two, or the
        named class's.
    method : {"auto", "chi-squared", "simulated"}
        "auto" simulates where a bin expects fewer than five hits or misses, and otherwise takes the
        chi-squared law.
    n_draws : int, default 999
        A simulated p-value is a multiple of 1 / (n_draws + 1).
    random_state : int, default 0
    cluster : (n,) labels of any kind, optional
        Which rows hang together: the p-value is then the larger of two. One null turns the signs of
        what was seen less what was said, of whole clusters at once; the other draws outcomes that
        fall together in a cluster as often as they were seen to.
    sample_weight : (n,), optional
        Weight 2 means the row twice, weight 0 no row.
    weight_kind : {"frequency", "sampling"}
        A weight is so many rows; or it is one row that stands for others ("sampling"), as weights
        of a design or of importance have it.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    CalibrationTest

    Raises
    ------
    InputError
        When the predictions cannot be read or an option cannot be used.

    See Also
    --------
    spiegelhalter_test : without bins.
    t_cal_test : many numbers of bins at once.

    Notes
    -----
    Use it where a regulator asks for it. Its answer changes with the bins; ``t_cal_test`` looks at
    all scales at once, ``cumulative_test`` at none. The chi-squared law needs about five expected
    hits and misses in each bin; with fewer it alarms too often (12 times of 100 at 5 %, for 1,000
    rows of an event of 0.5 %), hence the simulation, which is exact. A model fitted on these very
    rows would have to be fitted anew in each draw: then it warns.

    References
    ----------
    Hosmer and Lemeshow, "Goodness of fit tests for the multiple logistic regression model",
    Communications in Statistics 1980.

    Examples
    --------
    >>> found = hosmer_lemeshow_test([0, 1] * 50, [0.3, 0.7] * 50)
    >>> round(found.statistic, 1), found.p_value < 0.001
    (42.9, True)
    """
    require_count("n_bins", n_bins)
    if method not in ("auto", "chi-squared", "simulated") or (fitted and method == "simulated"):
        raise InputError(
            'method must be "auto", "chi-squared" or, for fitted=False, "simulated"; got'
            f" {method!r}."
        )
    require_count("n_draws", n_draws, 19, usual=999)
    if cluster is not None and (fitted or method == "chi-squared"):
        raise InputError(
            'cluster takes method="simulated" and fitted=False: the chi-squared law is of'
            " independent rows; leave both out."
        )
    record = read_clustered(
        y_true, P, cluster, weight_kind, sample_weight=sample_weight, classes=classes, inputs=inputs
    )
    (score, hit), weight = record.pair(target), record.weights
    _, mass, expected = _bins(score, weight, n_bins)
    least, total = float(np.minimum(expected, mass - expected).min()), float(weight.sum())
    if (
        cluster is not None
        or method == "simulated"
        or (method == "auto" and least < ENOUGH and not fitted)
    ):
        statistic, p_value = simulated_p_value(
            _statistic, (n_bins,), score, hit, weight, n_draws, random_state, record.cluster
        )
        drawn = "exact" if cluster is None else "signs and draws of clusters"
        return CalibrationTest(
            statistic, p_value, f"{drawn}, {n_draws} draws, {len(mass)} bins", total
        )
    freedom = len(mass) - 2 if fitted else len(mass)
    if freedom < 1:
        raise InputError(
            f"fitted=True needs at least three bins; the scores allow {len(mass)}; use another"
            " test."
        )
    if least < ENOUGH:
        warn(
            f"a bin of hosmer_lemeshow_test expects {least:.2g} hits or misses, and the chi-squared"
            " law needs about 5; take fewer bins, or rows that the model was not fitted on and"
            ' method="simulated".',
            SparseDataWarning,
        )
    statistic = float(_statistic(score, weight, n_bins)(hit[None])[0])
    return CalibrationTest(
        statistic,
        float(special.chdtrc(freedom, statistic)),
        f"chi-squared, {freedom} degrees of freedom",
        total,
    )


def _bins(score, weight, n_bins):
    """(bin of each row, its weight, its expected hits)."""
    group = bins.equal_mass_groups(score, n_bins, weight)
    return group, *bins.grouped_sums(group, group.max() + 1, [score], weight).T


def _statistic(score, weight, n_bins):
    """The statistic as a function of hits (draws, n)."""
    group, mass, expected = _bins(score, weight, n_bins)
    variance = expected * np.maximum(1.0 - expected / mass, 0.0)
    member = weight[:, None] * (group[:, None] == np.arange(len(mass)))

    def of_hits(hits):
        gap = hits @ member - expected
        impossible = np.where(np.abs(gap) > 1e-9, np.inf, 0.0)
        return np.where(
            variance > 0.0, gap**2 / np.where(variance > 0.0, variance, 1.0), impossible
        ).sum(axis=1)

    return of_hits


#: Skewness or excess kurtosis from which on outcomes are drawn, how many draws, and how many
#: surprises at most.
FAR, N_DRAWS, MOST_DRAWN = 0.5, 9_999, 20_000_000


def spiegelhalter_test(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    target: Any = "event",
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: WeightKind = "frequency",
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> CalibrationTest:
    r"""Test calibration by the Brier score against what it would be if the probabilities were true.

    .. math:: Z = \frac{\sum_i (c_i - s_i)(1 - 2 s_i)}{\sqrt{\sum_i (1 - 2 s_i)^2 s_i (1 - s_i)}}

    which is standard normal for calibrated scores; the p-value is two-sided. Where few rows may
    surprise the outcomes are drawn instead.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : {"answer", "event"} or a class label
        Whose probability: the predicted label's against its being right, class 1's of two, or the
        named class's.
    cluster : (n,) labels of any kind, optional
        Which rows hang together: the variance is then theirs (CR2), and the law Student's t.
    sample_weight : (n,), optional
        Weight 2 means the row twice, weight 0 no row.
    weight_kind : {"frequency", "sampling"}
        A weight is so many rows; or it is one row that stands for others ("sampling"), as weights
        of a design or of importance have it.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    CalibrationTest

    Raises
    ------
    InputError
        When the predictions cannot be read or an option cannot be used.

    See Also
    --------
    hosmer_lemeshow_test, t_cal_test : in bins.
    calibration_slope : in which way it is off.

    Notes
    -----
    Quick and without bins or bandwidths, it sees scores too extreme or too timid, and is blind to
    errors that balance in the sum. Where the variance is 0 (all scores 0, 1/2 or 1) the p-value is
    0 if something impossible happened, else 1.

    References
    ----------
    Spiegelhalter, "Probabilistic prediction in patient management and clinical trials", Statistics
    in Medicine 1986.

    Examples
    --------
    >>> found = spiegelhalter_test([0, 1] * 50, [0.3, 0.7] * 50)
    >>> round(found.statistic, 2), found.p_value < 0.001
    (-6.55, True)
    """
    record = read_clustered(
        y_true, P, cluster, weight_kind, sample_weight=sample_weight, classes=classes, inputs=inputs
    )
    score, hit = record.pair(target)
    weight, tilt = record.weights, 1.0 - 2.0 * score
    terms, n = (hit - score) * tilt, float(weight.sum())
    top, variance, freedom, method = (
        weight @ terms,
        weight @ (tilt * tilt * score * (1.0 - score)),
        np.inf,
        "normal",
    )
    if rows_apart(record):
        # Rows apart from each other whose weights are no repetitions.
        variance = (weight * tilt) ** 2 @ (score * (1.0 - score))
    elif record.cluster is not None:
        variance, freedom = variance_of_sum(weight * (terms - top / n), record.cluster, weight)
        method = f"t, {len(np.unique(record.cluster)):g} clusters"
    if variance <= 0.0:
        return CalibrationTest(
            0.0 if top == 0.0 else float(np.copysign(np.inf, top)),
            1.0 if top == 0.0 else 0.0,
            method,
            n,
        )
    z = float(top / np.sqrt(variance))
    if (
        record.cluster is None
        and record.weight is None
        and _is_far_from_normal(score, tilt, variance)
    ):
        return CalibrationTest(z, _drawn_p_value(score, tilt, float(top)), "drawn", n)
    return CalibrationTest(z, float(2.0 * special.stdtr(freedom, -abs(z))), method, n)


def _is_far_from_normal(score: np.ndarray, tilt: np.ndarray, variance: float) -> bool:
    """Whether the skewness or the excess kurtosis of the sum is that of few surprises, which are
    few enough to be drawn.
    """
    each = score * (1.0 - score)
    skew = tilt**4 @ each / variance**1.5
    excess = (tilt**4 * (1.0 - 6.0 * each)) @ each / variance**2
    return (
        max(abs(skew), abs(excess)) > FAR
        and N_DRAWS * float(np.minimum(score, 1.0 - score).sum()) <= MOST_DRAWN
    )


def _drawn_p_value(score: np.ndarray, tilt: np.ndarray, top: float) -> float:
    """Two-sided, from draws of the outcomes; only the unlikely ones of each draw are made, as
    the points of a Poisson process.
    """
    rng, likely = null_generator(0), np.round(score)
    ends = np.cumsum(-np.log1p(-np.minimum(score, 1.0 - score)))
    count = rng.poisson(ends[-1] * N_DRAWS)
    place = np.minimum(
        np.searchsorted(ends, rng.random(count) * ends[-1], side="right"), len(score) - 1
    )
    # A row surprises once in a draw, however many points it gets.
    point = np.unique(rng.integers(0, N_DRAWS, count) * len(score) + place)
    draw, row = np.divmod(point, len(score))
    drawn = (likely - score) @ tilt + np.bincount(
        draw, weights=((1.0 - 2.0 * likely) * tilt)[row], minlength=N_DRAWS
    )
    return float((1.0 + np.sum(np.abs(drawn) >= abs(top) * (1.0 - 1e-10))) / (1.0 + N_DRAWS))


def calibration_error_test(
    metric: Metric,
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    n_draws: int = 999,
    random_state: int = 0,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> CalibrationTest:
    r"""Test calibration by any calibration error: how often labels drawn from the predictions show
    one as large.

    .. math:: p = \frac{1 + \#\{ m : E(y^{(m)}, P) \ge E(y, P) \}}{1 + M}, \quad y^{(m)}_i \sim P_i

    Parameters
    ----------
    metric : Metric
        Of classes, that is smaller for better calibration, such as ``full_calibration_error`` or
        ``expected_calibration_error``.
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    n_draws : int, default 999
        M; the p-value is a multiple of 1 / (n_draws + 1).
    random_state : int, default 0
    sample_weight : (n,), optional
        Weight 2 means the row twice (rounded to whole rows), weight 0 no row.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    CalibrationTest

    Raises
    ------
    InputError
        When the predictions cannot be read or an option cannot be used.

    See Also
    --------
    kernel_calibration_test, t_cal_test, cumulative_test : with more power, and faster.

    Notes
    -----
    Exact for any n, bins and classes, since the null is drawn: use it to ask of a number that
    someone reports whether it is more than chance. Labels are drawn row by row: where rows hang
    together take a test with ``cluster=``. PyCalib's pECE is this of ``full_calibration_error``,
    without the 1 that makes it a p-value.

    References
    ----------
    Vaicenavicius et al., "Evaluating model calibration in classification", AISTATS 2019.

    Examples
    --------
    >>> from calibrant.metrics import full_calibration_error
    >>> calibration_error_test(full_calibration_error, [0, 1] * 50, [0.3, 0.7] * 50).p_value < 0.05
    True
    """
    if require_metric(metric).domain is not CLASSIFICATION or metric.direction != "minimize":
        raise InputError(
            f"metric must be a calibration error of classes, smaller for better; got {metric!r}."
        )
    require_count("n_draws", n_draws, 19, usual=999)
    record = read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs)
    n, rng = float(record.weights.sum()), null_generator(random_state)
    if record.weight is not None:
        # A row of weight w stands for w rows, with labels of their own.
        record = record.take(
            np.repeat(np.arange(len(record)), np.maximum(np.rint(record.weight), 1.0).astype(int))
        )
        record = replace(record, weight=None)
    observed = float(metric.of(record))
    edges = np.cumsum(record.probabilities, axis=1)[:, :-1]
    drawn = [
        metric.of(replace(record, labels=(rng.random((len(record), 1)) > edges).sum(axis=1)))
        for _ in range(n_draws)
    ]
    p_value = (1.0 + float(np.sum(np.array(drawn) >= observed - 1e-12))) / (n_draws + 1.0)
    return CalibrationTest(observed, p_value, f"{metric.name}, exact, {n_draws} draws", n)
