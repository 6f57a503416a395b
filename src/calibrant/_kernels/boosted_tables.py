"""Symmetric trees on columns of codes: each level asks one question of all rows, answered by a table of the column's codes."""

from dataclasses import dataclass

import numpy as np

__all__ = ["Growth", "Trees", "grow_tree", "leaves"]

#: A split is worth its place where it gains this much of the log likelihood, in nats, summed over the rows.
LEAST_GAIN = 5e-4


@dataclass(frozen=True)
class Growth:
    """How trees are grown.

    Attributes
    ----------
    depth : int, questions of a tree.
    penalty : float, the information that a leaf's value is shrunk by.
    ordered : (d,) bool, columns whose codes are in order; the codes of the others are put in the order of their rows' errors.
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
    column : (T, D) the column that each level asks of.
    right : (T, D, width) bool, by code, whether a row goes right.
    value : (T, 2^D) of the leaves; the first level's answer is the highest bit of a leaf's number.
    gain : (T, D) what each level's answers saved of the loss, in nats, where the tree grew.
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
        for column, right, value, output in zip(self.column, self.right, self.value, self.output, strict=True):
            out[:, output] += value[leaves(codes, column, right)]
        return out


def leaves(codes, column, right):
    """(n,) number of the leaf of each row."""
    leaf = np.zeros(codes.shape[1], dtype=np.intp)
    for j, table in zip(column, right, strict=True):
        leaf += leaf
        leaf += table[codes[j]]
    return leaf


def grow_tree(codes, score, information, rows, growth):
    """(column (D,), right (D, width), value (2^D,), gain (D,)) of one tree.

    Each level takes the split of most gain in U^2 / (2 (I + penalty)), the log likelihood by its quadratic, summed over all nodes.

    Parameters
    ----------
    codes : (d, n) uint8
    score, information : (n,) first derivative of the log likelihood of each row and minus the second, with the weights
    rows : (m,) indices of the rows to learn from
    """
    n_columns, width = len(codes), growth.width
    node, score, information = np.zeros(len(rows), dtype=np.intp), score[rows], information[rows]
    codes = codes[:, rows]
    column, right = np.zeros(growth.depth, dtype=np.intp), np.zeros((growth.depth, width), dtype=bool)
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


def _add(sums, codes, node, score, information):
    """Fill (2, d, nodes, width) sums of scores and information by column, node and code."""
    nodes, width = sums.shape[2:]
    base = node * width
    for j, code in enumerate(codes):
        at = base + code
        sums[0, j] = np.bincount(at, score, nodes * width).reshape(nodes, width)
        sums[1, j] = np.bincount(at, information, nodes * width).reshape(nodes, width)


def _halves(sums, codes, node, score, information):
    """The sums of both halves of every node: those of fewer rows are counted, the others are what is left."""
    right = node & 1 == 1
    few = right if 2 * np.count_nonzero(right) <= len(right) else ~right
    rows = np.flatnonzero(few)
    counted = np.empty_like(sums)
    _add(counted, codes[:, rows], node[rows] >> 1, score[rows], information[rows])
    both = (sums - counted, counted) if few is right else (counted, sums - counted)
    nodes, width = sums.shape[2:]
    return np.stack(both, axis=3).reshape(2, len(codes), 2 * nodes, width)


def _best(sums, growth):
    """(gain, column, table of codes that go right) of the best split of a level."""
    penalty = growth.penalty
    effect = sums[0].sum(axis=1) / (sums[1].sum(axis=1) + penalty)
    order = np.where(growth.ordered[:, None], np.arange(growth.width), np.argsort(effect, axis=1, kind="stable"))
    left = np.cumsum(np.take_along_axis(sums, order[None, :, None, :], axis=3), axis=3)
    total = left[..., -1:]
    rest = total - left
    worth = (left[0] ** 2 / (left[1] + penalty) + rest[0] ** 2 / (np.maximum(rest[1], 0.0) + penalty)).sum(axis=1)
    worth -= (total[0] ** 2 / (total[1] + penalty)).sum(axis=1)
    # Splits that differ by rounding alone are one, the first.
    worth = np.round(worth, 9)
    j, at = divmod(int(np.argmax(worth)), growth.width)
    table = np.zeros(growth.width, dtype=bool)
    table[order[j, at + 1 :]] = True
    return 0.5 * float(worth[j, at]), j, table
