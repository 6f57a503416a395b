"""The rate of correct predictions, whatever the score: all that the predicted class alone says."""

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.intervals import beta_interval
from calibrant.contracts.calibrator import require_fitted
from calibrant.contracts.map import Map
from calibrant.contracts.tags import MapTags

__all__ = ["ClassRate"]


class ClassRate(Map):
    r"""One confidence for every score, the rate of correct predictions; fitted per predicted class, it is Conf\ :sub:`1`.

    .. math:: \mathrm{Conf}_1 = \frac{TP + 1/2}{TP + FP + 1}

    the mean of the Beta(TP + 1/2, FP + 1/2) posterior of Jeffreys' prior. Its raw form, TP / (TP + FP), is the diagonal of the
    reverse confusion matrix (see :func:`calibrant.metrics.joint_distribution`).

    Attributes
    ----------
    rate_ : float
    true_positives_, false_positives_ : float, sums of weights.

    See Also
    --------
    ConfidenceCalibrator : fits it for each predicted class.
    class_report : these rates, with intervals.

    Notes
    -----
    Use it per class (``ConfidenceCalibrator(map=ClassRate(), per_class=True)``) where the rows of a class are too few to say how its
    confidence depends on the score. It cannot tell a sure prediction from a doubtful one of the same class.

    References
    ----------
    Salamon et al., "Classification confidence in exploratory learning: a user's guide", MAKE 2023, equation 1.

    Examples
    --------
    >>> m = ClassRate().fit([0.2, 0.7, 0.9], [0, 1, 1])
    >>> m.predict([0.5]).tolist(), m.interval([0.5], level=0.9)[0].round(3).tolist()
    ([0.625], [0.236])
    """

    tags: ClassVar[MapTags] = MapTags(domain="real", monotone=True, soft_labels=True, label="class rate")

    def _fit(self, score, correct, weight):
        self.true_positives_: float = float(weight @ correct)
        self.false_positives_: float = float(weight @ (1.0 - correct))
        self.rate_: float = (self.true_positives_ + 0.5) / (self.true_positives_ + self.false_positives_ + 1.0)

    def _predict(self, score):
        return np.full(len(score), self.rate_)

    def _expression(self, score):
        return score * 0.0 + self.rate_

    def interval(self, score: ArrayLike, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Equal-tailed credible interval of the rate at each score, (low (n,), high (n,))."""
        require_fitted(self, "rate_")
        low, high = beta_interval(self.true_positives_ + 0.5, self.false_positives_ + 0.5, level)
        return np.full(len(score), float(low)), np.full(len(score), float(high))
