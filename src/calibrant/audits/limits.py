"""Simultaneous intervals of the gaps of all groups: the shifts that the test of a group would not
reject.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._numerics.clusters import membership
from calibrant._numerics.logistic import sigmoid
from calibrant._numerics.newton import bisected
from calibrant.audits.levels import Family
from calibrant.audits.sample import Sample, ScoreSample

__all__ = ["Totals", "gap_limits", "matched_variance", "parted"]


@dataclass(frozen=True)
class Totals:
    """Sums by group and question, (G, q) each, and (G, q, S) by part of the predictions.

    ``n`` is the weight, ``said`` the predicted and ``came`` the observed sum; ``variance`` under
    the strong null; ``score`` the squared error beyond its expectation; ``impossible`` the rows
    with an outcome of probability 0.
    """

    n: np.ndarray
    said: np.ndarray
    came: np.ndarray
    variance: np.ndarray
    score: np.ndarray
    impossible: np.ndarray
    parts_n: np.ndarray
    parts_said: np.ndarray
    parts_off: np.ndarray
    parts_variance: np.ndarray

    @classmethod
    def of(cls, sample: Sample, family: Family, place: np.ndarray, n_parts: int) -> "Totals":
        """Sum over all groups of a family; ``place`` (u, q) is the part of the predictions."""
        w, said, came, variance = sample.weight[:, None], sample.said, sample.came, sample.variance
        if isinstance(sample, ScoreSample):
            square, impossible = 0.0 * said, 0.0 * said
        else:
            square = came - 2.0 * said * came + said * said - variance
            impossible = np.where(said <= 0.0, came, 0.0) + np.where(said >= 1.0, 1.0 - came, 0.0)
        sums = [
            np.asarray(family.matrix @ (w * one))
            for one in (np.ones_like(said), said, came, variance, square, impossible)
        ]
        parts = list[np.ndarray]()
        for one in (np.ones_like(said), said, came - said, variance):
            columns = [
                parted(family, place[:, q], n_parts) @ (w[:, 0] * one[:, q])
                for q in range(said.shape[1])
            ]
            parts.append(
                np.stack([column.reshape(len(family), n_parts) for column in columns], axis=1)
            )
        return cls(*sums, *parts)


def parted(family: Family, place: np.ndarray, n_parts: int) -> Any:
    """Return a sparse (G x parts, u) membership matrix of group and part."""
    found = family.matrix.tocoo()
    row = found.row.astype(np.int64) * n_parts + place[found.col]
    return membership(row, found.col, (len(family) * n_parts, len(place)), found.data)


#: Largest shift of the log-odds, and the number of bisections.
FARTHEST, HALVINGS = 40.0, 50


def gap_limits(
    sample: Sample, totals: Totals, spread: np.ndarray, critical: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (low, high), (G, q) each, of the mean predicted minus the mean observed value; nan for
    groups without rows.

    For outcomes and classes the log-odds of the probabilities are shifted together until their sum
    is ``critical`` (G, q) standard deviations from the observed one: the ends are then possible
    values, and useful without an event. ``spread`` (G, q) is the standard deviation of the sums of
    errors.
    """
    n = np.where(totals.n > 0.0, totals.n, np.nan)
    if isinstance(sample, ScoreSample):
        gap = (totals.said - totals.came) / n
        reach = critical * spread / n
        return gap - reach, gap + reach
    odds, inner = _odds(totals)
    own = _variance(totals, inner)
    # The errors may vary more than independent rows would (clusters), or less (parts of one mean
    # contain several probabilities).
    factor = np.where(
        (own > 0.0) & (spread > 0.0), spread / np.sqrt(np.where(own > 0.0, own, 1.0)), 1.0
    )

    mean = totals.said / n
    low, high = (
        (totals.parts_n * _shifted(totals, odds, sign * critical * factor)).sum(axis=-1) / n
        for sign in (-1.0, 1.0)
    )
    return mean - low, mean - high


def matched_variance(sample: Sample, totals: Totals) -> np.ndarray:
    """Return (G, q) the variance of the sum of errors of risks whose log-odds are shifted until
    their sum is the observed one; for scores that of the null.
    """
    if isinstance(sample, ScoreSample):
        return totals.variance
    return _variance(totals, _shifted(totals, _odds(totals)[0], np.zeros(totals.n.shape)))


def _shifted(totals: Totals, odds: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """Return (G, q, parts) risks with log-odds shifted together until their sum plus ``reach`` (G,
    q) standard deviations of it is the observed one.
    """

    def below(shift: np.ndarray) -> np.ndarray:
        p = sigmoid(odds + shift[..., None])
        most = (totals.parts_n * p).sum(axis=-1) + reach * np.sqrt(_variance(totals, p))
        return ~(most > totals.came)

    far = np.full(totals.n.shape, FARTHEST)
    low, high = bisected(below, -far, far, HALVINGS)
    return sigmoid(odds + (0.5 * (low + high))[..., None])


def _variance(totals: Totals, p: np.ndarray) -> np.ndarray:
    """Return (G, q) the variance of the sum of independent outcomes with these risks."""
    return (totals.parts_n * p * (1.0 - p)).sum(axis=-1)


def _odds(totals: Totals) -> tuple[np.ndarray, np.ndarray]:
    """Return (log-odds of the mean risk of each part, that mean inside 0 and 1)."""
    said = np.where(
        totals.parts_n > 0.0,
        totals.parts_said / np.where(totals.parts_n > 0.0, totals.parts_n, 1.0),
        0.5,
    )
    inner = np.clip(said, 1e-12, 1.0 - 1e-12)
    return np.log(inner) - np.log1p(-inner), inner
