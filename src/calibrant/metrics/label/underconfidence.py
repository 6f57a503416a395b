"""Mean doubt, 1 - confidence, of the predictions that are right."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from calibrant.contracts.sum_metric import RatioMetric

__all__ = ["Underconfidence", "underconfidence"]


@dataclass(frozen=True, repr=False)
class Underconfidence(RatioMetric):
    r"""Mean doubt, 1 - confidence, of the predictions that are right; 0 where none is.

    .. math:: u = E[1 - \hat z \mid \text{right}]

    See Also
    --------
    overconfidence : the confidence of those that are wrong.
    expected_calibration_error : whether the confidence is off at all.

    Notes
    -----
    Read it with ``overconfidence``: by Theorem 1, \|o P(wrong) - u P(right)\| is at most the calibration error. Neither is a proper
    score, so never select a model by one of them. A model that is never right has 0.

    References
    ----------
    Wenger, Kjellström and Triebel, "Non-parametric calibration for classification", AISTATS 2020, Definition 2 and Theorem 1.

    Examples
    --------
    >>> round(underconfidence([0, 1, 0], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]), 3)
    0.1
    """

    name: ClassVar[str] = "underconfidence"
    key: ClassVar[str] = "underconfidence"
    estimand: ClassVar[str] = "mean doubt of new rows that are predicted right"
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    empty_value: ClassVar[float] = 0.0
    exceptions: ClassVar[Mapping[str, str]] = {
        "perfect_is_best": "where nothing is right there is no doubt about right predictions to measure"
    }

    def _parts(self, record):
        return (1.0 - record.confidence) * record.correct, record.correct


underconfidence: Underconfidence = Underconfidence()
