"""Intervals of the gaps of all groups, which hold together: the shifts that the test of a group
would not refuse.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._kernels.groups import membership
from calibrant._kernels.logistic import sigmoid
from calibrant._kernels.newton import bisected
from calibrant.audits.levels import Family
from calibrant.audits.sample import Sample, ScoreSample

__all__ = ["Totals", "gap_limits", "matched_variance", "parted"]


@dataclass(frozen=True)
class Totals:
    """Sums by group and question, (G, q) each, and (G, q, S) by part of what was said.

    ``n`` of the weight, ``said`` and ``came``; ``variance`` under the strong null; ``score`` of the
    squared error beyond the one promised; ``impossible``: rows of what was said to be impossible.
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
        """Of all groups of a family; ``place`` (u, q) is the part of what was said."""
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
    """Sparse (G x parts, u): who is in which group and part."""
    found = family.matrix.tocoo()
    row = found.row.astype(np.int64) * n_parts + place[found.col]
    return membership(row, found.col, (len(family) * n_parts, len(place)), found.data)


#: The farthest shift of the log-odds, and the halvings of it.
FARTHEST, HALVINGS = 40.0, 50


def gap_limits(
    sample: Sample, totals: Totals, spread: np.ndarray, critical: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(low, high), (G, q) each, of what was said above what came, on average; nan of groups without
    rows.

    Of outcomes and classes the probabilities are shifted in the log-odds, all by as much, until
    their sum is ``critical`` (G, q) deviations from what came: an end is inside what is possible,
    and of use without an event. ``spread`` (G, q) is the deviation of the sums of errors.
    """
    n = np.where(totals.n > 0.0, totals.n, np.nan)
    if isinstance(sample, ScoreSample):
        gap = (totals.said - totals.came) / n
        reach = critical * spread / n
        return gap - reach, gap + reach
    odds, inner = _odds(totals)
    own = _variance(totals, inner)
    # The errors may vary more than independent rows would (clusters), or less (parts of one mean
    # are of several probabilities).
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
    """(G, q) variance of the sum of errors of risks that are shifted in the log-odds until their
    sum is what came; of scores the null's.
    """
    if isinstance(sample, ScoreSample):
        return totals.variance
    return _variance(totals, _shifted(totals, _odds(totals)[0], np.zeros(totals.n.shape)))


def _shifted(totals: Totals, odds: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """(G, q, parts) risks shifted in the log-odds, all by as much, until their sum and ``reach``
    (G, q) deviations of it are what came.
    """

    def below(shift: np.ndarray) -> np.ndarray:
        p = sigmoid(odds + shift[..., None])
        most = (totals.parts_n * p).sum(axis=-1) + reach * np.sqrt(_variance(totals, p))
        return ~(most > totals.came)

    far = np.full(totals.n.shape, FARTHEST)
    low, high = bisected(below, -far, far, HALVINGS)
    return sigmoid(odds + (0.5 * (low + high))[..., None])


def _variance(totals: Totals, p: np.ndarray) -> np.ndarray:
    """(G, q) variance of the sum of independent outcomes of these risks."""
    return (totals.parts_n * p * (1.0 - p)).sum(axis=-1)


def _odds(totals: Totals) -> tuple[np.ndarray, np.ndarray]:
    """(log-odds of the mean risk of each part, that mean inside 0 and 1)."""
    said = np.where(
        totals.parts_n > 0.0,
        totals.parts_said / np.where(totals.parts_n > 0.0, totals.parts_n, 1.0),
        0.5,
    )
    inner = np.clip(said, 1e-12, 1.0 - 1e-12)
    return np.log(inner) - np.log1p(-inner), inner
