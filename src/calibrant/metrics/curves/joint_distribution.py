"""Joint counts of true and predicted classes, normalised by the true or the predicted class."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant.core.extras import import_extra
from calibrant.core.given import Inputs
from calibrant.core.metric_kinds import on_record
from calibrant.core.predictions import Predictions
from calibrant.core.reading import read_labelled
from calibrant.errors import InputError

__all__ = ["JointDistribution", "joint_distribution"]


@dataclass(frozen=True)
class JointDistribution:
    """Joint counts (sums of weights) of true and predicted classes, with both normalisations.

    Attributes
    ----------
    classes : (K,)
    counts : (K, K), row the true class, column the predicted one.
    """

    classes: np.ndarray
    counts: np.ndarray

    @property
    def by_true(self) -> np.ndarray:
        """Confusion matrix: P(predicted | true), rows sum to 1; nan in the row of a class that
        never occurs.
        """
        return _shares(self.counts, self.counts.sum(axis=1, keepdims=True))

    @property
    def by_predicted(self) -> np.ndarray:
        r"""Reverse confusion matrix: P(true | predicted), columns sum to 1; its diagonal is
        Conf\ :sub:`1`; nan where never predicted.
        """
        return _shares(self.counts, self.counts.sum(axis=0, keepdims=True))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return classes and counts as lists, ready for JSON."""
        return {"classes": self.classes.tolist(), "counts": self.counts.tolist()}

    def frame(self, normalise: str | None = None) -> Any:
        """Return a pandas data frame, rows true and columns predicted; ``normalise`` is None,
        "true" or "predicted".
        """
        tables = {None: self.counts, "true": self.by_true, "predicted": self.by_predicted}
        if normalise not in tables:
            raise InputError(f'normalise must be None, "true" or "predicted"; got {normalise!r}.')
        pandas = import_extra("pandas", "a data frame of the joint distribution", "frames")
        index, columns = (pandas.Index(self.classes, name=name) for name in ("true", "predicted"))
        return pandas.DataFrame(tables[normalise], index=index, columns=columns)


def _of(record: Predictions) -> JointDistribution:
    K = record.n_classes
    counts = np.bincount(
        record.labels * K + record.predicted, weights=record.weight, minlength=K * K
    )
    return JointDistribution(record.classes, counts.astype(np.float64).reshape(K, K))


@on_record(_of)
def joint_distribution(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> JointDistribution:
    r"""Count each pair of true and predicted class.

    .. math:: N_{jk} = \sum_i w_i\, 1[y_i = j]\, 1[\arg\max P_i = k]

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    sample_weight : (n,), optional
        Weight 2 counts a row twice; weight 0 drops it.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    JointDistribution

    See Also
    --------
    JointDistributionDisplay : the plot of it.

    Notes
    -----
    Use ``by_predicted`` to see how far to trust a prediction: for a rare class its diagonal may be
    far below that of the confusion matrix. It depends on the class frequencies of the rows.

    References
    ----------
    Salamon et al., "Classification confidence in exploratory learning: a user's guide", MAKE 2023,
    figure 1.

    Examples
    --------
    >>> joint = joint_distribution([0, 0, 0, 1], [0.2, 0.4, 0.7, 0.9])
    >>> joint.counts.tolist(), joint.by_predicted.diagonal().tolist()
    ([[2.0, 1.0], [0.0, 1.0]], [1.0, 0.5])
    """
    record = read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs)
    return joint_distribution.of(record)


def _shares(counts: np.ndarray, total: np.ndarray) -> np.ndarray:
    return np.divide(counts, total, out=np.full(counts.shape, np.nan), where=total > 0.0)
