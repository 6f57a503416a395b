"""Reliability curves of one score or of every class, in bins or smoothed by a kernel, and
confidence histograms.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from calibrant._numerics import bins, intervals
from calibrant._numerics.clusters import group_worth
from calibrant._numerics.smoothing import deposit, gaussian_smoother
from calibrant.core.arrays import ArrayLike
from calibrant.core.estimators import require_count, require_option
from calibrant.core.given import Inputs
from calibrant.core.groups import WeightKind, clustered
from calibrant.core.guarantee import Record
from calibrant.core.metric import require_level
from calibrant.core.metric_kinds import on_record
from calibrant.core.predictions import Predictions
from calibrant.core.reading import read_labelled
from calibrant.errors import InputError

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
    """Reliability curve, one row per non-empty bin: edges, n (sum of weights), mean confidence,
    accuracy, and its interval.
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
    """Compute the curve of valid arrays: scores in [0, 1] and their binary outcomes, (n,) each.

    ``resolution`` and ``cluster`` are those of a record. Intervals of ``soft`` outcomes (shares of
    raters) use their variance in each bin.
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
                f'band="consistency" assumes independent rows; with {given}, use "wilson" or'
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
    """Compute the curve from (B, 3) sums of weight, score and hits in bins with these edges, (B,)
    each; sums of parts add up.

    ``worth`` (B,) multiplies the number of rows of each bin for clusters.
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


def _binned(
    score: np.ndarray, weight: np.ndarray | None, resolution: float, n_bins: int, strategy: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
    """Compute mean confidence and accuracy in each bin of the confidence, with an interval for the
    accuracy.

    Parameters
    ----------
    y_true : (n,) labels, or SoftLabels
    P : (n, K), or (n,) for binary
    target : {"answer", "event"} or a class label
        "answer" compares the predicted label's probability with the accuracy; a class, that class's
        probability with its share.
    n_bins : int, default 15
    strategy : {"width", "mass"}
    band : {"wilson", "clopper-pearson", "consistency"}
        The first two are intervals of the accuracy, with positive width even in bins where all or
        none are right, unlike a bootstrap. "consistency" is the range of the accuracy under
        calibration: bars on the diagonal.
    level : float, default 0.95
    cluster : (n,) labels of any kind, optional
        Clusters of dependent rows (visits of one patient, answers to one question). Intervals then
        count clusters; not available for "consistency".
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
        ``.frame()`` returns a data frame. Empty bins are left out.

    See Also
    --------
    ReliabilityDisplay : the plot of it. isotonic_curve, loess_curve, spline_curve : curves without
        bins, the last two with a band for the whole curve.

    Notes
    -----
    For :class:`SoftLabels`, the accuracy is the mean share. Its interval uses the effective number
    of labels from the variance within the bin, with two rows of one label added.

    Examples
    --------
    >>> curve = reliability_curve([1, 1, 0, 1], [0.9, 0.8, 0.3, 0.2], n_bins=2, target=1)
    >>> curve.n.tolist(), curve.accuracy.tolist()
    ([2.0, 2.0], [0.5, 1.0])
    """
    given = {"sample_weight": sample_weight, "classes": classes}
    record = read_labelled(y_true, P, **given, inputs=inputs, soft=True)
    record = clustered(record, cluster, weight_kind)
    return reliability_curve.of(
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
    require_count("n_bins", n_bins)
    options = {"n_bins": n_bins, "strategy": strategy, "band": band, "level": level}
    excess = np.array([_excess(record, k, n_bins) for k in range(record.n_classes)])
    # Classes that differ by rounding alone, as the two of a binary problem, keep their order.
    chosen = np.argsort(-excess.round(12), kind="stable")[: max(int(worst), 0)]
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
    """Compute the reliability curves of the top label and of the worst-calibrated classes.

    Classes are ranked by the excess of their binned error over its expected noise, so that rare
    classes do not lead by chance.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    worst : int, default 3
        Number of classes to show, at most K.
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
        Curves by name: "top label", then the classes as text, the worst first.

    Raises
    ------
    InputError
        As for ``reliability_curve``.

    See Also
    --------
    reliability_curve : a single curve.
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
    return reliability_curves.of(
        record, worst=worst, n_bins=n_bins, strategy=strategy, band=band, level=level
    )


def _excess(record, k, n_bins):
    """Binned error of the class minus its mean for a calibrated model (folded normal noise in each
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
    """Confidence histogram, one row per bin of equal width, including empty ones: edges, and weight
    of right and wrong predictions.
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
        "answer" bins the predicted label's probability, for right and wrong labels; a class, that
        class's probability, for rows of the class and others.
    n_bins : int, default 20
    sample_weight : (n,), optional
        Weight 2 counts a row twice; weight 0 drops it.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    ConfidenceHistogram
        ``.frame()`` returns a data frame; ``right + wrong`` sums to the weight of all rows.

    Raises
    ------
    InputError
        When the predictions are invalid, or ``n_bins`` is not a positive whole number.

    See Also
    --------
    ConfidenceHistogramDisplay : the plot of it.
    reliability_curve : the accuracy by confidence, with intervals.

    Examples
    --------
    >>> histogram = confidence_histogram([1, 1, 0, 1], [0.9, 0.8, 0.3, 0.2], n_bins=2)
    >>> histogram.right.tolist(), histogram.wrong.tolist()
    ([0.0, 3.0], [0.0, 1.0])
    """
    record = read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs)
    return confidence_histogram.of(record, target=target, n_bins=n_bins)


CELLS = 2000


@dataclass(frozen=True)
class SmoothCurve(Record):
    """Smooth curve, one row per point: score, density of scores, smoothed accuracy, and its
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
    require_count("n_points", n_points, most=CELLS)
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
    # A squared Gaussian kernel of width h is one of width h / sqrt(2) over 2 h sqrt(pi); it gives
    # the effective number of rows.
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
    r"""Compute the accuracy as a smooth function of the score: a kernel mean with a Gaussian kernel
    reflected at 0 and 1.

    .. math:: \hat g(t) = \frac{\sum_i K_h(t, s_i) c_i}{\sum_i K_h(t, s_i)}

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : {"answer", "event"} or a class label
    bandwidth : float, optional
        Standard deviation h of the kernel; by default from Silverman's rule on the scores, at least
        0.005.
    level : float, default 0.95
        The level of the pointwise Wilson interval, at the effective number of rows in the kernel.
    n_points : int, default 200
        Number of points, equally spaced on [0, 1]; points without a row within about a bandwidth
        are left out.
    sample_weight : (n,), optional
        Weight 2 counts a row twice; weight 0 drops it.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    SmoothCurve
        ``.frame()`` returns a data frame.

    Raises
    ------
    InputError
        When the predictions are invalid, the target is unknown or the bandwidth is not positive.

    See Also
    --------
    reliability_curve, isotonic_curve, loess_curve : curves in bins, increasing, or by local
        regression.
    smooth_calibration_error : the gap as one number.

    Notes
    -----
    The interval is for the smoothed accuracy: where the curve bends within a bandwidth, it does not
    cover the accuracy itself.

    Examples
    --------
    >>> curve = smooth_curve([0, 1] * 50, [0.25, 0.75] * 50, target="event", bandwidth=0.05)
    >>> float(curve.accuracy[0].round(2)), float(curve.accuracy[-1].round(2))
    (0.0, 1.0)
    """
    record = read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs)
    return smooth_curve.of(
        record, target=target, bandwidth=bandwidth, level=level, n_points=n_points
    )
