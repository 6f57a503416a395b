"""How concentrated the whole row is."""

from typing import ClassVar

import numpy as np
from scipy.special import entr

from calibrant._kernels.fixed_order import sum_rows
from calibrant._kernels.ties import settled
from calibrant.contracts.signal import Signal
from calibrant.contracts.tags import SignalTags

__all__ = ["Entropy"]


class Entropy(Signal):
    r"""One minus the entropy of the row in units of its largest possible value: 1 is certain, 0 is uniform.

    .. math:: 1 + \frac{1}{\log K} \sum_k P_k \log P_k

    Parameters
    ----------
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    See Also
    --------
    TopProbability, Margin : look at one or two classes only.

    Notes
    -----
    Looks at the whole row, where the top probability and the margin look at one or two entries. Turned round, so that a larger score means
    more evidence, as in every signal here.

    References
    ----------
    Shannon, "A mathematical theory of communication", Bell System Technical Journal 27, 1948.

    Examples
    --------
    >>> Entropy().score([[0.5, 0.5], [1.0, 0.0]]).tolist()
    [0.0, 1.0]
    """

    tags: ClassVar[SignalTags] = SignalTags(domain="unit")

    @classmethod
    def _examples(cls):
        return [cls(), cls(inputs="logit")]

    def _score(self, record):
        P = record.probabilities
        return settled(np.clip(1.0 - sum_rows(entr(P)) / np.log(P.shape[1]), 0.0, 1.0))

    def _expression(self, record):
        P = record.probabilities
        share = (P * P.clip(np.finfo(np.float64).tiny, 1.0).log()).sum() / np.log(record.n_classes)
        return (1.0 + share).clip(0.0, 1.0).settled()
