"""What would be left of a score after perfect recalibration."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import special

from calibrant._kernels.bootstrap import bootstrap_totals, percentile_limits
from calibrant._kernels.pava import pool_ties, pooled_blocks
from calibrant._kernels.simulated_limits import draw_hits
from calibrant._support.options import require_option
from calibrant.contracts.by_options import by_options
from calibrant.contracts.metric import Interval
from calibrant.metrics.pair import PairMetric
from calibrant.metrics.probability.score_decomposition import corp

__all__ = ["RefinementError", "refinement_error"]


@dataclass(frozen=True, repr=False)
class RefinementError(PairMetric):
    r"""Score that is left when the probabilities are recalibrated by isotonic regression: uncertainty less discrimination.

    .. math:: S(\hat p) = \mathrm{UNC} - \mathrm{DSC}, \quad \hat p = \text{isotonic fit of the hits on the scores}

    Parameters
    ----------
    target : {"answer", "event"} or a class label, default "answer"
        Whose probability: the predicted label's against its being right, class 1's of two, or the named class's.
    score : {"brier", "log_loss"}
        The squared error (p - c)^2, or the log loss.

    See Also
    --------
    brier_decomposition, log_loss_decomposition : both parts of a score.

    Notes
    -----
    Use it to choose what to train, and let a calibrator take care of the rest. The fit is on the same rows, so it is a little too low
    in small samples, the more so the more distinct scores there are; the interval allows for that.

    References
    ----------
    Dimitriadis, Gneiting and Jordan, "Stable reliability diagrams for probabilistic classifiers", PNAS 2021; Berta et al., "Rethinking
    early stopping: refine, then calibrate", 2025.

    Examples
    --------
    >>> refinement_error([0, 1, 0, 1], [0.1, 0.2, 0.2, 0.3], target="event")
    0.125
    """

    target: Any = "answer"
    score: Literal["brier", "log_loss"] = "brier"

    name: ClassVar[str] = "refinement error"
    key: ClassVar[str] = "refinement_error"
    clustered: ClassVar[bool] = True
    estimand: ClassVar[str] = "score left after isotonic recalibration on ever more rows"
    #: It is not an error that chance inflates, so resampling serves.
    inverted: ClassVar[bool] = False
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def _exceptions(self) -> Mapping[str, str]:
        """Certain and wrong every time is as well refined, for the top label, as certain and right: recalibration mends it."""
        return {"perfect_is_best": "recalibration mends certain and wrong every time"} if self.target == "answer" else {}

    exceptions: ClassVar[Mapping[str, str]] = by_options(_exceptions)

    @classmethod
    def _examples(cls):
        return [cls(), cls(target="event", score="log_loss")]

    def _check(self):
        require_option("score", self.score, ("brier", "log_loss"))

    def _pair_value(self, score, hit, weight):
        _, _, discrimination, uncertainty = corp(score, hit, weight, self.score)
        return max(uncertainty - discrimination, 0.0)

    def _interval(self, record, level, method, n_resamples, random_state):
        found = super()._interval(record, level, method, n_resamples, random_state)
        if method != "auto":
            return found
        # How far a fit falls below its own truth: outcomes drawn from the fit, one row of the base rate joined to each of its levels.
        score, hit = record.pair(self.target)
        weight, rng = record.weights, np.random.default_rng([random_state, 2])
        fitted = _joined_fit(score, hit, weight)
        below = bootstrap_totals(weight, lambda times: self._shortfall(score, fitted, times, rng), n_resamples, random_state)
        low, high = percentile_limits(found.value + below, level)
        return Interval.holding(found.value, (max(min(low, found.low), 0.0), max(high, found.high)), level, "bootstrap", found.n)

    def _shortfall(self, score, fitted, times, rng):
        """The score that the fit would have for good, less that of a new fit to outcomes drawn from it, on so many of each row."""
        kept = times > 0.0
        score, fitted, times = score[kept], fitted[kept], times[kept]
        entropy = special.entr(fitted) + special.entr(1.0 - fitted) if self.score == "log_loss" else fitted * (1.0 - fitted)
        return float(times @ entropy / times.sum()) - self._pair_value(score, draw_hits(fitted, times, rng), times)


def _joined_fit(score, hit, weight):
    """The isotonic fit at each row, a row of the base rate joined to each of its levels, (n,)."""
    unique, mass, mean = pool_ties(score, hit, weight)
    first, last, value, _ = pooled_blocks(mean, mass)
    level = np.repeat(np.arange(len(value)), last - first + 1)
    rows = np.bincount(level, weights=mass)
    joined = (value * rows + weight @ hit / weight.sum()) / (rows + 1.0)
    return joined[level][np.searchsorted(unique, score)]


refinement_error: RefinementError = RefinementError()
