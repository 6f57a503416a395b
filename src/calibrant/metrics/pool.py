"""Pooling of one metric's intervals over imputations or sites, and a metric at a typical and at a
new site.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from calibrant._numerics.clusters import between_variance, pooled_mean, rows_by_group, rubin
from calibrant._numerics.intervals import normal_quantile
from calibrant._numerics.logistic import sigmoid
from calibrant.core.arrays import ArrayLike
from calibrant.core.estimators import require_option
from calibrant.core.given import Inputs
from calibrant.core.groups import clustered, read_groups
from calibrant.core.guarantee import plain
from calibrant.core.kinds import require_metric
from calibrant.core.metric import Interval, require_level
from calibrant.core.metric_kinds import Metric
from calibrant.core.reading import read_for
from calibrant.core.text_table import text_table
from calibrant.errors import InputError
from calibrant.metrics.by_group import GroupValues

__all__ = ["OverSites", "Pooled", "Scale", "over_sites", "pool"]

Scale = Literal["identity", "log", "logit"]
#: Scale -> (transform, inverse).
SCALES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "identity": (np.asarray, np.asarray),
    "log": (np.log, np.exp),
    "logit": (lambda share: np.log(share) - np.log1p(-share), sigmoid),
}
#: Fewest sites whose spread is informative about a new one.
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
        Over sites: I squared, the share of the estimates' variance that is between sites. Over
        imputations: the share of the variance due to missing values.
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
    pool : returns one.
    metrics.over_sites : returns one from rows.
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
        return (
            said
            if self.prediction_low is None
            else f"{said}; at a new site [{self.prediction_low:.4g}, {self.prediction_high:.4g}]"
        )


def pool(
    intervals: Sequence[Interval],
    *,
    over: Literal["imputations", "sites"] = "imputations",
    scale: Scale = "identity",
    method: Literal["reml", "paule-mandel"] = "reml",
    level: float = 0.95,
) -> Pooled:
    r"""Pool intervals of one metric over imputations (Rubin's rules) or over sites (random
    effects).

    On the scale, interval j has the estimate :math:`\theta_j` and the variance :math:`v_j`, its
    squared half width divided by the normal quantile. Over m imputations, with :math:`\bar v` the
    mean of the variances and B the variance of the estimates,

    .. math:: \bar\theta = \tfrac1m \sum_j \theta_j, \qquad T = \bar v + (1 + 1/m) B

    and the interval is Student's with Barnard and Rubin's degrees of freedom. Over k sites,

    .. math:: \theta_j \sim N(\mu, \tau^2 + v_j), \qquad w_j = \frac{1}{\tau^2 + v_j}, \qquad
              \mathrm{SE}^2 = \frac{\sum_j w_j (\theta_j - \hat\mu)^2}{(k - 1) \sum_j w_j}

    with the interval :math:`\hat\mu \pm t_{k - 1} \mathrm{SE}` (Hartung and Knapp) and, for a new
    site, :math:`\hat\mu \pm t_{k - 2} \sqrt{\tau^2 + \mathrm{SE}^2}`.

    Parameters
    ----------
    intervals : list of Interval
        One interval per imputed data set or site, as ``metric.interval(y_true, P)`` returns.
        Published results can be entered as
        ``metrics.Interval(value, low, high, 0.95, "analytic", n)``.
    over : {"imputations", "sites"}
        What differs between the intervals.
    scale : {"identity", "log", "logit"}
        The scale on which estimates are closest to normal: "log" for O/E, "logit" for an AUROC or a
        share, "identity" for a slope or a score.
    method : {"reml", "paule-mandel"}
        The estimator of the variance between sites.
    level : float, default 0.95
        The level of the pooled intervals.

    Returns
    -------
    Pooled

    Raises
    ------
    InputError
        When fewer than two imputations or three sites are given, or a limit is not finite on the
        scale.

    See Also
    --------
    metrics.over_sites : the same from the rows of all sites.
    metrics.per_group : the metric in each group, not pooled.

    Notes
    -----
    Over imputations: impute, predict and evaluate in each data set, then pool; never average the
    predictions first, which hides uncertainty. Over sites: before deploying a model elsewhere, read
    the interval for a new site, not only that of the mean. With fewer than five sites, the variance
    between them is poorly estimated and the intervals are wide. Hartung and Knapp's interval can be
    too narrow where sites happen to agree better than chance.

    References
    ----------
    Rubin, "Multiple imputation for nonresponse in surveys", 1987; Barnard and Rubin, Biometrika 86,
    1999. Debray et al., "A guide to systematic review and meta-analysis of prediction model
    performance", BMJ 356, 2017; Hartung and Knapp, Statistics in Medicine 20, 2001; Paule and
    Mandel, 1982; Higgins, Thompson and Spiegelhalter, JRSS A 172, 2009.

    Examples
    --------
    >>> from calibrant.metrics import Interval
    >>> sites = [
    ...     Interval(v, v / 1.2, v * 1.2, 0.95, "analytic", 500.0) for v in (0.8, 1.0, 1.1, 1.5)
    ... ]
    >>> print(pool(sites, over="sites", scale="log"))
    1.072 [0.7078, 1.623] over 4 sites; at a new site [0.3264, 3.519]
    """
    require_level(level)
    require_option("over", over, ("imputations", "sites"))
    require_option("scale", scale, tuple(SCALES))
    require_option("method", method, ("reml", "paule-mandel"))
    fewest = FEWEST_SITES if over == "sites" else 2
    given: Any = intervals
    if (
        isinstance(given, Interval)
        or len(given) < fewest
        or not all(isinstance(one, Interval) for one in given)
    ):
        raise InputError(
            f"intervals must be a list of at least {fewest} intervals for over={over!r}; pass"
            " results of metric.interval."
        )
    estimate, variance = _on_scale(intervals, scale)
    back, count = SCALES[scale][1], len(estimate)
    prediction = None, None
    if over == "sites":
        between = between_variance(estimate, variance, method)
        mean, square = pooled_mean(estimate, variance, between)
        freedom, n, share = (
            count - 1.0,
            sum(one.n for one in intervals),
            _heterogeneity(variance, between),
        )
        half = normal_quantile(level, count - 2.0) * math.sqrt(between + square)
        prediction = float(back(mean - half)), float(back(mean + half))
    else:
        n = min(one.n for one in intervals)
        between = float(np.var(estimate, ddof=1))
        mean, square, freedom, share = rubin(estimate, variance, n - 1.0)
    half = normal_quantile(level, freedom) * math.sqrt(square)
    ends = float(back(mean - half)), float(back(mean + half))
    return Pooled(
        float(back(mean)),
        *ends,
        *prediction,
        math.sqrt(between),
        share,
        freedom,
        count,
        n,
        level,
        over,
        scale,
    )


def _on_scale(intervals: Sequence[Interval], scale: Scale) -> tuple[np.ndarray, np.ndarray]:
    """(estimates, variances) on the scale; variances from the widths of the intervals."""
    with np.errstate(all="ignore"):
        table = SCALES[scale][0](
            np.array([(one.value, one.low, one.high) for one in intervals], dtype=np.float64)
        )
    wrong: np.ndarray = np.flatnonzero(
        ~np.isfinite(table).all(axis=1) | (table[:, 2] <= table[:, 1])
    )
    if len(wrong):
        one = intervals[int(wrong[0])]
        rule = f'intervals must have finite, distinct limits on the scale "{scale}"'
        raise InputError(f"{rule}; number {wrong[0]} is {one}; leave it out, or change scale.")
    z = np.array([normal_quantile(one.level) for one in intervals])
    return table[:, 0], ((table[:, 2] - table[:, 1]) / (2.0 * z)) ** 2


def _heterogeneity(variance: np.ndarray, between: float) -> float:
    """I squared: the share of the variance between sites in the sum of it and the typical variance
    within (Higgins and Thompson).
    """
    weight = 1.0 / variance
    typical = (len(variance) - 1) * weight.sum() / (weight.sum() ** 2 - weight @ weight)
    return float(between / (between + typical))


@dataclass(frozen=True)
class OverSites:
    """Metric at each site and pooled over sites; prints as a table.

    Attributes
    ----------
    metric : str
        The metric's name.
    sites : GroupValues
        One row a site: name, rows, value and interval.
    left_out : list
        Sites without a finite interval, which the pooled value leaves out.
    pooled : Pooled
        The typical site, and the interval for a new one.

    See Also
    --------
    metrics.over_sites : returns one.
    """

    metric: str
    sites: GroupValues
    left_out: list[Any]
    pooled: Pooled

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values, ready for JSON."""
        return plain(
            {
                "metric": self.metric,
                "sites": self.sites.to_dict(),
                "left_out": self.left_out,
                "pooled": self.pooled,
            }
        )

    def __str__(self) -> str:
        rows = zip(
            self.sites.group,
            self.sites.n,
            self.sites.value,
            self.sites.low,
            self.sites.high,
            strict=True,
        )
        lines = [
            (str(name), f"{n:,.0f}", f"{value:.4g}", f"[{low:.4g}, {high:.4g}]")
            for name, n, value, low, high in rows
        ]
        one = self.pooled
        lines.append(
            ("pooled", f"{one.n:,.0f}", f"{one.value:.4g}", f"[{one.low:.4g}, {one.high:.4g}]")
        )
        lines.append(("new site", "", "", f"[{one.prediction_low:.4g}, {one.prediction_high:.4g}]"))
        return "\n".join(
            text_table(("site", "rows", self.metric, f"{100.0 * one.level:g} % interval"), lines)
        )

    __repr__ = __str__


def over_sites(
    metric: Metric,
    y_true: ArrayLike,
    P: ArrayLike,
    sites: ArrayLike,
    *,
    std: ArrayLike | None = None,
    method: Literal["reml", "paule-mandel"] = "reml",
    scale: Scale | None = None,
    level: float = 0.95,
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
    **options: Any,
) -> OverSites:
    """Compute a metric at each site and pool it by random effects, with an interval for a new site.

    The formulas are those of ``pool(..., over="sites")``.

    Parameters
    ----------
    metric : Metric
        A metric such as ``observed_expected_ratio``, ``calibration_slope`` or ``event_auroc``;
        ``options`` set its options.
    y_true : (n,) labels; for regression outcomes
    P : (n, K), or (n,) for binary; for regression the means, or a forecast of one output
    sites : (n,) of any kind of label
        The hospital, customer or region of each row.
    std : (n,), for regression
    method : {"reml", "paule-mandel"}
        The estimator of the variance between sites.
    scale : {"identity", "log", "logit"}, optional
        By default it follows from the metric's range: "log" from 0 to infinity, "logit" from 0 to
        1, else "identity".
    level : float, default 0.95
        The level of all intervals.
    cluster : (n,) labels of any kind, optional
        Dependent rows within a site, such as the visits of one patient.
    sample_weight : (n,), optional
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    OverSites

    Raises
    ------
    InputError
        When fewer than three sites have a finite interval.

    See Also
    --------
    pool : the same from intervals, such as published ones.
    metrics.per_group : the metric in each group, not pooled.

    Notes
    -----
    Use it before deploying a model at a new site: the interval for a new site includes the sampling
    error and the differences between sites. Pooled rows alone hide those differences. A site is
    left out where its interval is not finite on the scale, as for O/E without events; the result
    names it.

    References
    ----------
    Debray et al., "A guide to systematic review and meta-analysis of prediction model performance",
    BMJ 356, 2017.

    Examples
    --------
    >>> from calibrant.metrics import observed_expected_ratio, over_sites
    >>> rng = np.random.default_rng(0)
    >>> sites, risk = np.repeat(["a", "b", "c", "d"], 500), rng.uniform(0.05, 0.4, 2000)
    >>> y = rng.random(2000) < risk * np.repeat([0.8, 1.0, 1.1, 1.3], 500)
    >>> print(over_sites(observed_expected_ratio, y, risk, sites).pooled)
    1.053 [0.7478, 1.483] over 4 sites; at a new site [0.3965, 2.797]
    """
    metric = require_metric(metric).with_options(**options)
    record = clustered(
        read_for([metric], y_true, P, std, sample_weight, classes, inputs).one_output(), cluster
    )
    found = read_groups(sites, record, "sites")
    parts = rows_by_group(found.index, len(found.names))
    intervals = [metric.interval_of(record.take(rows), level=level) for rows in parts]
    scale = _natural_scale(metric) if scale is None else scale
    usable = [_finite(one, scale) for one in intervals]
    if sum(usable) < 3:
        raise InputError(
            f"sites must have finite intervals of {metric.name} at three sites or more; got"
            f" {sum(usable)} of {len(usable)}; pass more rows per site."
        )
    pooled = pool(
        [one for one, good in zip(intervals, usable, strict=True) if good],
        over="sites",
        scale=scale,
        method=method,
        level=level,
    )
    columns = (
        np.array([getattr(one, name) for one in intervals])
        for name in ("n", "value", "low", "high")
    )
    left_out = [name for name, good in zip(found.names.tolist(), usable, strict=True) if not good]
    return OverSites(metric.name, GroupValues(found.names, *columns), left_out, pooled)


def _natural_scale(metric: Metric) -> Scale:
    """The scale on which the metric has no bounds."""
    low, high = metric.range
    return (
        "identity"
        if low != 0.0
        else "logit"
        if high == 1.0
        else "log"
        if high == float("inf")
        else "identity"
    )


def _finite(one: Interval, scale: Scale) -> bool:
    with np.errstate(all="ignore"):
        ends = SCALES[scale][0](np.array([one.value, one.low, one.high]))
    return bool(np.isfinite(ends).all() and ends[2] > ends[1])
