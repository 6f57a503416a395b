"""Order-preserving maps of log-probabilities: piecewise-linear, one for the lead of the top entry
and one for the others.

With knots k_1 < ... < k_M and slopes s_0..s_M the function G has slope s_m between k_m and k_{m+1}
and is 0 at k_1. Row z goes to u_j = G_rest(z_j) for all but the top entry, and to G_rest(z_2) +
G_top(z_1) - G_top(z_2) for that, z_1 and z_2 being the two largest. Positive slopes keep the order
within a row, and u is linear in the slopes.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._numerics.logistic import logistic_derivatives
from calibrant._numerics.threads import map_blocks, row_blocks

__all__ = ["order_preserving_logits", "slope_objective", "slope_rows"]

BLOCK_ENTRIES = 32_768


def order_preserving_logits(slopes: np.ndarray, knots: np.ndarray, z: np.ndarray) -> np.ndarray:
    """u for slopes (2, M + 1), the top's and the others', and z (n, K) -> (n, K)."""
    top, rows, first, second = _leaders(z)
    moved = z.copy(order="K")
    moved[rows, top] = second
    # Class by class where z is: no array is turned round.
    moved = moved if moved.flags.c_contiguous else moved.T
    out = _integrate(slopes[1], knots, moved, _buckets(knots, moved))
    out = out if z.flags.c_contiguous else out.T
    lead = [_integrate(slopes[0], knots, t, _buckets(knots, t)) for t in (first, second)]
    out[rows, top] += lead[0] - lead[1]
    return out


def slope_rows(z: np.ndarray, labels: np.ndarray, weight: np.ndarray, knots: np.ndarray) -> Any:
    """Return the parts of :func:`slope_objective` that do not depend on the slopes."""
    weight = weight / weight.sum()
    if z.shape[1] == 2:
        return [_Leads.of(z, labels, weight, knots)]
    return [
        _Block.of(z[rows], labels[rows], weight[rows], knots)
        for rows in row_blocks(len(z), max(BLOCK_ENTRIES // z.shape[1], 1))
    ]


def slope_objective(rows: Any, knots: np.ndarray, ridge: float) -> Any:
    """``evaluate(slopes flat) -> (value, gradient, hessian)`` of the mean log loss plus ridge
    |slopes - 1|^2.
    """

    def evaluate(flat: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        parts = map_blocks(lambda block: block.derivatives(flat.reshape(2, -1), knots), rows)
        value, gradient, hessian = (sum(part[i] for part in parts) for i in range(3))
        away = flat - 1.0
        return (
            float(value + ridge * away @ away),
            gradient + 2.0 * ridge * away,
            hessian + 2.0 * ridge * np.eye(len(flat)),
        )

    return evaluate


@dataclass(frozen=True)
class _Leads:
    """Rows of two classes, where only the lead of the top entry counts: a logistic regression of
    the top entry's being right.
    """

    lead: np.ndarray
    hit: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(
        cls, z: np.ndarray, labels: np.ndarray, weight: np.ndarray, knots: np.ndarray
    ) -> "_Leads":
        top, _, first, second = _leaders(z)
        return cls(
            _features(first, knots) - _features(second, knots),
            (labels == top).astype(np.float64),
            weight,
        )

    def derivatives(
        self, slopes: np.ndarray, knots: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """(value, gradient, hessian) of the rows' mean log loss."""
        m = len(knots) + 1
        loss, slope, curvature = logistic_derivatives(slopes[0], self.lead, self.hit, self.weight)
        return loss, np.append(slope, np.zeros(m)), np.pad(curvature, (0, m))


@dataclass(frozen=True)
class _Block:
    """Some rows, laid out class by class: what does not change with the slopes.

    A logit is (lead of the top entry) @ (slopes of the top) + (features) @ (slopes of the others);
    the features of an entry, its derivative in each slope, are those of its segment and the widths
    of the segments that it has crossed.
    """

    moved: np.ndarray
    segment: np.ndarray
    cell: np.ndarray
    into: np.ndarray
    lead: np.ndarray
    second: np.ndarray
    observed: np.ndarray
    top: np.ndarray
    hit: np.ndarray
    labels: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(
        cls, z: np.ndarray, labels: np.ndarray, weight: np.ndarray, knots: np.ndarray
    ) -> "_Block":
        top, rows, first, second = _leaders(z)
        moved = np.array(z.T, order="C")
        moved[top, rows] = second
        segment = _buckets(knots, moved)
        features = [_features(t, knots) for t in (first, second, moved[labels, rows])]
        into = moved - _anchors(knots)[segment]
        cell = segment * len(z) + rows
        return cls(
            moved,
            segment,
            cell,
            into,
            features[0] - features[1],
            features[1],
            features[2],
            top,
            labels == top,
            labels,
            weight,
        )

    def derivatives(
        self, slopes: np.ndarray, knots: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """(value, gradient, hessian) of the rows' share of the mean log loss."""
        w, rows = self.weight, np.arange(len(self.weight))
        u = _integrate(slopes[1], knots, self.moved, self.segment)
        u[self.top, rows] += self.lead @ slopes[0]
        u -= u[self.top, rows]
        label_score = u[self.labels, rows]
        np.exp(u, out=u)
        total = u.sum(axis=0)
        u /= total
        first = u[self.top, rows]
        mean, spread = self._moments(u, knots)
        gradient = np.concatenate(
            [(w * (first - self.hit)) @ self.lead, w @ (mean - self.observed)]
        )
        centre = np.concatenate([first[:, None] * self.lead, mean], axis=1)
        hessian = -(centre.T @ (w[:, None] * centre))
        m, led = len(knots) + 1, (w * first)[:, None] * self.lead
        hessian[:m, :m] += led.T @ self.lead
        cross = led.T @ self.second
        hessian[:m, m:] += cross
        hessian[m:, :m] += cross.T
        hessian[m:, m:] += spread
        return w @ (np.log(total) - label_score), gradient, hessian

    def _moments(self, P: np.ndarray, knots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Each row's mean features under P, (n, M + 1), and the weighted sum of their second
        moments, (M + 1, M + 1).
        """
        m, n = len(knots) + 1, P.shape[1]
        cell, width = self.cell.ravel(), np.concatenate([[0.0], np.diff(knots), [0.0]])
        mass = np.bincount(cell, P.ravel(), m * n).reshape(m, n)
        P *= self.into
        partial = np.bincount(cell, P.ravel(), m * n).reshape(m, n)
        P *= self.into
        square = np.bincount(self.segment.ravel(), (P * self.weight).ravel(), m)
        # Entries beyond a segment have crossed the whole of it.
        beyond = np.vstack([np.cumsum(mass[::-1], axis=0)[::-1][1:], np.zeros(n)])
        mean = partial + width[:, None] * beyond
        sums = mean @ self.weight
        spread = np.triu(width[:, None] * sums, 1)
        return mean.T, spread + spread.T + np.diag(square + width**2 * (beyond @ self.weight))


def _leaders(z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rows = np.arange(len(z))
    top = z.argmax(axis=1)
    others = z.copy(order="K")
    others[rows, top] = -np.inf
    return top, rows, z[rows, top], others.max(axis=1)


def _buckets(knots: np.ndarray, t: np.ndarray) -> np.ndarray:
    """The segment that each t lies in, 0..M: a comparison for each of the few knots is ten times
    quicker than a search.
    """
    out = np.zeros(t.shape, dtype=np.int8)
    for knot in knots:
        out += t >= knot
    return out.astype(np.intp)


def _anchors(knots: np.ndarray) -> np.ndarray:
    """Where each segment's own feature is 0: its lower end, and k_1 for the first."""
    return knots[np.maximum(np.arange(len(knots) + 1) - 1, 0)]


def _features(t: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """dG(t)/ds_m, (n,) -> (n, M + 1)."""
    crossed = np.clip(t[:, None], knots[:-1], knots[1:]) - knots[:-1]
    return np.column_stack([np.minimum(t - knots[0], 0.0), crossed, np.maximum(t - knots[-1], 0.0)])


def _integrate(
    slopes: np.ndarray, knots: np.ndarray, t: np.ndarray, bucket: np.ndarray
) -> np.ndarray:
    """G(t): slope by slope from k_1; t lies in segment ``bucket``."""
    starts = np.concatenate([[0.0, 0.0], np.cumsum(slopes[1:-1] * np.diff(knots))])
    # G(t) = offset + slope * t within a segment.
    offsets = starts - slopes * _anchors(knots)
    out = slopes[bucket]
    out *= t
    out += offsets[bucket]
    return out
