"""Tests that a mean of losses in [0, 1], of any independent rows, is at most a number: by bets, by Hoeffding's and Bentkus' bounds."""

import math
from typing import Any

import numpy as np
from scipy import special

from calibrant._kernels.binomial_tail import binomial_p_value

__all__ = ["betting_p_values", "hoeffding_bentkus"]

#: Stakes of the bets, as shares of the largest that cannot be ruined.
STAKES = np.geomspace(1e-3, 0.98, 48)
#: Sums of losses are rounded so far before the next whole number is taken, that .07 x 100 is 7 and not 8.
ROUNDING = 1e-9


def hoeffding_bentkus(total: Any, n: Any, risk: float) -> np.ndarray:
    r"""The smaller of :math:`\exp(-n\,kl(\hat r, \alpha))` and :math:`e\,P(Bin(n, \alpha) \le \lceil n \hat r \rceil)`, arrays."""
    total, n = np.asarray(total, dtype=np.float64), np.asarray(n, dtype=np.float64)
    bentkus = math.e * binomial_p_value(np.ceil(total - ROUNDING * np.maximum(n, 1.0)), n, risk)
    return np.minimum(np.minimum(np.exp(-n * _divergence(np.minimum(total / n, risk), risk)), bentkus), 1.0)


def betting_p_values(loss: np.ndarray, weight: np.ndarray, ends: np.ndarray, risk: float, delta: float) -> np.ndarray:
    r"""Of the first ``ends`` (m,) rows each, ascending: the inverse of the capital of bets that the mean loss is at most ``risk``.

    .. math:: 1 / \sum_\lambda \pi_\lambda \prod_i (1 + \lambda (\alpha - L_i)), \qquad 0 < \lambda < 1 / (1 - \alpha)

    The expected capital is at most 1 where every row's mean loss is at least ``risk``, whatever else its law; Markov's inequality does the
    rest. Half of it is on the stake that proves at ``delta`` with the most errors where all losses are 0 or 1, the rest evenly on higher
    ones, which gain more from losses that vary less. No row decides a stake, so the order of the rows does not matter.
    ``weight`` (n,) are repetitions.
    """
    starts, held = np.concatenate([[0], ends[:-1]]), slice(ends[-1])
    logs = np.empty((len(STAKES), len(ends)))
    for row, share in zip(logs, STAKES, strict=True):
        row[:] = np.cumsum(np.add.reduceat(weight[held] * np.log1p(share / (1.0 - risk) * (risk - loss[held])), starts))
    n = np.cumsum(np.add.reduceat(weight[held], starts))
    # The mean that Hoeffding's bound would just let pass, and the stake on it.
    mean = _largest_mean(n, risk, delta)
    first = np.clip(np.searchsorted(STAKES, (risk - mean) / risk), 0, len(STAKES) - 1)
    place = np.arange(len(STAKES))[:, None]
    prior = np.where(place >= first, 0.5 / (len(STAKES) - first), 0.0) + 0.5 * (place == first)
    with np.errstate(divide="ignore"):
        return np.minimum(np.exp(-np.logaddexp.reduce(logs + np.log(prior), axis=0)), 1.0)


def _divergence(mean: Any, risk: float) -> Any:
    """Of coins with these means, Kullback and Leibler's."""
    return special.rel_entr(mean, risk) + special.rel_entr(1.0 - mean, 1.0 - risk)


def _largest_mean(n: np.ndarray, risk: float, delta: float) -> np.ndarray:
    low, high = np.zeros_like(n), np.full_like(n, risk)
    for _ in range(40):
        middle = 0.5 * (low + high)
        passes = n * _divergence(middle, risk) >= -math.log(delta)
        low, high = np.where(passes, middle, low), np.where(passes, high, middle)
    return low
