"""Intervals of one metric pooled: over imputations of one data set, or over sites."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from calibrant._kernels.clusters import between_variance, pooled_mean, rubin
from calibrant._kernels.intervals import normal_quantile
from calibrant._kernels.logistic import sigmoid
from calibrant._support.options import require_option
from calibrant.contracts.interval import Interval, require_level
from calibrant.errors import InputError

__all__ = ["Pooled", "Scale", "pool"]

Scale = Literal["identity", "log", "logit"]
#: Scale -> (to it, back from it).
SCALES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "identity": (np.asarray, np.asarray),
    "log": (np.log, np.exp),
    "logit": (lambda share: np.log(share) - np.log1p(-share), sigmoid),
}
#: Fewest sites whose spread says anything of a new one.
FEWEST_SITES = 3


@dataclass(frozen=True)
class Pooled:
    """A metric over several imputations or sites, with its interval.

    Attributes
    ----------
    value, low, high : float
        The mean over imputations or sites and the ends of its interval.
    prediction_low, prediction_high : float or None
        The ends of the interval for the value at a new site; None over imputations.
    between : float
        The standard deviation between sites or imputations, on the scale of the pooling.
    share : float
        Over sites: I squared, the share of the estimates' variance that is between sites. Over imputations: the share of the variance
        that comes from what is missing.
    freedom : float
        Degrees of freedom of the interval.
    count : int
        The number of sites or imputations.
    n : float
        The rows of all sites, or of one imputation.
    level : float
        The level of the intervals.
    over : {"imputations", "sites"}
        What was pooled.
    scale : {"identity", "log", "logit"}
        The scale on which it was pooled.

    See Also
    --------
    pool : makes one.
    metrics.over_sites : makes one from rows.
    """

    value: float
    low: float
    high: float
    prediction_low: float | None
    prediction_high: float | None
    between: float
    share: float
    freedom: float
    count: int
    n: float
    level: float
    over: Literal["imputations", "sites"]
    scale: Scale

    def __str__(self) -> str:
        said = f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}] over {self.count} {self.over}"
        return said if self.prediction_low is None else f"{said}; at a new site [{self.prediction_low:.4g}, {self.prediction_high:.4g}]"


def pool(
    intervals: Sequence[Interval], *, over: Literal["imputations", "sites"] = "imputations", scale: Scale = "identity",
    method: Literal["reml", "paule-mandel"] = "reml", level: float = 0.95,
) -> Pooled:  # fmt: skip
    r"""Pool intervals of one metric over imputations (Rubin's rules) or over sites (random effects).

    On the scale, interval j has the estimate :math:`\theta_j` and the variance :math:`v_j`, its squared half width divided by the normal
    quantile. Over m imputations, with :math:`\bar v` the mean of the variances and B the variance of the estimates,

    .. math:: \bar\theta = \tfrac1m \sum_j \theta_j, \qquad T = \bar v + (1 + 1/m) B

    and the interval is Student's with Barnard and Rubin's degrees of freedom. Over k sites,

    .. math:: \theta_j \sim N(\mu, \tau^2 + v_j), \qquad w_j = \frac{1}{\tau^2 + v_j}, \qquad
              \mathrm{SE}^2 = \frac{\sum_j w_j (\theta_j - \hat\mu)^2}{(k - 1) \sum_j w_j}

    with the interval :math:`\hat\mu \pm t_{k - 1} \mathrm{SE}` (Hartung and Knapp) and, for a new site,
    :math:`\hat\mu \pm t_{k - 2} \sqrt{\tau^2 + \mathrm{SE}^2}`.

    Parameters
    ----------
    intervals : list of Interval
        One for each imputed data set, or for each site: what ``metric.interval(y_true, P)`` returns. Published results can be
        written as ``metrics.Interval(value, low, high, 0.95, "analytic", n)``.
    over : {"imputations", "sites"}
        What differs between the intervals.
    scale : {"identity", "log", "logit"}
        Where estimates are closest to normal: "log" for O/E, "logit" for an AUROC or a share, "identity" for a slope or a score.
    method : {"reml", "paule-mandel"}
        How the variance between sites is estimated.
    level : float, default 0.95
        The level of the pooled intervals.

    Returns
    -------
    Pooled

    Raises
    ------
    InputError
        When fewer than two imputations or three sites are given, or a limit is not finite on the scale.

    See Also
    --------
    metrics.over_sites : the same from the rows of all sites.
    metrics.per_group : the metric in each group, not pooled.

    Notes
    -----
    Over imputations: impute, predict and evaluate in each data set, then pool; never average the predictions first, which hides what is
    not known. Over sites: read the interval for a new site, not only the one of the mean, before a model goes somewhere else. With fewer
    than five sites the variance between them is hardly known, and the intervals are wide. Hartung and Knapp's interval can be too narrow
    where sites happen to agree better than chance.

    References
    ----------
    Rubin, "Multiple imputation for nonresponse in surveys", 1987; Barnard and Rubin, Biometrika 86, 1999. Debray et al., "A guide to
    systematic review and meta-analysis of prediction model performance", BMJ 356, 2017; Hartung and Knapp, Statistics in Medicine 20,
    2001; Paule and Mandel, 1982; Higgins, Thompson and Spiegelhalter, JRSS A 172, 2009.

    Examples
    --------
    >>> from calibrant.metrics import Interval
    >>> sites = [Interval(v, v / 1.2, v * 1.2, 0.95, "analytic", 500.0) for v in (0.8, 1.0, 1.1, 1.5)]
    >>> print(pool(sites, over="sites", scale="log"))
    1.072 [0.7078, 1.623] over 4 sites; at a new site [0.3264, 3.519]
    """
    require_level(level)
    require_option("over", over, ("imputations", "sites"))
    require_option("scale", scale, tuple(SCALES))
    require_option("method", method, ("reml", "paule-mandel"))
    fewest = FEWEST_SITES if over == "sites" else 2
    given: Any = intervals
    if isinstance(given, Interval) or len(given) < fewest or not all(isinstance(one, Interval) for one in given):
        raise InputError(f"intervals must be a list of at least {fewest} intervals for over={over!r}; pass what metric.interval returns.")
    estimate, variance = _on_scale(intervals, scale)
    back, count = SCALES[scale][1], len(estimate)
    prediction = None, None
    if over == "sites":
        between = between_variance(estimate, variance, method)
        mean, square = pooled_mean(estimate, variance, between)
        freedom, n, share = count - 1.0, sum(one.n for one in intervals), _heterogeneity(variance, between)
        half = normal_quantile(level, count - 2.0) * math.sqrt(between + square)
        prediction = float(back(mean - half)), float(back(mean + half))
    else:
        n = min(one.n for one in intervals)
        between = float(np.var(estimate, ddof=1))
        mean, square, freedom, share = rubin(estimate, variance, n - 1.0)
    half = normal_quantile(level, freedom) * math.sqrt(square)
    ends = float(back(mean - half)), float(back(mean + half))
    return Pooled(float(back(mean)), *ends, *prediction, math.sqrt(between), share, freedom, count, n, level, over, scale)


def _on_scale(intervals: Sequence[Interval], scale: Scale) -> tuple[np.ndarray, np.ndarray]:
    """(estimates, variances) on the scale; variances from the widths of the intervals."""
    with np.errstate(all="ignore"):
        table = SCALES[scale][0](np.array([(one.value, one.low, one.high) for one in intervals], dtype=np.float64))
    wrong: np.ndarray = np.flatnonzero(~np.isfinite(table).all(axis=1) | (table[:, 2] <= table[:, 1]))
    if len(wrong):
        one = intervals[int(wrong[0])]
        rule = f'intervals must have finite limits of some width on the scale "{scale}"'
        raise InputError(f"{rule}; number {wrong[0]} is {one}; leave it out, or change scale.")
    z = np.array([normal_quantile(one.level) for one in intervals])
    return table[:, 0], ((table[:, 2] - table[:, 1]) / (2.0 * z)) ** 2


def _heterogeneity(variance: np.ndarray, between: float) -> float:
    """I squared: the variance between sites as a share of it and the typical variance within (Higgins and Thompson)."""
    weight = 1.0 / variance
    typical = (len(variance) - 1) * weight.sum() / (weight.sum() ** 2 - weight @ weight)
    return float(between / (between + typical))
