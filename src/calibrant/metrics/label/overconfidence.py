"""Mean confidence of the predictions that are wrong."""

from dataclasses import dataclass
from typing import ClassVar

from calibrant.contracts.sum_metric import RatioMetric

__all__ = ["Overconfidence", "overconfidence"]


@dataclass(frozen=True, repr=False)
class Overconfidence(RatioMetric):
    r"""Mean confidence of the predictions that are wrong; 0 where none is.

    .. math:: o = E[\hat z \mid \text{wrong}]

    See Also
    --------
    underconfidence : the doubt of those that are right.
    expected_calibration_error : whether the confidence is off at all.

    Notes
    -----
    Read it with ``underconfidence``: by Theorem 1, \|o P(wrong) - u P(right)\| is at most the calibration error. Neither is a proper
    score, so never select a model by one of them. A model that is never wrong has 0.

    References
    ----------
    Wenger, Kjellström and Triebel, "Non-parametric calibration for classification", AISTATS 2020, Definition 2 and Theorem 1.

    Examples
    --------
    >>> round(overconfidence([0, 1, 0], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]), 3)
    0.7
    """

    name: ClassVar[str] = "overconfidence"
    key: ClassVar[str] = "overconfidence"
    estimand: ClassVar[str] = "mean confidence of new rows that are predicted wrong"
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    empty_value: ClassVar[float] = 0.0

    def _parts(self, record):
        wrong = 1.0 - record.correct
        return record.confidence * wrong, wrong


overconfidence: Overconfidence = Overconfidence()
