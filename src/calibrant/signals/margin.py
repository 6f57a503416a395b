"""How far the first class is ahead of the second."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.ties import settled
from calibrant.contracts.expression import LOWEST
from calibrant.contracts.signal import Signal
from calibrant.contracts.tags import SignalTags
from calibrant.predictions import Inputs

__all__ = ["Margin"]


class Margin(Signal):
    r"""The lead of the predicted class over the second best.

    .. math:: P_{(1)} - P_{(2)} \qquad \text{or} \qquad \log P_{(1)} - \log P_{(2)}

    Parameters
    ----------
    scale : {"probability", "logit"}
        A difference of probabilities, in [0, 1], or of logits, any number from 0 up (give it a map for real scores).
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    See Also
    --------
    TopProbability : the first class alone.
    Entropy : all classes.

    Notes
    -----
    It knows what the top probability hides: with many classes, .5 against .49 is not .5 against a hundred crumbs. On the logit scale it
    still tells apart rows whose top probability rounds to 1.

    References
    ----------
    Scheffer, Decomain and Wrobel, "Active hidden Markov models for information extraction", IDA 2001.

    Examples
    --------
    >>> Margin().score([[0.5, 0.25, 0.25], [0.5, 0.5, 0.0]]).tolist()
    [0.25, 0.0]
    """

    def __init__(
        self, *, scale: Literal["probability", "logit"] = "probability", inputs: Inputs = "probability", classes: ArrayLike | None = None
    ) -> None:
        self.scale: Literal["probability", "logit"] = scale
        self.inputs: Inputs = inputs
        self.classes = classes

    @property
    def tags(self) -> SignalTags:  # pyright: ignore[reportIncompatibleVariableOverride]
        """A difference of probabilities stays in [0, 1]."""
        return SignalTags(domain="real" if self.scale == "logit" else "unit")

    @classmethod
    def _examples(cls):
        return [cls(), cls(scale="logit"), cls(scale="logit", inputs="logit")]

    def _score(self, record):
        self._option("scale", "probability", "logit")
        values = record.probabilities if self.scale == "probability" else record.logits
        first_two = np.partition(values, values.shape[1] - 2, axis=1)[:, -2:].astype(np.float64)
        return settled(first_two[:, 1] - first_two[:, 0])

    def _expression(self, record):
        values = record.probabilities if self.scale == "probability" else record.logits
        first = values.argmax().gather(np.eye(record.n_classes))
        return (values.max() - first.where(LOWEST, values).max()).settled()
