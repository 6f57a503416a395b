"""Events that happened for each that was predicted."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from calibrant._kernels.intervals import event_count_limits, quotient, stretched
from calibrant._support.options import require_option
from calibrant.contracts.by_options import by_options
from calibrant.contracts.metric import Direction
from calibrant.contracts.sum_metric import SumMetric
from calibrant.metrics.pair import Targeted

__all__ = ["ObservedExpectedRatio", "observed_expected_ratio"]

#: What the interval takes as given -> what it is of.
ESTIMANDS = {
    "rate": "events to be expected of these rows, over those predicted; the predictions as given",
    "risks": "events to be expected of rows with these very risks, divided by those predicted",
    "nothing": "rate of the event over the mean risk, of new rows from the same population",
}

#: How many rows that go the other way are counted besides those seen.
SURPRISE = 1.0
#: Below this share of their squares the spread of risks is rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, repr=False)
class ObservedExpectedRatio(Targeted, SumMetric):
    r"""Number of events that happened, divided by the number that the probabilities add up to (O/E).

    .. math:: O/E = \frac{\sum_i y_i}{\sum_i p_i}

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        Whose probability: class 1's of two, the predicted label's against its being right, or the named class's.
    given : {"rate", "risks", "nothing"}, default "rate"
        What the interval takes as given. "risks": those of these rows, so that the ratio is that of
        the events to be expected of these rows (conditional). "nothing": rows and risks are drawn
        anew from the population (unconditional). "rate": of these rows too, but as if all had one
        risk, which is the widest that their risks can make it, and exact with few events.

    See Also
    --------
    calibration_in_the_large : the same question on the scale of the log-odds.
    calibration_bias : the same question as a difference of means.

    Notes
    -----
    1 is right; under 1 the risks are too high on the whole, over 1 too low. Its interval takes the predictions as given: on the log
    scale, :math:`\log(O/E) \pm z\sqrt{(1 - O/n)/O}`; exact (Poisson) below 10 events, so from 0 up where there was none; exact
    (binomial) where fewer than 10 rows had no event. inf where events happened and none was
    expected, nan where neither.

    Risks that tell events apart leave less to chance: with ``given="risks"`` the limits are nearer,
    on the log scale, by the root of what a line through the risks leaves of the variance
    :math:`O(1 - O/n)`; with "nothing" by that of :math:`\sum_i (y_i - (O/E) p_i)^2`, which is more
    where risks are too bold; both count one surprise more than seen. In simulations of 50 to 1,000
    rows they held the truth 94 to 100 times of 100. The width was .27 to 1 of that of "rate" with
    "risks", and up to 1.4 with "nothing", where events were few or the risks said nothing.

    It looks at the mean alone: see ``calibration_slope`` for what else may be wrong. It is no
    score, so never select a model by it. Of :class:`SoftLabels` events are summed shares, and the
    interval follows from the variance of share - O/E p seen between rows in the place of
    O/n (1 - O/n).

    References
    ----------
    Debray et al., "A guide to systematic review and meta-analysis of prediction model performance", BMJ 2017.

    Examples
    --------
    >>> print(observed_expected_ratio.interval([1] * 6 + [0] * 34, [0.1] * 40))
    1.5 [0.5505, 3.265]
    >>> y, p = [1] * 38 + [0] * 162 + [1] * 162 + [0] * 38, [0.2] * 200 + [0.8] * 200
    >>> print(observed_expected_ratio.interval(y, p))
    1 [0.9067, 1.103]
    >>> print(observed_expected_ratio.interval(y, p, given="risks"))
    1 [0.9252, 1.081]
    """

    given: Literal["rate", "risks", "nothing"] = "rate"

    name: ClassVar[str] = "O/E"
    key: ClassVar[str] = "observed_expected_ratio"
    direction: ClassVar[Direction] = "none"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    soft_labels: ClassVar[bool] = True

    @classmethod
    def _examples(cls):
        return [cls(), cls(target="answer"), cls(given="risks"), cls(given="nothing")]

    def _estimand(self) -> str:
        """What the interval is of."""
        return ESTIMANDS[self.given]

    estimand: ClassVar[str] = by_options(_estimand)

    def _check(self):
        require_option("given", self.given, tuple(ESTIMANDS))

    def _columns(self, record: Any):
        score, hit = record.pair(self.target)
        if self.given == "rate" and record.shares is None:
            return [hit, score]
        return [hit, score, hit * hit, hit * score, score * score]

    def _finalise(self, totals: np.ndarray):
        return _ratio(totals, totals[..., 1])

    def _limits(self, totals: np.ndarray, level: float):
        if self.given != "rate":
            limits = event_count_limits(totals[..., 1], totals[..., 0], level)
            low, high = stretched(totals[..., 1], limits, self._stretch(totals))
            return _ratio(totals, low), _ratio(totals, high)
        worth = 1.0 if totals.shape[-1] == 3 else _raters_worth(totals)
        low, high = event_count_limits(totals[..., 1] * worth, totals[..., 0] * worth, level)
        return _ratio(totals, low / worth), _ratio(totals, high / worth)

    def _stretch(self, totals: np.ndarray) -> np.ndarray:
        """Standard deviation of the count, over that of rows of one risk."""
        n, observed, expected, seen, both, squares = np.moveaxis(totals, -1, 0)
        alike = observed - quotient(observed**2, n)
        if self.given == "risks":
            along = both - quotient(observed * expected, n)
            spread = squares - quotient(expected**2, n)
            told = np.where(spread > ROUNDING * squares, quotient(along**2, spread), 0.0)
            left = np.maximum(seen - quotient(observed**2, n) - told, 0.0)
            left = left * quotient(n, np.maximum(n - 2.0, 1.0)) + SURPRISE
            return np.sqrt(np.where(alike > 0.0, np.minimum(quotient(left, alike), 1.0), 1.0))
        ratio = quotient(observed, expected)
        left = np.maximum(seen - 2.0 * ratio * both + ratio**2 * squares, 0.0)
        left = left * quotient(n, np.maximum(n - 1.0, 1.0)) + SURPRISE
        return np.sqrt(np.where(alike > 0.0, quotient(left, alike), 1.0))


def _raters_worth(totals: np.ndarray):
    """How many rows of one label each row of soft labels is worth.

    The variance of one label, O/n (1 - O/n), over that seen of hit - O/E score; two rows of one
    label are added to the latter for what few rows may hide.
    """
    n, hits, said, hits_squared, both, said_squared = np.moveaxis(totals, -1, 0)
    rate, ratio = quotient(hits, n), quotient(hits, said)
    alone = rate * (1.0 - rate)
    seen = np.maximum(hits_squared - 2.0 * ratio * both + ratio * ratio * said_squared, 0.0)
    variance = (seen * quotient(n, np.maximum(n - 1.0, 1.0)) + 2.0 * alone) / (n + 2.0)
    return np.where(alone > 0.0, alone / np.where(variance > 0.0, variance, 1.0), 1.0)


def _ratio(totals: np.ndarray, count: Any):
    """count / E; without any expected, inf where events happened, else nan."""
    observed, expected = totals[..., 1], totals[..., 2]
    return np.where(expected > 0.0, quotient(count, expected), np.where(observed > 0.0, np.inf, np.nan))


observed_expected_ratio: ObservedExpectedRatio = ObservedExpectedRatio()
