"""Signals from a row of probabilities alone: largest entry, margin, log odds, entropy."""

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr

from calibrant._numerics.bins import settled
from calibrant._numerics.fixed_order import sum_rows
from calibrant._numerics.temperature import log_rest, other_logits
from calibrant.core.calibrator import SignalTags
from calibrant.core.expression import LOWEST
from calibrant.core.given import Inputs
from calibrant.core.map import Signal

__all__ = ["Entropy", "LogOdds", "Margin", "TopProbability"]


class Entropy(Signal, examples=[{"inputs": "logit"}]):
    r"""One minus the normalised entropy of the row: 1 is certain, 0 is uniform.

    .. math:: 1 + \frac{1}{\log K} \sum_k P_k \log P_k

    Parameters
    ----------
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    See Also
    --------
    TopProbability, Margin : signals from one or two classes.

    Notes
    -----
    It uses the whole row, where the top probability and the margin use one or two entries. The sign
    is reversed, so that a larger score means more evidence, as in every signal here.

    References
    ----------
    Shannon, "A mathematical theory of communication", Bell System Technical Journal 27, 1948.

    Examples
    --------
    >>> Entropy().score([[0.5, 0.5], [1.0, 0.0]]).tolist()
    [0.0, 1.0]
    """

    tags: ClassVar[SignalTags] = SignalTags(domain="unit")

    def _score(self, record: Any) -> np.ndarray:
        P = record.probabilities
        return settled(np.clip(1.0 - sum_rows(entr(P)) / np.log(P.shape[1]), 0.0, 1.0))

    def _expression(self, record: Any) -> Any:
        P = record.probabilities
        share = (P * P.clip(np.finfo(np.float64).tiny, 1.0).log()).sum() / np.log(record.n_classes)
        return (1.0 + share).clip(0.0, 1.0).settled()


class TopProbability(Signal):
    """Probability of the predicted class, ``max_k P_k``: the usual confidence.

    Parameters
    ----------
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    See Also
    --------
    LogOdds : the same on an unbounded scale.
    Margin, Entropy : signals from other classes too.

    Notes
    -----
    Use it by default. It does not measure how far the row is from the training data.

    References
    ----------
    Hendrycks and Gimpel, "A baseline for detecting misclassified and out-of-distribution examples",
    ICLR 2017.

    Examples
    --------
    >>> TopProbability().score([[0.7, 0.3], [0.2, 0.8]]).tolist()
    [0.7, 0.8]
    """

    tags: ClassVar[SignalTags] = SignalTags(domain="unit")

    def _score(self, record: Any) -> np.ndarray:
        return record.confidence

    def _expression(self, record: Any) -> Any:
        return record.confidence


class Margin(Signal, examples=[{"scale": "logit"}, {"scale": "logit", "inputs": "logit"}]):
    r"""Margin of the predicted class over the second best.

    .. math:: P_{(1)} - P_{(2)} \qquad \text{or} \qquad \log P_{(1)} - \log P_{(2)}

    Parameters
    ----------
    scale : {"probability", "logit"}
        A difference of probabilities, in [0, 1], or of logits, from 0 up (use a map for real
        scores).
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    See Also
    --------
    TopProbability : the signal from the first class alone.
    Entropy : the signal from all classes.

    Notes
    -----
    It shows what the top probability hides: with many classes, .5 against .49 differs from .5
    against many tiny probabilities. On the logit scale it still separates rows whose top
    probability rounds to 1.

    References
    ----------
    Scheffer, Decomain and Wrobel, "Active hidden Markov models for information extraction", IDA
    2001.

    Examples
    --------
    >>> Margin().score([[0.5, 0.25, 0.25], [0.5, 0.5, 0.0]]).tolist()
    [0.25, 0.0]
    """

    def __init__(
        self,
        *,
        scale: Literal["probability", "logit"] = "probability",
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.scale: Literal["probability", "logit"] = scale

    @property
    def tags(self) -> SignalTags:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Tags of the signal; a difference of probabilities is in [0, 1]."""
        return SignalTags(domain="real" if self.scale == "logit" else "unit")

    def _score(self, record: Any) -> np.ndarray:
        self._option("scale", "probability", "logit")
        values = record.probabilities if self.scale == "probability" else record.logits
        first_two = np.partition(values, values.shape[1] - 2, axis=1)[:, -2:].astype(np.float64)
        return settled(first_two[:, 1] - first_two[:, 0])

    def _expression(self, record: Any) -> Any:
        values = record.probabilities if self.scale == "probability" else record.logits
        first = values.argmax().gather(np.eye(record.n_classes))
        return (values.max() - first.where(LOWEST, values).max()).settled()


class LogOdds(Signal, examples=[{"inputs": "logit"}]):
    r"""Log odds of the predicted class: the top probability on an unbounded scale.

    .. math:: \log \frac{P_k}{1 - P_k} = z_k - \log \sum_{j \ne k} e^{z_j}, \quad k = \arg\max P,
        \; z = \log P \text{ or the logits}

    Parameters
    ----------
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    See Also
    --------
    TopProbability : the same as a probability.

    Notes
    -----
    It ranks rows as :class:`TopProbability` does. Use it with a map that depends on distances
    between scores (:class:`KernelDensity`, equal-width bins) when most top probabilities are close
    to 1, as in ensembles and large networks. There 0.999 and 0.999999 differ by a factor of a
    thousand in odds, but hardly on the scale of P. Exact zeros of P count as the smallest positive
    number; in a fitted calibrator, as the smallest probability of the fit (1e-12 at most).

    Examples
    --------
    >>> LogOdds().score([[0.75, 0.25, 0.0], [0.2, 0.8, 0.0]]).round(3).tolist()
    [1.099, 1.386]
    """

    tags: ClassVar[SignalTags] = SignalTags(domain="real")

    def _score(self, record: Any) -> np.ndarray:
        out = []
        for block in record.blocks():
            others = other_logits(np.asarray(block.logits, dtype=np.float64), block.predicted)
            out.append(-log_rest(others, np.ones(len(others)))[0])
        return settled(np.concatenate(out))

    def _expression(self, record: Any) -> Any:
        z = record.logits
        return (0.0 - record.is_predicted.where(0.0, (z - z.max()).exp()).sum().log()).settled()
