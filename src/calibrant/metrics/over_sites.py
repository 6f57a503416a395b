"""A metric at each of several sites, and what it is at a typical and at a new one."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.groups import rows_by_group
from calibrant._support.text_table import text_table
from calibrant.contracts.columns import plain
from calibrant.contracts.kinds import require_metric
from calibrant.contracts.metric import Interval, Metric
from calibrant.contracts.reading import read_for
from calibrant.errors import InputError
from calibrant.groups import clustered, read_groups
from calibrant.metrics.by_group import GroupValues
from calibrant.metrics.pool import SCALES, Pooled, Scale, pool
from calibrant.predictions import Inputs

__all__ = ["OverSites", "over_sites"]


@dataclass(frozen=True)
class OverSites:
    """A metric at each site and pooled over them; printing it gives a table.

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
    metrics.over_sites : makes one.
    """

    metric: str
    sites: GroupValues
    left_out: list[Any]
    pooled: Pooled

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain values, ready for JSON."""
        return plain({"metric": self.metric, "sites": self.sites.to_dict(), "left_out": self.left_out, "pooled": self.pooled})

    def __str__(self) -> str:
        rows = zip(self.sites.group, self.sites.n, self.sites.value, self.sites.low, self.sites.high, strict=True)
        lines = [(str(name), f"{n:,.0f}", f"{value:.4g}", f"[{low:.4g}, {high:.4g}]") for name, n, value, low, high in rows]
        one = self.pooled
        lines.append(("pooled", f"{one.n:,.0f}", f"{one.value:.4g}", f"[{one.low:.4g}, {one.high:.4g}]"))
        lines.append(("new site", "", "", f"[{one.prediction_low:.4g}, {one.prediction_high:.4g}]"))
        return "\n".join(text_table(("site", "rows", self.metric, f"{one.level:.0%} interval"), lines))

    __repr__ = __str__


def over_sites(
    metric: Metric, y_true: ArrayLike, P: ArrayLike, sites: ArrayLike, *, std: ArrayLike | None = None,
    method: Literal["reml", "paule-mandel"] = "reml", scale: Scale | None = None, level: float = 0.95, cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None, classes: ArrayLike | None = None, inputs: Inputs = "probability", **options: Any,
) -> OverSites:  # fmt: skip
    """Compute a metric at each site and pool it by random effects, with an interval for a new site.

    The formulas are those of ``pool(..., over="sites")``.

    Parameters
    ----------
    metric : Metric
        Such as ``observed_expected_ratio``, ``calibration_slope`` or ``event_auroc``; its options are set, or given as ``options``.
    y_true : (n,) labels; for regression outcomes
    P : (n, K), or (n,) for binary; for regression the means, or a forecast of one output
    sites : (n,) of any kind of label
        The hospital, customer or region of each row.
    std : (n,), for regression
    method : {"reml", "paule-mandel"}
        How the variance between sites is estimated.
    scale : {"identity", "log", "logit"}, optional
        Default: by the metric's range, "log" from 0 to infinity, "logit" from 0 to 1, else "identity".
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
    Use it before a model goes to a site it has not seen: the interval for a new site holds the sampling error and the differences
    between sites. Pooled rows alone hide those differences. A site is left out where its interval is not finite on the scale, as O/E
    without events; the result names it.

    References
    ----------
    Debray et al., "A guide to systematic review and meta-analysis of prediction model performance", BMJ 356, 2017.

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
    record = clustered(read_for([metric], y_true, P, std, sample_weight, classes, inputs).one_output(), cluster)
    found = read_groups(sites, record, "sites")
    parts = rows_by_group(found.index, len(found.names))
    intervals = [metric.interval_of(record.take(rows), level=level) for rows in parts]
    scale = _natural_scale(metric) if scale is None else scale
    usable = [_finite(one, scale) for one in intervals]
    if sum(usable) < 3:
        raise InputError(
            f"sites must hold at least three with a finite interval of {metric.name}; got {sum(usable)} of {len(usable)}; pool more rows."
        )
    pooled = pool([one for one, good in zip(intervals, usable, strict=True) if good], over="sites", scale=scale, method=method, level=level)
    columns = (np.array([getattr(one, name) for one in intervals]) for name in ("n", "value", "low", "high"))
    left_out = [name for name, good in zip(found.names.tolist(), usable, strict=True) if not good]
    return OverSites(metric.name, GroupValues(found.names, *columns), left_out, pooled)


def _natural_scale(metric: Metric) -> Scale:
    """The scale on which the metric has no bounds."""
    low, high = metric.range
    return "identity" if low != 0.0 else "logit" if high == 1.0 else "log" if high == float("inf") else "identity"


def _finite(one: Interval, scale: Scale) -> bool:
    with np.errstate(all="ignore"):
        ends = SCALES[scale][0](np.array([one.value, one.low, one.high]))
    return bool(np.isfinite(ends).all() and ends[2] > ends[1])
