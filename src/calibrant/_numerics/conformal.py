"""Ranks, limits and parameters of conformal prediction, of fixed rows and of rows that arrive one
after the other.

- The order statistic of split conformal prediction, from scores that may stand for many rows.
- Order statistics of each row's own scores, and the cost of the folds of a cross-conformal method
  in coverage.
- Conformal risk control: the least parameter at which a summed loss that only falls is small
  enough.
- The limit of a new row's score by a quantile regression that counts the row itself, one small
  linear program a row.
- The probability of the classes that are more likely than a given one; classes of equal probability
  are tied. Probabilities are first rounded to whole multiples of 2^-50, so that every sum of them
  is exact: it comes out the same in whatever order it is taken, for one class or for all, and in
  any order of the columns.
- For a stream: sorted windows, weights of experts, and the feedback that keeps the share of misses
  at its level.
"""

import math
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

__all__ = [
    "conditional_limits",
    "conformal_rank",
    "cumulated",
    "feedback",
    "hedge_weights",
    "ideal_worst_window",
    "least_parameter",
    "mass_of_all",
    "mass_of_labels",
    "on_grid",
    "order_statistic",
    "pinball",
    "plus_promise",
    "rank_within",
    "replace_sorted",
    "row_statistics",
    "rows_needed",
    "saturation",
    "shares",
    "within_mass",
    "worst_window",
]


#: What rounding may add to a whole number.
ROUNDING = 1e-12


def conformal_rank(n: ArrayLike, level: ArrayLike) -> Any:
    """ceil((n + 1) level), where rounding does not push a whole number up to the next."""
    return np.ceil((np.asarray(n) + 1.0) * np.asarray(level) * (1.0 - ROUNDING))


def rows_needed(level: float) -> int:
    """The smallest n whose rank at the level is one of the n scores."""
    return max(1, int(np.ceil(level / (1.0 - level) * (1.0 - 1e3 * ROUNDING))))


def order_statistic(
    scores: np.ndarray,
    mass: np.ndarray,
    level: ArrayLike,
    *,
    shares: bool = False,
    new_mass: Any = 1.0,
) -> Any:
    """The ceil((n + 1) level)-th smallest of ascending scores, ``mass`` their cumulated numbers of
    rows; infinite where n is too small.

    With ``shares`` the masses are parts of clusters, n of them, or weights, and the least score is
    taken that has (n + own) level of it at or below, ``new_mass`` the mass of the new row.
    """
    total = mass[-1] if len(mass) else 0.0
    rank = (
        (total + new_mass) * np.asarray(level) * (1.0 - ROUNDING)
        if shares
        else conformal_rank(total, level)
    )
    position = np.searchsorted(mass, rank, side="left")
    return np.append(scores, np.inf)[position]


def cumulated(scores: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(distinct scores, ascending; the weight of all rows at or below each)."""
    values, inverse = np.unique(scores, return_inverse=True)
    return values, np.cumsum(np.bincount(inverse, weights=weight))


def shares(weight: np.ndarray, cluster: np.ndarray | None) -> np.ndarray:
    """Mass of each row: its weight, or its share of its cluster, (n,) numbers from 0."""
    return weight if cluster is None else weight / np.bincount(cluster, weights=weight)[cluster]


def row_statistics(values: np.ndarray, weight: np.ndarray, level: float) -> np.ndarray:
    """(m,) the least value of each row of (m, n) with (n + 1) level of the weight at or below
    it, n all the weight; infinite where none.
    """
    total = weight.sum()
    if (weight == 1.0).all():
        rank = int(conformal_rank(len(weight), level))
        return (
            np.partition(values, rank - 1, axis=1)[:, rank - 1]
            if rank <= len(weight)
            else np.full(len(values), np.inf)
        )
    order = np.argsort(values, axis=1)
    mass = np.cumsum(weight[order], axis=1)
    # Rounding must not keep the sum of all weights below itself.
    mass[:, -1] = total
    reached = mass >= (total + 1.0) * level * (1.0 - ROUNDING)
    statistic = np.take_along_axis(
        values, np.take_along_axis(order, reached.argmax(axis=1)[:, None], 1), 1
    )[:, 0]
    return np.where(reached.any(axis=1), statistic, np.inf)


def plus_promise(level: float, sizes: np.ndarray) -> float:
    """Guaranteed coverage of jackknife+ (folds of one) or CV+ at a level, from the numbers of rows
    in each fold.

    1 - 2 alpha, less 2 (1 - 1/m) / (n/m + 1) of m folds, or less (1 - m/n) / (m + 1) where that is
    smaller and the folds are equal.
    """
    m, n = len(sizes), float(np.sum(sizes))
    extra = 2.0 * (m - 1.0) / (n + m)
    if (sizes == sizes[0]).all():
        extra = min(extra, (1.0 - m / n) / (m + 1.0))
    return max(0.0, 2.0 * level - 1.0 - extra)


def least_parameter(
    parameter: np.ndarray, drop: np.ndarray, total: float, n: float, risk: float
) -> tuple[float, float]:
    """(the least parameter, the summed loss there), where each ``parameter`` (m,) takes its
    ``drop`` (m,) off the loss ``total``.

    -inf where the loss is small enough from the start, nan where it never is.
    """
    order = np.argsort(parameter, kind="stable")
    values, last = np.unique(parameter[order], return_index=True)
    ends = np.append(last[1:], len(order)) - 1
    left = np.maximum(total - np.cumsum(drop[order])[ends], 0.0) if len(order) else np.zeros(0)
    # n R + B is compared with (n + 1) risk; a sum of parts that add up to a whole number is off by
    # its rounding.
    limit = (n + 1.0) * risk + 1e-9
    if total + 1.0 <= limit:
        return -np.inf, total
    passes = np.flatnonzero(left + 1.0 <= limit)
    return (float(values[passes[0]]), float(left[passes[0]])) if len(passes) else (np.nan, 0.0)


#: Keeps a dual variable off its bound, so that the least of several limits is found; changes the
#: missed share by a millionth.
OFF_BOUND = 1e-6
#: Rows near the fit in the first program of a row, per column of the features and in addition.
NEAR, BESIDES = 20, 50
#: Rows of the first overall fit; with more, an evenly spaced subset.
FIRST = 2_000
#: Relative rounding error of a limit.
SOLVED = 1e-9


def conditional_limits(
    points: np.ndarray,
    scores: np.ndarray,
    weight: np.ndarray,
    new: np.ndarray,
    level: float,
    u: np.ndarray | None = None,
) -> np.ndarray:
    r"""(m,) the largest score of each new row that keeps its dual variable below the bound;
    infinite where nothing bounds it.

    The dual of the regression of n + 1 scores at the level is :math:`\max \sum_i \eta_i s_i` with
    :math:`\sum_i \eta_i \phi_i = 0` and
    :math:`(\text{level} - 1) w_i \le \eta_i \le \text{level}\, w_i`. That of the new row rises with
    its score; where it is h, the score is the slope of the others' optimum: :math:`\phi^T \beta` of
    the regression of n scores with :math:`-h\,\phi^T \beta` added.

    Parameters
    ----------
    points, scores, weight : (n, d), (n,) and (n,) of the calibration rows
    new : (m, d) of the new rows
    u : (m,) draws in (0, 1), optional
        h is u - (1 - level); None: the bound, ``level``.
    """
    scale = np.abs(points).max(axis=0, initial=0.0)
    scale[scale == 0.0] = 1.0
    points, new = points / scale, new / scale
    h = np.full(len(new), level - OFF_BOUND) if u is None else u - (1.0 - level)
    fit = _Regression(points, scores, weight, level)
    rows, place = np.unique(np.column_stack([new, h]), axis=0, return_inverse=True)
    return np.array([fit.limit(row[:-1], float(row[-1])) for row in rows]).reshape(-1)[
        place.ravel()
    ]


class _Regression:
    """The regression of the calibration rows, close to that with one additional row."""

    def __init__(
        self, points: np.ndarray, scores: np.ndarray, weight: np.ndarray, level: float
    ) -> None:
        self.points, self.scores, self.weight, self.level = points, scores, weight, level
        some, none = slice(None, None, 1 + len(points) // FIRST), np.zeros(points.shape[1])
        start = _solved(points[some], scores[some], weight[some], none, level)
        self._order_by(none if start is None else start)
        if len(points) > FIRST and (start := self.coefficients(none)) is not None:
            self._order_by(start)

    def limit(self, phi: np.ndarray, h: float) -> float:
        """The score of one new row at which its dual variable is h."""
        beta = self.coefficients(-h * phi)
        if beta is None:
            return np.inf if h > 0.0 else -np.inf
        limit = float(phi @ beta)
        return limit + SOLVED * max(1.0, abs(limit))

    def coefficients(self, total: np.ndarray) -> np.ndarray | None:
        """(d,) where the duals times the points sum to ``total``: with rows near the fit, until the
        others satisfy their bounds.
        """
        size = NEAR * len(total) + BESIDES
        while True:
            left = total - self.bound[size:] @ self.points[size:]
            beta = _solved(
                self.points[:size], self.scores[:size], self.weight[:size], left, self.level
            )
            if size >= len(self.points) or (beta is not None and self._signs_hold(size, beta)):
                return beta
            size *= 4

    def _order_by(self, beta: np.ndarray) -> None:
        order = np.argsort(np.abs(self.scores - self.points @ beta), kind="stable")
        self.points, self.scores, self.weight = (
            self.points[order],
            self.scores[order],
            self.weight[order],
        )
        self.bound = (
            np.where(self.scores > self.points @ beta, self.level, self.level - 1.0) * self.weight
        )

    def _signs_hold(self, size: int, beta: np.ndarray) -> bool:
        return bool(
            (np.sign(self.bound[size:]) * (self.scores[size:] - self.points[size:] @ beta)).min()
            >= 0.0
        )


def _solved(
    points: np.ndarray, scores: np.ndarray, weight: np.ndarray, total: np.ndarray, level: float
) -> np.ndarray | None:
    """(d,) the coefficients of the regression whose duals, times the points, sum to ``total``;
    None where none do.
    """
    bounds = np.column_stack([(level - 1.0) * weight, level * weight])
    solution = scipy.optimize.linprog(
        -scores, A_eq=points.T, b_eq=total, bounds=bounds, method="highs-ds"
    )
    return -solution.eqlin.marginals if solution.status == 0 else None


def on_grid(P: np.ndarray) -> np.ndarray:
    """Probabilities as whole multiples of 2^-50."""
    return (P + 4.0) - 4.0


def mass_of_labels(P: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For one class per row: (mass of more likely classes, mass of it and its ties, number at least
    as likely), (n,) each.
    """
    p = P[np.arange(len(P)), labels]
    more = p[:, None] < P
    equal = np.count_nonzero(p[:, None] == P, axis=1)
    return np.einsum("ij,ij->i", more, P), equal * p, np.count_nonzero(more, axis=1) + equal


def mass_of_all(P: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same for every class of each row, (n, K) each."""
    n, n_classes = P.shape
    order = np.argsort(-P, axis=1)
    ranked = np.take_along_axis(P, order, axis=1)
    total, place = np.cumsum(ranked, axis=1), np.arange(n_classes)
    fresh = np.ones((n, n_classes + 1), dtype=bool)
    fresh[:, 1:-1] = ranked[:, 1:] != ranked[:, :-1]
    first = np.maximum.accumulate(np.where(fresh[:, :-1], place, 0), axis=1)
    last = np.minimum.accumulate(np.where(fresh[:, 1:], place, n_classes)[:, ::-1], axis=1)[:, ::-1]
    above = np.take_along_axis(total - ranked, first, axis=1)
    parts = above, np.take_along_axis(total, last, axis=1) - above, last + 1
    back = np.empty_like(order)
    np.put_along_axis(back, order, place[None, :], axis=1)
    above, tied, rank = (np.take_along_axis(part, back, axis=1) for part in parts)
    return above, tied, rank


def within_mass(
    P: np.ndarray, u: np.ndarray, limit: np.ndarray, penalty: float = 0.0, free: int = 0
) -> np.ndarray:
    """(n, K), whether mass above + u (mass of the equals) + penalty max(0, rank - free) is at most
    the limit, one a row, (n,) each.

    It rises with the rank, so that the classes within are the most likely ones down to some
    probability: to find it takes no more than sorted rows, whatever the order of the columns.
    """
    n, n_classes = P.shape
    ranked = np.sort(P, axis=1)[:, ::-1]
    score = np.cumsum(ranked, axis=1)
    score -= ranked
    score += u[:, None] * ranked
    if penalty > 0.0:
        score += penalty * np.maximum(np.arange(1, n_classes + 1) - free, 0)
    count, rows = np.count_nonzero(score <= limit[:, None], axis=1), np.arange(n)
    least = np.where(count > 0, ranked[rows, np.maximum(count - 1, 0)], np.inf)
    out = least[:, None] <= P
    # Tied classes form a block with one score, so they are never split.
    split = np.flatnonzero(
        (count > 0)
        & (count < n_classes)
        & (ranked[rows, np.minimum(count, n_classes - 1)] == least)
    )
    if len(split):
        above, tied, rank = mass_of_all(P[split])
        out[split] = (
            above + u[split, None] * tied + penalty * np.maximum(rank - free, 0)
            <= limit[split, None]
        )
    return out


# -- Scores that arrive one after the other --------------------------------------------------------

#: The feedback is infinite beyond this many standard deviations, times pi / 2, of the misses of
#: independent rows.
REACH = 3.0
#: Rows that the feedback adds to those seen, so that the first few misses change little.
EARLY = 10.0
#: Strength of the feedback in mean absolute scores.
GAIN = 0.3


def replace_sorted(rows: np.ndarray, old: np.ndarray, new: np.ndarray) -> None:
    """Replace one value in each ascending row of (J, W), in place; the rows remain sorted."""
    for row, leaving, entering in zip(rows, old, new, strict=True):
        i, j = int(row.searchsorted(leaving)), int(row.searchsorted(entering))
        if i < j:
            row[i : j - 1] = row[i + 1 : j]
            row[j - 1] = entering
        else:
            row[j + 1 : i + 1] = row[j:i]
            row[j] = entering


def rank_within(n: int, level: float) -> int:
    """The conformal rank of a level among n scores, at least 1 and at most n."""
    return max(1, min(n, int(conformal_rank(n, level))))


def pinball(limit: np.ndarray, score: np.ndarray, level: float) -> np.ndarray:
    """Pinball loss of limits (E, J) for scores (E, 1)."""
    return np.maximum(level * (score - limit), (level - 1.0) * (score - limit))


def hedge_weights(losses: np.ndarray, gap: float) -> tuple[np.ndarray, float]:
    """(weights of the experts (J,), their mix loss) by AdaHedge, from their summed losses and the
    summed mixability gap.
    """
    least = float(losses.min())
    if gap <= 0.0:
        weight = (losses == least).astype(np.float64)
        return weight / weight.sum(), least
    eta = math.log(max(len(losses), 2)) / gap
    weight = np.exp(-eta * (losses - least))
    total = float(weight.sum())
    return weight / total, least - math.log(total / len(losses)) / eta


def saturation(n: float, level: float, delay: int) -> float:
    """The sum of misses beyond their expected number, over pi / 2, at which the feedback after n
    rows is infinite; with a delay, n / (delay + 1) rows count as independent.
    """
    return REACH * math.sqrt(level * (1.0 - level) * (delay + 1) * (n + EARLY * (delay + 1)))


def feedback(excess: float, saturated: float) -> float:
    """The addition to a limit, in mean absolute scores: the tangent of the sum of misses beyond
    their expected number.
    """
    angle = excess / saturated
    if abs(angle) >= 0.5 * math.pi:
        return math.copysign(math.inf, angle)
    return GAIN * math.tan(angle)


def worst_window(covered: np.ndarray, size: int) -> float:
    """The least share of covered rows (n,) in any window of ``size`` rows, or in all if fewer."""
    size = min(size, len(covered))
    total = np.append(0, np.cumsum(covered))
    return float((total[size:] - total[:-size]).min()) / size


def ideal_worst_window(n: int, level: float, size: int) -> float:
    """The median over 200 simulated series of the worst window of n independent rows, each covered
    with probability ``level``.
    """
    rng = np.random.default_rng(0)
    return float(np.median([worst_window(rng.random(n) < level, size) for _ in range(200)]))
