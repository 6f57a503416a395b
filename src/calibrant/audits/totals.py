"""Sums by group, by question, and by part of what was said."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._kernels.groups import membership
from calibrant.audits.levels import Family
from calibrant.audits.sample import Sample, ScoreSample

__all__ = ["Totals", "parted"]


@dataclass(frozen=True)
class Totals:
    """Sums by group and question, (G, q) each, and (G, q, S) by part of what was said.

    ``n`` of the weight, ``said`` and ``came``; ``variance`` under the strong null; ``score`` of the squared error beyond the one promised;
    ``impossible``: rows of what was said to be impossible.
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
        sums = [np.asarray(family.matrix @ (w * one)) for one in (np.ones_like(said), said, came, variance, square, impossible)]
        parts = list[np.ndarray]()
        for one in (np.ones_like(said), said, came - said, variance):
            columns = [parted(family, place[:, q], n_parts) @ (w[:, 0] * one[:, q]) for q in range(said.shape[1])]
            parts.append(np.stack([column.reshape(len(family), n_parts) for column in columns], axis=1))
        return cls(*sums, *parts)


def parted(family: Family, place: np.ndarray, n_parts: int) -> Any:
    """Sparse (G x parts, u): who is in which group and part."""
    found = family.matrix.tocoo()
    row = found.row.astype(np.int64) * n_parts + place[found.col]
    return membership(row, found.col, (len(family) * n_parts, len(place)), found.data)
