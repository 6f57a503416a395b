"""The reliability curve: accuracy against confidence, bin by bin, with bands."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels import bins, intervals
from calibrant._kernels.clusters import group_worth
from calibrant._support.options import require_count, require_option
from calibrant.contracts.columns import Record
from calibrant.contracts.interval import require_level
from calibrant.contracts.on_record import on_record
from calibrant.contracts.reading import read_labelled
from calibrant.errors import InputError
from calibrant.groups import WeightKind, clustered
from calibrant.predictions import Inputs, Predictions

__all__ = ["ReliabilityCurve", "curve_of_sums", "pair_curve", "reliability_curve"]


@dataclass(frozen=True)
class ReliabilityCurve(Record):
    """One row a bin that holds data: edges, n (sum of weights), mean confidence, accuracy, and its interval."""

    lower: np.ndarray
    upper: np.ndarray
    n: np.ndarray
    confidence: np.ndarray
    accuracy: np.ndarray
    low: np.ndarray
    high: np.ndarray


def pair_curve(
    score: np.ndarray, hit: np.ndarray, weight: np.ndarray | None, resolution: float, *, n_bins: int = 15, strategy: str = "width",
    band: str = "wilson", level: float = 0.95, cluster: np.ndarray | None = None,
    soft: bool = False,
) -> ReliabilityCurve:  # fmt: skip
    """The curve of clean arrays: scores in [0, 1] and whether each came true, (n,) each.

    ``resolution`` and ``cluster`` are those of a record. Intervals of ``soft`` outcomes, shares
    of raters, follow from their variance in each bin.
    """
    require_level(level)
    require_option("strategy", strategy, ("width", "mass"))
    require_count("n_bins", n_bins)
    index, lower, upper = _binned(score, weight, resolution, n_bins, strategy)
    worth = 1.0
    if cluster is not None or soft:
        if band == "consistency":
            given = "soft labels" if cluster is None else "clusters"
            raise InputError(f'band="consistency" is drawn for independent rows; with {given} take "wilson" or "clopper-pearson".')
        cluster = np.arange(len(hit)) if cluster is None else cluster
        mass = np.ones(len(hit)) if weight is None else weight
        worth = group_worth(hit, mass, cluster, index, len(lower), level, soft=soft)
    return curve_of_sums(bins.grouped_sums(index, len(lower), [score, hit], weight), lower, upper, band=band, level=level, worth=worth)


def curve_of_sums(
    sums: np.ndarray, lower: np.ndarray, upper: np.ndarray, *, band: str = "wilson", level: float = 0.95, worth: np.ndarray | float = 1.0
) -> ReliabilityCurve:  # fmt: skip
    """The curve of (B, 3) sums of weight, score and hits in bins with these edges, (B,) each: sums of parts add up.

    ``worth`` (B,) is by what the rows of each bin are to be multiplied where they hang together in clusters.
    """
    filled = sums[:, 0] > 0
    n, total, hits = sums[filled].T
    share = np.broadcast_to(worth, len(sums))[filled]
    if band == "consistency":
        low, high = intervals.consistency(total / n, n, level)
    elif band in ("wilson", "clopper-pearson"):
        low, high = (intervals.wilson if band == "wilson" else intervals.clopper_pearson)(hits * share, n * share, level)
    else:
        raise InputError(f'band must be "wilson", "clopper-pearson" or "consistency"; got {band!r}.')
    return ReliabilityCurve(lower[filled], upper[filled], n, total / n, hits / n, low, high)


def _binned(score, weight, resolution, n_bins, strategy):
    """(bin of each row, lower edges, upper edges)."""
    if strategy == "width":
        edges = bins.equal_width_edges(n_bins)
        return bins.equal_width_index(score, n_bins, resolution), edges[:-1], edges[1:]
    index = bins.equal_mass_groups(score, n_bins, weight)
    return index, *bins.group_ends(score, index, int(index.max()) + 1)


def _of(
    record: Predictions, *, target: Any = "answer", n_bins: int = 15, strategy: str = "width", band: str = "wilson", level: float = 0.95
) -> ReliabilityCurve:
    options = {"n_bins": n_bins, "strategy": strategy, "band": band, "level": level}
    options |= {"cluster": record.cluster, "soft": record.shares is not None}
    return pair_curve(*record.pair(target), record.weight, record.resolution, **options)


@on_record(_of)
def reliability_curve(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    target: Any = "answer",
    n_bins: int = 15,
    strategy: Literal["width", "mass"] = "width",
    band: Literal["wilson", "clopper-pearson", "consistency"] = "wilson",
    level: float = 0.95,
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: WeightKind = "frequency",
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> ReliabilityCurve:
    """Mean confidence and accuracy in each bin of the confidence, with an interval for the accuracy.

    Parameters
    ----------
    y_true : (n,) labels, or SoftLabels
    P : (n, K), or (n,) for binary
    target : {"answer", "event"} or a class label
        "answer" bins the predicted label's probability against its being right; a class, that class's probability against its share.
    n_bins : int, default 15
    strategy : {"width", "mass"}
    band : {"wilson", "clopper-pearson", "consistency"}
        The first two are intervals of the accuracy, with positive width in bins where all or none are right, where a bootstrap has
        none. "consistency" is where the accuracy would lie if the confidences were right: bars on the diagonal.
    level : float, default 0.95
    cluster : (n,) labels of any kind, optional
        Which rows hang together (visits of one patient, answers to one question): intervals then count clusters; "consistency" cannot.
    sample_weight : (n,), optional
        Weight 2 means the row twice, weight 0 no row.
    weight_kind : {"frequency", "sampling"}
        A weight is so many rows; or it is one row that stands for others ("sampling"), as weights of a design or of importance have it.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    ReliabilityCurve
        ``.frame()`` gives it as a data frame. Empty bins are left out.

    See Also
    --------
    ReliabilityDisplay : draws it.
    isotonic_curve, loess_curve, spline_curve : the same without bins, the last two with a band for the whole curve.

    Notes
    -----
    Of :class:`SoftLabels` the accuracy is the mean share. Its interval is that of as many labels as
    the variance seen within the bin is worth, two rows of one label being added to it.

    Examples
    --------
    >>> curve = reliability_curve([1, 1, 0, 1], [0.9, 0.8, 0.3, 0.2], n_bins=2, target=1)
    >>> curve.n.tolist(), curve.accuracy.tolist()
    ([2.0, 2.0], [0.5, 1.0])
    """
    given = {"sample_weight": sample_weight, "classes": classes}
    record = read_labelled(y_true, P, **given, inputs=inputs, soft=True)
    record = clustered(record, cluster, weight_kind)
    return _of(record, target=target, n_bins=n_bins, strategy=strategy, band=band, level=level)
