"""Boosting from a start by symmetric trees and by offsets of cells, as many rounds as held-out
rows allow.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from calibrant._numerics.logistic import softmax

__all__ = [
    "Boosted",
    "Family",
    "FittedFamily",
    "Growth",
    "NormalScores",
    "Shares",
    "Trees",
    "boost",
    "fit_families",
    "grow_tree",
    "held_out_scores",
    "leaves",
    "outcome_slopes",
    "prior_variance",
    "shares_of",
    "shift_slopes",
    "spread_slopes",
]

#: The least gain of a split in the log likelihood, in nats, summed over the rows.
LEAST_GAIN = 5e-4


@dataclass(frozen=True)
class Growth:
    """Settings of the growth of trees.

    Attributes
    ----------
    depth : int, levels of a tree.
    penalty : float, the information that a leaf's value is shrunk by.
    ordered : (d,) bool, columns whose codes are ordered; those of the others are sorted by their
        rows' errors.
    width : int, codes are below it.
    """

    depth: int
    penalty: float
    ordered: np.ndarray
    width: int


@dataclass(frozen=True)
class Trees:
    """T trees of depth D over d columns.

    Attributes
    ----------
    column : (T, D) the column that each level splits.
    right : (T, D, width) bool, by code, whether a row goes right.
    value : (T, 2^D) of the leaves; the first level is the highest bit of a leaf's number.
    gain : (T, D) loss saved by each level, in nats, where the tree was grown.
    output : (T,) the column of logits that a tree adds to.
    """

    column: np.ndarray
    right: np.ndarray
    value: np.ndarray
    gain: np.ndarray
    output: np.ndarray

    def added(self, codes: np.ndarray, n_outputs: int) -> np.ndarray:
        """(n, C) sum of the trees' values, for (d, n) codes."""
        out = np.zeros((codes.shape[1], n_outputs))
        for column, right, value, output in zip(
            self.column, self.right, self.value, self.output, strict=True
        ):
            out[:, output] += value[leaves(codes, column, right)]
        return out


def leaves(codes: np.ndarray, column: np.ndarray, right: np.ndarray) -> np.ndarray:
    """(n,) number of the leaf of each row."""
    leaf = np.zeros(codes.shape[1], dtype=np.intp)
    for j, table in zip(column, right, strict=True):
        leaf += leaf
        leaf += table[codes[j]]
    return leaf


def grow_tree(
    codes: np.ndarray, score: np.ndarray, information: np.ndarray, rows: np.ndarray, growth: Growth
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(column (D,), right (D, width), value (2^D,), gain (D,)) of one tree.

    Each level takes the split of most gain in U^2 / (2 (I + penalty)), the log likelihood by its
    quadratic, summed over all nodes.

    Parameters
    ----------
    codes : (d, n) uint8
    score, information : (n,) first derivative of the log likelihood of each row and minus the
        second, with the weights
    rows : (m,) indices of the rows to learn from
    """
    n_columns, width = len(codes), growth.width
    node, score, information = np.zeros(len(rows), dtype=np.intp), score[rows], information[rows]
    codes = codes[:, rows]
    column, right = (
        np.zeros(growth.depth, dtype=np.intp),
        np.zeros((growth.depth, width), dtype=bool),
    )
    gain = np.zeros(growth.depth)
    sums = np.empty((2, n_columns, 1, width))
    _add(sums, codes, node, score, information)
    for level in range(growth.depth):
        gained, j, table = _best(sums, growth)
        if not gained > LEAST_GAIN:
            break
        column[level], right[level], gain[level] = j, table, gained
        node |= table[codes[j]].astype(np.intp) << (growth.depth - 1 - level)
        if level < growth.depth - 1:
            sums = _halves(sums, codes, node >> (growth.depth - 1 - level), score, information)
    n_leaves = 2**growth.depth
    U, info = np.bincount(node, score, n_leaves), np.bincount(node, information, n_leaves)
    return column, right, U / (info + growth.penalty), gain


def _add(
    sums: np.ndarray,
    codes: np.ndarray,
    node: np.ndarray,
    score: np.ndarray,
    information: np.ndarray,
) -> None:
    """Fill (2, d, nodes, width) sums of scores and information by column, node and code."""
    nodes, width = sums.shape[2:]
    base = node * width
    for j, code in enumerate(codes):
        at = base + code
        sums[0, j] = np.bincount(at, score, nodes * width).reshape(nodes, width)
        sums[1, j] = np.bincount(at, information, nodes * width).reshape(nodes, width)


def _halves(
    sums: np.ndarray,
    codes: np.ndarray,
    node: np.ndarray,
    score: np.ndarray,
    information: np.ndarray,
) -> np.ndarray:
    """The sums of both halves of every node: the smaller half is counted, the other is the
    difference.
    """
    right = node & 1 == 1
    few = right if 2 * np.count_nonzero(right) <= len(right) else ~right
    rows = np.flatnonzero(few)
    counted = np.empty_like(sums)
    _add(counted, codes[:, rows], node[rows] >> 1, score[rows], information[rows])
    both = (sums - counted, counted) if few is right else (counted, sums - counted)
    nodes, width = sums.shape[2:]
    return np.stack(both, axis=3).reshape(2, len(codes), 2 * nodes, width)


def _best(sums: np.ndarray, growth: Growth) -> tuple[float, int, np.ndarray]:
    """(gain, column, table of codes that go right) of the best split of a level."""
    penalty = growth.penalty
    effect = sums[0].sum(axis=1) / (sums[1].sum(axis=1) + penalty)
    order = np.where(
        growth.ordered[:, None], np.arange(growth.width), np.argsort(effect, axis=1, kind="stable")
    )
    left = np.cumsum(np.take_along_axis(sums, order[None, :, None, :], axis=3), axis=3)
    total = left[..., -1:]
    rest = total - left
    worth = (
        left[0] ** 2 / (left[1] + penalty) + rest[0] ** 2 / (np.maximum(rest[1], 0.0) + penalty)
    ).sum(axis=1)
    worth -= (total[0] ** 2 / (total[1] + penalty)).sum(axis=1)
    # Among splits that differ only by rounding, take the first.
    worth = np.round(worth, 9)
    j, at = divmod(int(np.argmax(worth)), growth.width)
    table = np.zeros(growth.width, dtype=bool)
    table[order[j, at + 1 :]] = True
    return 0.5 * float(worth[j, at]), j, table


#: Sweeps over the families, and the root mean square change of log-odds (weighed by information) at
#: which they end.
SWEEPS, TOLERANCE = 100, 5e-4
#: Widest step of one offset: Newton's method overshoots where probabilities are near 0 and 1.
WIDEST = 1.0
#: Log standard deviations on the way.
FARTHEST = 30.0
#: Variances of the prior that are tried before the best is refined.
VARIANCES = np.geomspace(1e-5, 1e2, 57)


@dataclass(frozen=True)
class Family:
    """Disjoint cells of rows.

    Attributes
    ----------
    index : (n,) the cell of each row, ``n_cells`` for none.
    n_cells : int
    x : (n,) multiplier of the cell's coefficient; None for 1.
    """

    index: np.ndarray
    n_cells: int
    x: np.ndarray | None = None

    def sums(self, values: np.ndarray) -> np.ndarray:
        """(n_cells, C) sums of (n, C) values."""
        return np.column_stack(
            [np.bincount(self.index, column, self.n_cells + 1)[:-1] for column in values.T]
        )

    def of_rows(self, values: np.ndarray) -> np.ndarray:
        """(n, C) each row's entry of (n_cells, C) values, 0 for rows of none."""
        out = np.vstack([values, np.zeros(values.shape[1])])[self.index]
        return out if self.x is None else out * self.x[:, None]


@dataclass(frozen=True)
class FittedFamily:
    """Fitted effects of a family: coefficients and their posterior variances, (n_cells, C) each,
    and the prior's variance.
    """

    effect: np.ndarray
    spread: np.ndarray
    variance: float


def shares_of(eta: np.ndarray) -> np.ndarray:
    """(n, C) probabilities: of the event from its log-odds, (n, 1), or of the classes from their
    logits.
    """
    if eta.shape[1] > 1:
        return softmax(eta)
    return 1.0 / (1.0 + np.exp(-np.clip(eta, -700.0, 700.0)))


Slopes = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


def outcome_slopes(hit: np.ndarray) -> Slopes:
    """Derivatives of the log likelihood of outcomes of 0 and 1, (n, C), at logits."""

    def slopes(eta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        p = shares_of(eta)
        return hit - p, p * (1.0 - p), p * (1.0 - p) if p.shape[1] == 1 else p

    return slopes


def shift_slopes(score: np.ndarray, log_spread: np.ndarray) -> Slopes:
    """Derivatives for normal scores (n, 1) with known log standard deviations, at their means."""
    worth = np.exp(-2.0 * np.clip(log_spread, -FARTHEST, FARTHEST))
    return lambda eta: ((score - eta) * worth, worth, worth)


def spread_slopes(score: np.ndarray, shift: np.ndarray) -> Slopes:
    """Derivatives for normal scores (n, 1) with known means, at their log standard deviations."""
    square = np.square(score - shift)
    two = np.full(square.shape, 2.0)
    return lambda eta: (square * np.exp(-2.0 * np.clip(eta, -FARTHEST, FARTHEST)) - 1.0, two, two)


def prior_variance(score: np.ndarray, information: np.ndarray) -> float:
    r"""The variance :math:`\tau^2 \ge 0` of most likelihood where effects are N(0, tau^2) and their
    scores N(I b, I) given them.

    .. math:: \sum_g -\tfrac12 \ln(1 + \tau^2 I_g) + \tfrac12 \frac{U_g^2 \tau^2}{1 + \tau^2 I_g}
    """
    score, information = score.ravel(), information.ravel()

    def loss(variance: float) -> float:
        ratio = 1.0 + variance * information
        return 0.5 * float((np.log(ratio) - score**2 * variance / ratio).sum())

    losses = [loss(v) for v in VARIANCES]
    best = int(np.argmin(losses))
    if not losses[best] < 0.0:
        return 0.0
    low, high = (
        np.log(VARIANCES[max(best - 1, 0)]),
        np.log(VARIANCES[min(best + 1, len(VARIANCES) - 1)]),
    )
    result = scipy.optimize.minimize_scalar(
        lambda v: loss(np.exp(v)), bounds=(low, high), method="bounded", options={"xatol": 1e-6}
    )
    return float(np.exp(result.x))


def fit_families(
    eta: np.ndarray, slopes: Callable[..., Any], weight: np.ndarray, families: Any
) -> tuple[Any, ...]:
    """(fitted families, status, eta with the effects of all), for eta (n, C) before them.

    Families take turns: given the others, a family's score and information at no effect give its
    prior's variance and one shrunken Newton step. Of several classes, which share a family's
    variance, the step is that of the bound diag(p) of the curvature, so that all may move at once.
    """
    eta, weight = eta.copy(), weight[:, None]
    n_columns = eta.shape[1]
    effects = [np.zeros((family.n_cells, n_columns)) for family in families]
    spreads, variances = [np.zeros_like(e) for e in effects], [0.0] * len(families)
    total, status, every = float(weight.sum()), "max steps", True
    for _ in range(SWEEPS):
        moved = 0.0
        for j, family in enumerate(families):
            if not (every or variances[j] > 0.0):
                continue
            slope, curvature, most = slopes(eta)
            x = 1.0 if family.x is None else family.x[:, None]
            score, information = (
                family.sums(weight * x * slope),
                family.sums(weight * x**2 * curvature),
            )
            variances[j] = prior_variance(score + information * effects[j], information)
            bound = information if n_columns == 1 else family.sums(weight * x**2 * most)
            step = _step(score, bound, effects[j], variances[j])
            spreads[j] = (
                np.zeros_like(information)
                if variances[j] == 0.0
                else 1.0 / (information + 1.0 / variances[j])
            )
            effects[j] = effects[j] + step
            eta += family.of_rows(step)
            moved = max(moved, float((information * step**2).sum()) / total)
        near = moved <= TOLERANCE**2
        if near and every:
            status = "converged"
            break
        # Converged families are updated again once the others have converged.
        every = near
    return (
        [FittedFamily(*each) for each in zip(effects, spreads, variances, strict=True)],
        status,
        eta,
    )


def _step(score: np.ndarray, bound: np.ndarray, effect: np.ndarray, variance: float) -> np.ndarray:
    """The step of a family's coefficients towards their mode, at most 1 each."""
    if variance == 0.0:
        return -effect
    return np.clip((score - effect / variance) / (bound + 1.0 / variance), -WIDEST, WIDEST)


def held_out_scores(
    eta: np.ndarray, slopes: Callable[..., Any], families: Any, fitted: Any
) -> np.ndarray:
    """(n, C) leave-one-out fitted values, to first order."""
    pull = np.zeros_like(eta)
    for family, fit in zip(families, fitted, strict=True):
        spread = family.of_rows(fit.spread)
        pull += spread if family.x is None else spread * family.x[:, None]
    slope, curvature, _ = slopes(eta)
    return eta - pull * slope / np.maximum(1.0 - pull * curvature, 0.05)


#: Rounds without a new best before the search ends.
PATIENCE = 20
#: Columns that a tree may split; with more, trees take turns.
MOST_COLUMNS = 64
FLOOR = 1e-15


@dataclass(frozen=True)
class Shares:
    """Outcomes (n, 1) of an event whose log-odds, or (n, K) of classes whose logits, are
    learned.
    """

    hit: np.ndarray

    def pull(self, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(first derivative of the log likelihood, minus the second), (n, C) each."""
        p = shares_of(eta)
        return self.hit - p, p * (1.0 - p)

    def losses(self, eta: np.ndarray, rows: Any) -> np.ndarray:
        """(m,) minus log likelihoods of some rows, whose logits are (m, C)."""
        p, hit = shares_of(eta), self.hit[rows]
        likelihood = (
            np.where(hit[:, 0] == 1.0, p[:, 0], 1.0 - p[:, 0])
            if p.shape[1] == 1
            else (hit * p).sum(axis=1)
        )
        return -np.log(np.maximum(likelihood, FLOOR))


@dataclass(frozen=True)
class NormalScores:
    """Numbers (n,) whose mean and log standard deviation, the two columns of eta, are learned."""

    value: np.ndarray

    def pull(self, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(first derivative of the log likelihood, minus the expected second), (n, 2) each."""
        inverse = np.exp(-eta[:, 1])
        z = (self.value - eta[:, 0]) * inverse
        return np.column_stack([z * inverse, z * z - 1.0]), np.column_stack(
            [inverse**2, np.full(len(z), 2.0)]
        )

    def losses(self, eta: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """(m,) minus log densities of some rows, but for a constant."""
        return eta[:, 1] + 0.5 * np.square((self.value[rows] - eta[:, 0]) * np.exp(-eta[:, 1]))


@dataclass(frozen=True)
class Boosted:
    """Result of boosting: the trees of all members, each a share of their mean; the rounds;
    held-out losses (n,).
    """

    trees: Trees
    rounds: int
    before: np.ndarray
    after: np.ndarray


def boost(
    codes: np.ndarray,
    growth: Growth,
    starts: Any,
    folds: np.ndarray,
    weight: np.ndarray,
    rate: float,
    most_rounds: int,
) -> Boosted:
    """Boost a member for each fold, on the rows of the other folds, in parallel; all stop after the
    round of least held-out loss.

    The trees are those of the members' mean: its log loss is at most the mean of theirs, as the
    loss is convex in the logits.

    Parameters
    ----------
    codes : (d, n) uint8
    starts : for each of M members (Shares or NormalScores, (n, C) what it begins with), learned
        without its fold
    folds : (n,) 0..M-1
    rate : float, share of a tree's values that is taken
    """
    n_members, n_outputs = len(starts), starts[0][1].shape[1]
    objectives, eta = [start for start, _ in starts], [start.copy() for _, start in starts]
    held_out, learned = (
        [np.flatnonzero((folds == k) == out) for k in range(n_members)] for out in (True, False)
    )

    def left_out() -> np.ndarray:
        losses = np.empty(len(folds))
        for k, rows in enumerate(held_out):
            losses[rows] = objectives[k].losses(eta[k][rows], rows)
        return losses

    before = left_out()
    best, after, best_round, grown = float(weight @ before), before, 0, []
    for turn in range(most_rounds):
        columns = _columns_of_round(len(codes), turn)
        part = Growth(growth.depth, growth.penalty, growth.ordered[columns], growth.width)
        for k in range(n_members):
            score, information = objectives[k].pull(eta[k])
            for c in range(n_outputs):
                column, right, value, gain = grow_tree(
                    codes[columns],
                    weight * score[:, c],
                    weight * information[:, c],
                    learned[k],
                    part,
                )
                column, value = columns[column], rate * np.clip(value, -1.0, 1.0)
                eta[k][:, c] += value[leaves(codes, column, right)]
                grown.append((column, right, value / n_members, gain, c))
        losses = left_out()
        total = float(weight @ losses)
        if total < best:
            best, after, best_round = total, losses, turn + 1
        elif turn + 1 - best_round >= PATIENCE:
            break
    return Boosted(
        _joined(grown[: best_round * n_members * n_outputs], growth), best_round, before, after
    )


def _columns_of_round(n_columns: int, turn: int) -> np.ndarray:
    """The columns that a round's trees may split."""
    if n_columns <= MOST_COLUMNS:
        return np.arange(n_columns)
    return np.sort((np.arange(MOST_COLUMNS) + turn * MOST_COLUMNS) % n_columns)


def _joined(grown: Any, growth: Growth) -> Trees:
    depth, width = growth.depth, growth.width
    parts = list(zip(*grown, strict=True)) if grown else [[]] * 5
    shapes = ((-1, depth), (-1, depth, width), (-1, 2**depth), (-1, depth), (-1,))
    kinds = (np.intp, np.bool_, np.float64, np.float64, np.intp)
    return Trees(
        *(
            np.array(part, dtype=kind).reshape(shape) if grown else np.zeros((0, *shape[1:]), kind)
            for part, kind, shape in zip(parts, kinds, shapes, strict=True)
        )
    )
