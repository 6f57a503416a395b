"""The log odds of the predicted class."""

from typing import ClassVar

import numpy as np

from calibrant._kernels.ties import settled
from calibrant._kernels.top_label import log_rest, other_logits
from calibrant.contracts.signal import Signal
from calibrant.contracts.tags import SignalTags

__all__ = ["LogOdds"]


class LogOdds(Signal):
    r"""Log odds of the predicted class, the top probability on a scale that never crowds.

    .. math:: \log \frac{P_k}{1 - P_k} = z_k - \log \sum_{j \ne k} e^{z_j}, \quad k = \arg\max P, \; z = \log P \text{ or the logits}

    Parameters
    ----------
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    See Also
    --------
    TopProbability : the same as a probability.

    Notes
    -----
    It ranks rows as :class:`TopProbability` does. Use it under a map that measures distances between scores (:class:`KernelDensity`,
    equal-width bins) when most top probabilities are close to 1, as those of ensembles and of large networks are: there 0.999 and
    0.999999 differ by a factor of a thousand in odds and by nothing on the scale of P. Exact zeros of P count as the smallest
    positive number, in a fitted calibrator as the smallest probability of the fit (1e-12 at most).

    Examples
    --------
    >>> LogOdds().score([[0.75, 0.25, 0.0], [0.2, 0.8, 0.0]]).round(3).tolist()
    [1.099, 1.386]
    """

    tags: ClassVar[SignalTags] = SignalTags(domain="real")

    @classmethod
    def _examples(cls):
        return [cls(), cls(inputs="logit")]

    def _score(self, record):
        out = []
        for block in record.blocks():
            others = other_logits(np.asarray(block.logits, dtype=np.float64), block.predicted)
            out.append(-log_rest(others, np.ones(len(others)))[0])
        return settled(np.concatenate(out))

    def _expression(self, record):
        z = record.logits
        return (0.0 - record.is_predicted.where(0.0, (z - z.max()).exp()).sum().log()).settled()
