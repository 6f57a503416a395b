"""Boosting from a start, a member for each fold, as many rounds as the rows that each member left out say."""

from dataclasses import dataclass

import numpy as np

from calibrant._kernels.boosted_tables import Growth, Trees, grow_tree, leaves
from calibrant._kernels.cell_offsets import shares_of

__all__ = ["Boosted", "NormalScores", "Shares", "boost"]

#: Rounds without a new best before the search ends.
PATIENCE = 20
#: Columns that a tree may ask of; of more, trees take turns.
MOST_COLUMNS = 64
FLOOR = 1e-15


@dataclass(frozen=True)
class Shares:
    """Outcomes (n, 1) of an event whose log-odds, or (n, K) of classes whose logits, are learned."""

    hit: np.ndarray

    def pull(self, eta):
        """(first derivative of the log likelihood, minus the second), (n, C) each."""
        p = shares_of(eta)
        return self.hit - p, p * (1.0 - p)

    def losses(self, eta, rows):
        """(m,) minus log likelihoods of some rows, whose logits are (m, C)."""
        p, hit = shares_of(eta), self.hit[rows]
        own = np.where(hit[:, 0] == 1.0, p[:, 0], 1.0 - p[:, 0]) if p.shape[1] == 1 else (hit * p).sum(axis=1)
        return -np.log(np.maximum(own, FLOOR))


@dataclass(frozen=True)
class NormalScores:
    """Numbers (n,) whose mean and log standard deviation, the two columns of eta, are learned."""

    value: np.ndarray

    def pull(self, eta):
        """(first derivative of the log likelihood, minus the expected second), (n, 2) each."""
        inverse = np.exp(-eta[:, 1])
        z = (self.value - eta[:, 0]) * inverse
        return np.column_stack([z * inverse, z * z - 1.0]), np.column_stack([inverse**2, np.full(len(z), 2.0)])

    def losses(self, eta, rows):
        """(m,) minus log densities of some rows, but for a constant."""
        return eta[:, 1] + 0.5 * np.square((self.value[rows] - eta[:, 0]) * np.exp(-eta[:, 1]))


@dataclass(frozen=True)
class Boosted:
    """What boosting found: the trees of all members, each a share of their mean; how many rounds; losses (n,) of rows left out."""

    trees: Trees
    rounds: int
    before: np.ndarray
    after: np.ndarray


def boost(codes, growth: Growth, starts, folds, weight, rate, most_rounds):
    """Boost a member for each fold, on the rows of the other folds, in step; all stop after the round of least loss of rows left out.

    The trees are those of the members' mean: its log loss is at most the mean of theirs, as the loss is convex in the logits.

    Parameters
    ----------
    codes : (d, n) uint8
    starts : for each of M members (Shares or NormalScores, (n, C) what it begins with), learned without its fold
    folds : (n,) 0..M-1
    rate : float, share of a tree's values that is taken
    """
    n_members, n_outputs = len(starts), starts[0][1].shape[1]
    objectives, eta = [one for one, _ in starts], [one.copy() for _, one in starts]
    held, learned = ([np.flatnonzero((folds == k) == out) for k in range(n_members)] for out in (True, False))

    def left_out():
        losses = np.empty(len(folds))
        for k, rows in enumerate(held):
            losses[rows] = objectives[k].losses(eta[k][rows], rows)
        return losses

    before = left_out()
    best, after, best_round, grown = float(weight @ before), before, 0, []
    for turn in range(most_rounds):
        asked = _asked(len(codes), turn)
        part = Growth(growth.depth, growth.penalty, growth.ordered[asked], growth.width)
        for k in range(n_members):
            score, information = objectives[k].pull(eta[k])
            for c in range(n_outputs):
                column, right, value, gain = grow_tree(codes[asked], weight * score[:, c], weight * information[:, c], learned[k], part)
                column, value = asked[column], rate * np.clip(value, -1.0, 1.0)
                eta[k][:, c] += value[leaves(codes, column, right)]
                grown.append((column, right, value / n_members, gain, c))
        losses = left_out()
        total = float(weight @ losses)
        if total < best:
            best, after, best_round = total, losses, turn + 1
        elif turn + 1 - best_round >= PATIENCE:
            break
    return Boosted(_joined(grown[: best_round * n_members * n_outputs], growth), best_round, before, after)


def _asked(n_columns, turn):
    """The columns that a round's trees may ask of."""
    if n_columns <= MOST_COLUMNS:
        return np.arange(n_columns)
    return np.sort((np.arange(MOST_COLUMNS) + turn * MOST_COLUMNS) % n_columns)


def _joined(grown, growth):
    depth, width = growth.depth, growth.width
    parts = list(zip(*grown, strict=True)) if grown else [[]] * 5
    shapes = ((-1, depth), (-1, depth, width), (-1, 2**depth), (-1, depth), (-1,))
    kinds = (np.intp, np.bool_, np.float64, np.float64, np.intp)
    return Trees(*(np.array(part, dtype=kind).reshape(shape) if grown else np.zeros((0, *shape[1:]), kind) for part, kind, shape in zip(
        parts, kinds, shapes, strict=True)))  # fmt: skip
