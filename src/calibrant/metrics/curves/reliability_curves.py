"""Reliability curves of many classes: the top label's and those of the worst classes."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels import bins
from calibrant.contracts.on_record import on_record
from calibrant.contracts.reading import read_labelled
from calibrant.metrics.curves.reliability_curve import ReliabilityCurve, pair_curve, reliability_curve
from calibrant.predictions import Inputs, Predictions

__all__ = ["reliability_curves"]


def _of(
    record: Predictions, *, worst: int = 3, n_bins: int = 15, strategy: str = "width", band: str = "wilson", level: float = 0.95
) -> dict[str, ReliabilityCurve]:
    options = {"n_bins": n_bins, "strategy": strategy, "band": band, "level": level}
    excess = np.array([_excess(record, k, n_bins) for k in range(record.n_classes)])
    chosen = np.argsort(-excess, kind="stable")[: max(int(worst), 0)]
    pairs = {str(record.classes[k]): (record.probabilities[:, k], (record.labels == k).astype(np.float64)) for k in chosen}
    classes = {name: pair_curve(*pair, record.weight, record.resolution, **options, cluster=record.cluster) for name, pair in pairs.items()}
    return {"top label": reliability_curve.of(record, **options), **classes}


@on_record(_of)
def reliability_curves(
    y_true: ArrayLike, P: ArrayLike, *, worst: int = 3, n_bins: int = 15, strategy: Literal["width", "mass"] = "width",
    band: Literal["wilson", "clopper-pearson", "consistency"] = "wilson", level: float = 0.95, sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None, inputs: Inputs = "probability",
) -> dict[str, ReliabilityCurve]:  # fmt: skip
    """The top label's reliability curve, and those of the classes whose probabilities are worst calibrated.

    A class is worse the more its binned error exceeds what noise in its bins explains, so that rare classes do not lead by luck.

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
        Weight 2 means the row twice, weight 0 no row.
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
    >>> list(reliability_curves([0, 1, 2, 2], [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.9, 0.05, 0.05], [0.1, 0.1, 0.8]], worst=1))
    ['top label', '2']
    """
    record = read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs)
    return _of(record, worst=worst, n_bins=n_bins, strategy=strategy, band=band, level=level)


def _excess(record, k, n_bins):
    """The class's binned error less its mean for a calibrated model (folded normal noise in each bin)."""
    score, hit = record.probabilities[:, k], (record.labels == k).astype(np.float64)
    index = bins.equal_width_index(score, n_bins, record.resolution)
    n, total, hits, variance = bins.grouped_sums(index, n_bins, [score, hit, score * (1.0 - score)], record.weight).T
    return float((np.abs(total - hits) - np.sqrt(2.0 / np.pi * variance)).sum() / n.sum())
