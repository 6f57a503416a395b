"""Intervals of the gaps of all groups, which hold together: the shifts that the test of a group would not refuse."""

import numpy as np

from calibrant._kernels.logistic import sigmoid
from calibrant.audits.sample import Sample, ScoreSample
from calibrant.audits.totals import Totals

__all__ = ["gap_limits", "matched_variance"]

#: The farthest shift of the log-odds, and the halvings of it.
FARTHEST, HALVINGS = 40.0, 50


def gap_limits(sample: Sample, totals: Totals, spread: np.ndarray, critical: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(low, high), (G, q) each, of what was said above what came, on average; nan of groups without rows.

    Of outcomes and classes the probabilities are shifted in the log-odds, all by as much, until their sum is ``critical`` (G, q)
    deviations from what came: an end is inside what is possible, and of use without an event. ``spread`` (G, q) is the deviation of the
    sums of errors.
    """
    n = np.where(totals.n > 0.0, totals.n, np.nan)
    if isinstance(sample, ScoreSample):
        gap = (totals.said - totals.came) / n
        reach = critical * spread / n
        return gap - reach, gap + reach
    odds, inner = _odds(totals)
    own = _variance(totals, inner)
    # The errors may vary more than independent rows would (clusters), or less (parts of one mean are of several probabilities).
    factor = np.where((own > 0.0) & (spread > 0.0), spread / np.sqrt(np.where(own > 0.0, own, 1.0)), 1.0)

    mean = totals.said / n
    low, high = ((totals.parts_n * _shifted(totals, odds, sign * critical * factor)).sum(axis=-1) / n for sign in (-1.0, 1.0))
    return mean - low, mean - high


def matched_variance(sample: Sample, totals: Totals) -> np.ndarray:
    """(G, q) variance of the sum of errors of risks that are shifted in the log-odds until their sum is what came; of scores the null's."""
    if isinstance(sample, ScoreSample):
        return totals.variance
    return _variance(totals, _shifted(totals, _odds(totals)[0], np.zeros(totals.n.shape)))


def _shifted(totals: Totals, odds: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """(G, q, parts) risks shifted in the log-odds, all by as much, until their sum and ``reach`` (G, q) deviations of it are what came."""
    low, high = np.full(totals.n.shape, -FARTHEST), np.full(totals.n.shape, FARTHEST)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        p = sigmoid(odds + middle[..., None])
        above = (totals.parts_n * p).sum(axis=-1) + reach * np.sqrt(_variance(totals, p)) > totals.came
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return sigmoid(odds + (0.5 * (low + high))[..., None])


def _variance(totals: Totals, p: np.ndarray) -> np.ndarray:
    """(G, q) variance of the sum of independent outcomes of these risks."""
    return (totals.parts_n * p * (1.0 - p)).sum(axis=-1)


def _odds(totals: Totals) -> tuple[np.ndarray, np.ndarray]:
    """(log-odds of the mean risk of each part, that mean inside 0 and 1)."""
    said = np.where(totals.parts_n > 0.0, totals.parts_said / np.where(totals.parts_n > 0.0, totals.parts_n, 1.0), 0.5)
    inner = np.clip(said, 1e-12, 1.0 - 1e-12)
    return np.log(inner) - np.log1p(-inner), inner
