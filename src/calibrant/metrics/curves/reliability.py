"""Reliability curves of one score or of every class, in bins or smoothed by a kernel, and how
confidences are spread.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels import bins, intervals
from calibrant._kernels.clusters import group_worth
from calibrant._kernels.smoothing import deposit, gaussian_smoother
from calibrant._support.options import require_count, require_option
from calibrant.contracts.columns import Record
from calibrant.contracts.interval import require_level
from calibrant.contracts.on_record import on_record
from calibrant.contracts.reading import read_labelled
from calibrant.errors import InputError
from calibrant.groups import WeightKind, clustered
from calibrant.predictions import Inputs, Predictions

__all__ = [
    "ConfidenceHistogram",
    "ReliabilityCurve",
    "SmoothCurve",
    "confidence_histogram",
    "curve_of_sums",
    "pair_curve",
    "reliability_curve",
    "reliability_curves",
    "smooth_curve",
]


@dataclass(frozen=True)
class ReliabilityCurve(Record):
    """One row a bin that holds data: edges, n (sum of weights), mean confidence, accuracy, and
    its interval.
    """

    lower: np.ndarray
    upper: np.ndarray
    n: np.ndarray
    confidence: np.ndarray
    accuracy: np.ndarray
    low: np.ndarray
    high: np.ndarray


def pair_curve(
    score: np.ndarray,
    hit: np.ndarray,
    weight: np.ndarray | None,
    resolution: float,
    *,
    n_bins: int = 15,
    strategy: str = "width",
    band: str = "wilson",
    level: float = 0.95,
    cluster: np.ndarray | None = None,
    soft: bool = False,
) -> ReliabilityCurve:
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
            raise InputError(
                f'band="consistency" is drawn for independent rows; with {given} take "wilson" or'
                ' "clopper-pearson".'
            )
        cluster = np.arange(len(hit)) if cluster is None else cluster
        mass = np.ones(len(hit)) if weight is None else weight
        worth = group_worth(hit, mass, cluster, index, len(lower), level, soft=soft)
    return curve_of_sums(
        bins.grouped_sums(index, len(lower), [score, hit], weight),
        lower,
        upper,
        band=band,
        level=level,
        worth=worth,
    )


def curve_of_sums(
    sums: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    *,
    band: str = "wilson",
    level: float = 0.95,
    worth: np.ndarray | float = 1.0,
) -> ReliabilityCurve:
    """The curve of (B, 3) sums of weight, score and hits in bins with these edges, (B,) each: sums
    of parts add up.

    ``worth`` (B,) is by what the rows of each bin are to be multiplied where they hang together in
    clusters.
    """
    filled = sums[:, 0] > 0
    n, total, hits = sums[filled].T
    share = np.broadcast_to(worth, len(sums))[filled]
    if band == "consistency":
        low, high = intervals.consistency(total / n, n, level)
    elif band in ("wilson", "clopper-pearson"):
        low, high = (intervals.wilson if band == "wilson" else intervals.clopper_pearson)(
            hits * share, n * share, level
        )
    else:
        raise InputError(
            f'band must be "wilson", "clopper-pearson" or "consistency"; got {band!r}.'
        )
    return ReliabilityCurve(lower[filled], upper[filled], n, total / n, hits / n, low, high)


def _binned(score, weight, resolution, n_bins, strategy):
    """(bin of each row, lower edges, upper edges)."""
    if strategy == "width":
        edges = bins.equal_width_edges(n_bins)
        return bins.equal_width_index(score, n_bins, resolution), edges[:-1], edges[1:]
    index = bins.equal_mass_groups(score, n_bins, weight)
    return index, *bins.group_ends(score, index, int(index.max()) + 1)


def _reliability_curve_of(
    record: Predictions,
    *,
    target: Any = "answer",
    n_bins: int = 15,
    strategy: str = "width",
    band: str = "wilson",
    level: float = 0.95,
) -> ReliabilityCurve:
    options = {"n_bins": n_bins, "strategy": strategy, "band": band, "level": level}
    options |= {"cluster": record.cluster, "soft": record.shares is not None}
    return pair_curve(*record.pair(target), record.weight, record.resolution, **options)


@on_record(_reliability_curve_of)
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
    """Mean confidence and accuracy in each bin of the confidence, with an interval for the
    accuracy.

    Parameters
    ----------
    y_true : (n,) labels, or SoftLabels
    P : (n, K), or (n,) for binary
    target : {"answer", "event"} or a class label
        "answer" bins the predicted label's probability against its being right; a class, that
        class's probability against its share.
    n_bins : int, default 15
    strategy : {"width", "mass"}
    band : {"wilson", "clopper-pearson", "consistency"}
        The first two are intervals of the accuracy, with positive width in bins where all or none
        are right, where a bootstrap has none. "consistency" is where the accuracy would lie if the
        confidences were right: bars on the diagonal.
    level : float, default 0.95
    cluster : (n,) labels of any kind, optional
        Which rows hang together (visits of one patient, answers to one question): intervals then
        count clusters; "consistency" cannot.
    sample_weight : (n,), optional
        Weight 2 counts a row twice; weight 0 drops it.
    weight_kind : {"frequency", "sampling"}
        "frequency": a weight counts identical rows. "sampling": a weighted row is one row that
        stands for others, as with design or importance weights.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    ReliabilityCurve
        ``.frame()`` gives it as a data frame. Empty bins are left out.

    See Also
    --------
    ReliabilityDisplay : draws it.
    isotonic_curve, loess_curve, spline_curve : the same without bins, the last two with a band for
        the whole curve.

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
    return _reliability_curve_of(
        record, target=target, n_bins=n_bins, strategy=strategy, band=band, level=level
    )


def _reliability_curves_of(
    record: Predictions,
    *,
    worst: int = 3,
    n_bins: int = 15,
    strategy: str = "width",
    band: str = "wilson",
    level: float = 0.95,
) -> dict[str, ReliabilityCurve]:
    options = {"n_bins": n_bins, "strategy": strategy, "band": band, "level": level}
    excess = np.array([_excess(record, k, n_bins) for k in range(record.n_classes)])
    chosen = np.argsort(-excess, kind="stable")[: max(int(worst), 0)]
    pairs = {
        str(record.classes[k]): (
            record.probabilities[:, k],
            (record.labels == k).astype(np.float64),
        )
        for k in chosen
    }
    classes = {
        name: pair_curve(*pair, record.weight, record.resolution, **options, cluster=record.cluster)
        for name, pair in pairs.items()
    }
    return {"top label": reliability_curve.of(record, **options), **classes}


@on_record(_reliability_curves_of)
def reliability_curves(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    worst: int = 3,
    n_bins: int = 15,
    strategy: Literal["width", "mass"] = "width",
    band: Literal["wilson", "clopper-pearson", "consistency"] = "wilson",
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> dict[str, ReliabilityCurve]:
    """The top label's reliability curve, and those of the classes whose probabilities are worst
    calibrated.

    A class is worse the more its binned error exceeds what noise in its bins explains, so that rare
    classes do not lead by luck.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    worst : int, default 3
        How many classes to show, at most K.
    n_bins : int, default 15
    strategy : {"width", "mass"}
    band : {"wilson", "clopper-pearson", "consistency"}
    level : float, default 0.95
    sample_weight : (n,), optional
        Weight 2 counts a row twice; weight 0 drops it.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    dict
        "top label", then the classes as text, the worst first, each with its curve.

    Raises
    ------
    InputError
        As ``reliability_curve`` does.

    See Also
    --------
    reliability_curve : one of them.
    classwise_calibration_error : all classes as one number.

    Examples
    --------
    >>> list(
    ...     reliability_curves(
    ...         [0, 1, 2, 2],
    ...         [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.9, 0.05, 0.05], [0.1, 0.1, 0.8]],
    ...         worst=1,
    ...     )
    ... )
    ['top label', '2']
    """
    record = read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs)
    return _reliability_curves_of(
        record, worst=worst, n_bins=n_bins, strategy=strategy, band=band, level=level
    )


def _excess(record, k, n_bins):
    """The class's binned error less its mean for a calibrated model (folded normal noise in each
    bin).
    """
    score, hit = record.probabilities[:, k], (record.labels == k).astype(np.float64)
    index = bins.equal_width_index(score, n_bins, record.resolution)
    n, total, hits, variance = bins.grouped_sums(
        index, n_bins, [score, hit, score * (1.0 - score)], record.weight
    ).T
    return float((np.abs(total - hits) - np.sqrt(2.0 / np.pi * variance)).sum() / n.sum())


@dataclass(frozen=True)
class ConfidenceHistogram(Record):
    """One row a bin of equal width, empty ones included: edges, and the weight of right and of
    wrong predictions in it.
    """

    lower: np.ndarray
    upper: np.ndarray
    right: np.ndarray
    wrong: np.ndarray


def _confidence_histogram_of(
    record: Predictions, *, target: Any = "answer", n_bins: int = 20
) -> ConfidenceHistogram:
    require_count("n_bins", n_bins)
    score, hit = record.pair(target)
    sums = bins.grouped_sums(
        bins.equal_width_index(score, n_bins, record.resolution), n_bins, [hit], record.weight
    )
    edges = bins.equal_width_edges(n_bins)
    return ConfidenceHistogram(edges[:-1], edges[1:], sums[:, 1], sums[:, 0] - sums[:, 1])


@on_record(_confidence_histogram_of)
def confidence_histogram(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    target: Any = "answer",
    n_bins: int = 20,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> ConfidenceHistogram:
    """Count right and wrong predictions in bins of the confidence.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : {"answer", "event"} or a class label
        "answer" counts the predicted label's probability, right or wrong; a class, that class's
        probability, of the class or not.
    n_bins : int, default 20
    sample_weight : (n,), optional
        Weight 2 counts a row twice; weight 0 drops it.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    ConfidenceHistogram
        ``.frame()`` gives it as a data frame; ``right + wrong`` sums to the weight of all rows.

    Raises
    ------
    InputError
        When the predictions cannot be read, or ``n_bins`` is not a whole number of at least 1.

    See Also
    --------
    ConfidenceHistogramDisplay : draws it.
    reliability_curve : the share of right ones, with intervals.

    Examples
    --------
    >>> histogram = confidence_histogram([1, 1, 0, 1], [0.9, 0.8, 0.3, 0.2], n_bins=2)
    >>> histogram.right.tolist(), histogram.wrong.tolist()
    ([0.0, 3.0], [0.0, 1.0])
    """
    record = read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs)
    return _confidence_histogram_of(record, target=target, n_bins=n_bins)


CELLS = 2000


@dataclass(frozen=True)
class SmoothCurve(Record):
    """One row a point: the score, the density of scores there, the smoothed accuracy, and its
    pointwise interval.
    """

    score: np.ndarray
    density: np.ndarray
    accuracy: np.ndarray
    low: np.ndarray
    high: np.ndarray


def _smooth_curve_of(
    record: Predictions,
    *,
    target: Any = "answer",
    bandwidth: float | None = None,
    level: float = 0.95,
    n_points: int = 200,
) -> SmoothCurve:
    if bandwidth is not None and not bandwidth > 0.0:
        raise InputError(
            f"bandwidth must be positive; got {bandwidth!r}; leave it out for Silverman's rule."
        )
    score, hit = record.pair(target)
    weight = record.weights
    n = weight.sum()
    if bandwidth is None:
        spread = np.sqrt(max(weight @ (score - weight @ score / n) ** 2 / n, 0.0))
        bandwidth = max(1.06 * spread * n**-0.2, 0.005)
    mass = deposit(score, weight, CELLS)
    held = np.maximum(gaussian_smoother(mass)(bandwidth), 0.0)
    right = np.clip(gaussian_smoother(deposit(score, weight * hit, CELLS))(bandwidth), 0.0, held)
    # A Gaussian kernel of width h squared is one of width h / sqrt(2) over 2 h sqrt(pi): the rows
    # that it holds in effect.
    squared = np.maximum(gaussian_smoother(mass)(bandwidth / np.sqrt(2.0)), 1e-300) / (
        2.0 * bandwidth * np.sqrt(np.pi) * CELLS
    )
    near = held * CELLS * bandwidth * np.sqrt(2.0 * np.pi)
    rows = np.clip(held * held / squared, 1e-9, n)
    points = np.linspace(0, CELLS - 1, n_points).round().astype(np.intp)
    points = points[near[points] >= 0.5]
    accuracy = right[points] / held[points]
    low, high = intervals.wilson(accuracy * rows[points], rows[points], level)
    return SmoothCurve((points + 0.5) / CELLS, held[points] * CELLS / n, accuracy, low, high)


@on_record(_smooth_curve_of)
def smooth_curve(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    target: Any = "answer",
    bandwidth: float | None = None,
    level: float = 0.95,
    n_points: int = 200,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> SmoothCurve:
    r"""Accuracy as a smooth function of the score: a kernel mean with a Gaussian kernel reflected
    at 0 and 1.

    .. math:: \hat g(t) = \frac{\sum_i K_h(t, s_i) c_i}{\sum_i K_h(t, s_i)}

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : {"answer", "event"} or a class label
    bandwidth : float, optional
        Standard deviation h of the kernel; by default Silverman's rule on the scores, at least
        0.005.
    level : float, default 0.95
        Of the pointwise Wilson interval, at the number of rows that the kernel holds there.
    n_points : int, default 200
        Points, at equal steps of [0, 1]; those with no row within about a bandwidth are left out.
    sample_weight : (n,), optional
        Weight 2 counts a row twice; weight 0 drops it.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    SmoothCurve
        ``.frame()`` gives it as a data frame.

    Raises
    ------
    InputError
        When the predictions cannot be read, the target is unknown or the bandwidth is not positive.

    See Also
    --------
    reliability_curve, isotonic_curve, loess_curve : in bins, only rising, or by local lines.
    kde_calibration_error : the gap as one number.

    Notes
    -----
    The interval is for the smoothed accuracy: where the curve bends within a bandwidth it does not
    hold the accuracy itself.

    Examples
    --------
    >>> curve = smooth_curve([0, 1] * 50, [0.25, 0.75] * 50, target="event", bandwidth=0.05)
    >>> float(curve.accuracy[0].round(2)), float(curve.accuracy[-1].round(2))
    (0.0, 1.0)
    """
    record = read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs)
    return _smooth_curve_of(
        record, target=target, bandwidth=bandwidth, level=level, n_points=n_points
    )
