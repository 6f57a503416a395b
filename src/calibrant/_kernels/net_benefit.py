"""Net benefit: what acting on a risk gains, in true positives, when a false one costs the odds of the threshold."""

from typing import Any

import numpy as np

from calibrant._kernels.intervals import rate_interval
from calibrant._kernels.mover import minus, multinomial_correlation, sum_limits

__all__ = ["net_benefit", "net_benefit_interval"]


def net_benefit(true_positives: Any, false_positives: Any, n: Any, threshold: Any) -> Any:
    """TP / n - FP / n * t / (1 - t), numbers or arrays; thresholds in [0, 1).

    Shares stand in for counts with n = 1: sensitivity * prevalence and false positive rate * (1 - prevalence) for case-control data.
    Acting on all is (events, the others, n, t), on none 0.
    """
    return (true_positives - false_positives * (threshold / (1.0 - threshold))) / n


def net_benefit_interval(
    true: Any, false: Any, events: Any, others: Any, threshold: Any, level: float, *, prevalence: float | None = None,
    standardised: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """(value, low, high) arrays, from weights of events and of others flagged (T,) and in all.

    Rows are drawn at random, or events and others each by themselves where a prevalence is given. The limits of the two shares (exact
    where few rows count, Wilson's elsewhere) are joined, so that the interval has width where nobody, or everybody, is flagged.
    ``standardised`` divides by the prevalence.
    """
    n, odds = events + others, threshold / (1.0 - threshold)
    if prevalence is not None:
        unit = prevalence if standardised else 1.0
        gain = [prevalence / unit * share for share in _share(true, events, level)]
        harm = [(1.0 - prevalence) / unit * share for share in _share(false, others, level)]
        value = net_benefit(gain[0], harm[0], 1.0, threshold)
        correlation = 0.0
    elif standardised:
        # Given the number of events, which of them and how many others are flagged is independent; false / events is a share's odds.
        gain = _share(true, events, level)
        harm = [share / (1.0 - share) for share in _share(false, false + events, level)]
        value, correlation = net_benefit(true, false, events, threshold), 0.0
    else:
        gain, harm = _share(true, n, level), _share(false, n, level)
        value, correlation = net_benefit(true, false, n, threshold), -multinomial_correlation(gain[0], harm[0])
    low, high = sum_limits(gain, minus(harm, odds), correlation)
    return value, np.minimum(low, value), np.maximum(high, value)


def _share(part: np.ndarray, whole: Any, level: float):
    return part / whole, *rate_interval(part, whole, level)
