"""The confidence histogram: how often each confidence was given, to right and to wrong predictions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels import bins
from calibrant._support.options import require_count
from calibrant.contracts.columns import Record
from calibrant.contracts.on_record import on_record
from calibrant.contracts.reading import read_labelled
from calibrant.predictions import Inputs, Predictions

__all__ = ["ConfidenceHistogram", "confidence_histogram"]


@dataclass(frozen=True)
class ConfidenceHistogram(Record):
    """One row a bin of equal width, empty ones included: edges, and the weight of right and of wrong predictions in it."""

    lower: np.ndarray
    upper: np.ndarray
    right: np.ndarray
    wrong: np.ndarray


def _of(record: Predictions, *, target: Any = "answer", n_bins: int = 20) -> ConfidenceHistogram:
    require_count("n_bins", n_bins)
    score, hit = record.pair(target)
    sums = bins.grouped_sums(bins.equal_width_index(score, n_bins, record.resolution), n_bins, [hit], record.weight)
    edges = bins.equal_width_edges(n_bins)
    return ConfidenceHistogram(edges[:-1], edges[1:], sums[:, 1], sums[:, 0] - sums[:, 1])


@on_record(_of)
def confidence_histogram(
    y_true: ArrayLike, P: ArrayLike, *, target: Any = "answer", n_bins: int = 20, sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None, inputs: Inputs = "probability",
) -> ConfidenceHistogram:  # fmt: skip
    """Count right and wrong predictions in bins of the confidence.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : {"answer", "event"} or a class label
        "answer" counts the predicted label's probability, right or wrong; a class, that class's probability, of the class or not.
    n_bins : int, default 20
    sample_weight : (n,), optional
        Weight 2 means the row twice, weight 0 no row.
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
    return _of(record, target=target, n_bins=n_bins)
