"""The largest probability of the row."""

from typing import ClassVar

from calibrant.contracts.signal import Signal
from calibrant.contracts.tags import SignalTags

__all__ = ["TopProbability"]


class TopProbability(Signal):
    """The probability of the predicted class, ``max_k P_k``: the usual confidence.

    Parameters
    ----------
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    See Also
    --------
    LogOdds : the same on a scale that never crowds at 1.
    Margin, Entropy : look at the other classes too.

    Notes
    -----
    Use it unless you have a reason not to. It says nothing about how far the row is from the training data.

    References
    ----------
    Hendrycks and Gimpel, "A baseline for detecting misclassified and out-of-distribution examples", ICLR 2017.

    Examples
    --------
    >>> TopProbability().score([[0.7, 0.3], [0.2, 0.8]]).tolist()
    [0.7, 0.8]
    """

    tags: ClassVar[SignalTags] = SignalTags(domain="unit")

    def _score(self, record):
        return record.confidence

    def _expression(self, record):
        return record.confidence
