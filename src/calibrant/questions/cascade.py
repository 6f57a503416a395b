"""Cascades: a small model answers what it is sure of, and a large one the rest, at least cost."""

import math
from typing import Any, Self

import numpy as np

from calibrant._numerics.certificates import fallback, fewest_rows
from calibrant.core.calibrator import require_fitted
from calibrant.core.estimators import BaseEstimator, require_option
from calibrant.core.guarantee import Guarantee, Promised
from calibrant.core.saving import Saved
from calibrant.decisions.certificates import Certificate, require_share
from calibrant.decisions.units import OVER, Over, Unit
from calibrant.errors import InputError
from calibrant.questions.pairs import read_paired
from calibrant.questions.read import as_questions

__all__ = ["QuestionCascade"]

#: Steps of the path of thresholds, from no row to all rows answered by the small model.
STEPS = 32


class QuestionCascade(Promised, Saved, BaseEstimator):
    r"""Let a small model answer where it is sure, and a large one elsewhere, at the least cost that
    keeps the error rate of all answers together at most ``risk``.

    .. math:: P\big( P(\text{wrong answer of the cascade at } \hat t) \le \text{risk} \big) \ge
        \text{confidence}

    The thresholds are quantiles of the small model's confidence, which do not depend on the labels.
    They are tested in order, from all rows to the large model downwards, each by the exact binomial
    test of the errors of the answers that the cascade would give, until one fails.

    Parameters
    ----------
    risk : float, default 0.05
        Maximum share of wrong answers.
    confidence : float, default 0.95
    over : {"rows", "items"}, default "rows"
        What the error rate is a share of: rows, so that an item of ten rows counts ten times as
        much as one of one row; or items, each with the mean of its rows.
    costs : (float, float), default (1.0, 10.0)
        Cost of one answer of the small and of the large model, in any unit. Rows of the large model
        pay both.

    Attributes
    ----------
    threshold_ : float
        The small model answers above it; infinite if it should not be asked at all.
    small_share_ : float, the share of labelled rows that it answers.
    cost_ : float
        Mean cost of a row, in the unit of ``costs``.
    certificate_ : Certificate
    largest_ : float, most rows of an item (by weight) in the labelled ones
    guarantee_ : Guarantee

    See Also
    --------
    QuestionRules : certifies which answers of one model to use.

    Notes
    -----
    Use it where a large model is accurate enough for all rows, and costs more. If it is not, decide
    by ``QuestionRules`` which of its answers to use. Rows of an item are dependent, so the largest
    item bounds what one more can change. The promise is for the mixture of questions in the log,
    with the weights of its rows, and ends when a model or the population changes.

    References
    ----------
    Angelopoulos et al., "Learn then test: calibrating predictive algorithms to achieve risk
    control", Annals of Applied Statistics 2025. Chen, Zaharia and Zou, "FrugalGPT: how to use large
    language models while reducing cost and improving performance", 2023.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(5.0, 1.0, 2000)
    >>> y = (rng.random(2000) < p).astype(int)
    >>> small, large = p[:, None], np.where(y == 1, 0.97, 0.03)[:, None]
    >>> from calibrant.questions import read_questions
    >>> both = read_questions(small, y[:, None]), read_questions(large, y[:, None])
    >>> cascade = QuestionCascade(risk=0.05, confidence=0.9).fit(*both)
    >>> round(cascade.threshold_, 2), round(cascade.cost_, 1)
    (0.83, 5.1)
    >>> cascade.decide(read_questions(np.array([[0.95], [0.6]]))).tolist()
    ['small', 'large']
    """

    threshold_: float
    small_share_: float
    cost_: float
    certificate_: Certificate

    def __init__(
        self,
        risk: float = 0.05,
        confidence: float = 0.95,
        *,
        over: Over = "rows",
        costs: tuple[float, float] = (1.0, 10.0),
    ) -> None:
        self.risk: float = risk
        self.confidence: float = confidence
        self.over: Over = over
        self.costs: tuple[float, float] = costs

    def fit(self, small: Any, large: Any) -> Self:
        """Certify the cheapest threshold on rows that both models answered.

        Parameters
        ----------
        small, large : Questions, or sources of :func:`read_questions`
            The same items and questions with the same options, in any order, with labels.
        """
        for name in ("risk", "confidence"):
            require_share(name, getattr(self, name))
        require_option("over", self.over, OVER)
        cheap, dear = _read_costs(self.costs)
        one, other = read_paired({"small": small, "large": large}, None, None).values()
        shares = np.linspace(0.0, 1.0, STEPS + 1)
        thresholds = np.append(np.quantile(one.confidence, 1.0 - shares[:-1]), -np.inf)
        by_small = one.confidence[:, None] > thresholds
        wrong = np.where(by_small, *((rows.correct < 0.5)[:, None] for rows in (one, other)))
        counted = (one.item_number, one.weights, self.over)
        tested = Unit.of(np.ones_like(wrong), wrong, *counted)
        n, delta = tested.n, 1.0 - self.confidence
        every = np.ones(len(thresholds))
        last, _ = fallback(tested.p_values(self.risk, delta, every), [(0, delta)])
        passed = last + 1
        if not passed:
            raise InputError(
                f"large must be wrong in at most {self.risk:g} of the rows, with a confidence of"
                f" {self.confidence:g}; it is in {tested.e[0]:,.0f} of {n:,.0f}, and at least"
                f" {fewest_rows(self.risk, delta):,} labels are needed; allow more risk, label more"
                " rows, or let QuestionRules decide which of its answers to use."
            )
        used = np.average(by_small, axis=0, weights=one.weights)
        cost = np.where(used > 0.0, cheap + (1.0 - used) * dear, dear)[:passed]
        best = int(cost.argmin())
        self.threshold_ = float(thresholds[best]) if used[best] > 0.0 else np.inf
        self.small_share_, self.cost_ = float(used[best]), float(cost[best])
        self.certificate_ = tested.certificate(
            best, every, self.risk, self.confidence, "fixed sequence", self.over
        )
        self.largest_: float = tested.top
        return self

    def decide(self, small: Any) -> np.ndarray:
        """(n,) "small" where the small model's answer is used, and "large" where the large model is
        to be asked.
        """
        require_fitted(self, "threshold_")
        sure = as_questions(small).confidence > self.threshold_
        return np.where(sure, "small", "large")

    @property
    def guarantee_(self) -> Guarantee:
        """The promise, with its assumptions."""
        require_fitted(self, "certificate_")
        held = self.certificate_
        assumes = "new items come from the population of the labelled ones, for the same models"
        if self.over == "rows" and self.largest_ > 1.0:
            assumes += f", and are no larger than the largest of these ({self.largest_:,.4g} rows)"
        return Guarantee(
            *("pac", "error rate of the answers of both models"),
            *(f"new {self.over} of this mixture", assumes, held.n),
            most=self.risk,
            unit=held.unit,
            confidence=self.confidence,
            method=held.method,
        )


def _read_costs(costs: Any) -> tuple[float, float]:
    """The cost of the small and of the large model."""
    try:
        cheap, dear = map(float, costs)
    except (TypeError, ValueError):
        cheap = dear = math.nan
    if not 0.0 <= cheap < dear < math.inf:
        raise InputError(
            "costs must be two numbers, that of the small and of the large model, ascending; got"
            f" {costs!r}; use the large model alone if it is not dearer."
        )
    return cheap, dear
