"""What boosted trees add to calibrated predictions, and whether rows left out say that it helps: of classes and of forecasts alike."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant._kernels.boosting import Growth, Trees, boost
from calibrant._kernels.fixed_order import in_pieces, merge_rows
from calibrant._support.group_levels import ColumnCodes
from calibrant._support.options import require_count
from calibrant._support.saving import Saved
from calibrant.contracts.expression import Expression, constant, join
from calibrant.errors import InputError
from calibrant.folds.splits import folds_of
from calibrant.wrap.pooled_offsets import LEAST_ERRORS, mean_gain

__all__ = ["FEWEST_ROWS", "BoostedOffsets", "distinct_rows", "require_options"]

#: Rows that equal rows count as in the folds, at most.
MOST_PIECES = 20

#: With fewer rows nothing is learned.
FEWEST_ROWS = 50
#: Information, sum of p (1 - p), that a leaf's value is shrunk by: that of 40 rows of probability 1/2.
PENALTY = 10.0


def require_options(estimator: Any) -> None:
    """InputError unless depth, rounds and rate of an estimator can be."""
    for name, low, high in (("depth", 1, 8), ("max_rounds", 1, 10_000), ("cv", 2, 100)):
        require_count(name, getattr(estimator, name), low, most=high)
    rate = estimator.learning_rate
    if not (isinstance(rate, int | float | np.number) and 0.0 < rate <= 1.0):
        raise InputError(f"learning_rate must be above 0 and at most 1; got {rate!r}.")


def distinct_rows(said: np.ndarray, came: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(row, weight) of what to learn from: rows with what is known of them before, (n, d), and what came of it, (n,), in their own order.

    Equal rows are merged, so that a weight means repetition. Where rows that look alike came out differently, as those of few scores and
    groups do, merged ones are dealt out to the folds in pieces: a fold that held out all hits of a cell would mislead the others.
    """
    first, merged = merge_rows(said, came, weight)
    alike, _ = merge_rows(said[first], np.zeros(len(first)), merged)
    row, share = in_pieces(merged, MOST_PIECES if len(alike) < len(first) else 1)
    return first[row], share


class BoostedOffsets(Saved):
    """Symmetric trees over columns of codes that are added to logits, or to mean and log standard deviation.

    Attributes
    ----------
    column_, right_, value_, split_gain_, output_ : the trees, as :class:`calibrant._kernels.boosting.Trees` has them.
    rounds_ : how many rounds the rows left out ask for.
    gain_, gain_error_ : loss a row that the trees save of rows left out, and its standard error.
    used : bool, whether the gain is beyond 1.5 standard errors; otherwise nothing is added.
    """

    column_: np.ndarray
    right_: np.ndarray
    value_: np.ndarray
    split_gain_: np.ndarray
    output_: np.ndarray
    rounds_: int = 0
    gain_: float = 0.0
    gain_error_: float = 0.0

    def fit(self, columns: ColumnCodes, codes: np.ndarray, start: Any, record: Any, options: Any) -> "BoostedOffsets":
        """Fit on rows with codes (d, n). ``start(rows)`` is what is there before for all rows, learned on some: (objective, (n, C)).

        ``record`` has the rows' ``strata``, ``cluster`` and ``weights``; ``options`` depth, learning_rate, max_rounds, cv, random_state.
        """
        self.names: list[str] = list(columns.names)
        n, cluster = len(record), record.cluster
        units = n if cluster is None else len(np.unique(cluster))
        self.trees = Trees(*(np.zeros(0) for _ in range(5)))
        if min(n, float(record.weights.sum())) < FEWEST_ROWS or units < 2 or not len(codes):
            return self
        folds = folds_of(record.strata, cluster, min(options.cv, units), options.random_state)
        starts = [start(np.flatnonzero(folds != k)) for k in range(int(folds.max()) + 1)]
        growth = Growth(options.depth, PENALTY, columns.ordered, columns.width)
        found = boost(codes, growth, starts, folds, record.weights, options.learning_rate, options.max_rounds)
        self.trees, self.rounds_ = found.trees, found.rounds
        self.gain_, self.gain_error_ = mean_gain(found.before - found.after, record.weights, cluster)
        return self

    @property
    def trees(self) -> Trees:
        """The trees."""
        return Trees(self.column_, self.right_, self.value_, self.split_gain_, self.output_)

    @trees.setter
    def trees(self, trees: Trees) -> None:
        self.column_, self.right_, self.value_ = trees.column, trees.right, trees.value
        self.split_gain_, self.output_ = trees.gain, trees.output

    @property
    def used(self) -> bool:
        return bool(self.rounds_ and self.gain_ > LEAST_ERRORS * self.gain_error_)

    def added(self, codes: np.ndarray, n_outputs: int) -> np.ndarray:
        """(n, C) what is added to rows with codes (d, n)."""
        return self.trees.added(codes, n_outputs)

    def express(self, codes: Sequence[Expression], n_outputs: int) -> Expression:
        """``added`` as an expression of a row's codes, width 1 each."""
        values = list[list[Expression]]([] for _ in range(n_outputs))
        for column, right, value, output in zip(self.column_, self.right_, self.value_, self.output_, strict=True):
            bits = [
                codes[j].gather(table[:, None]) * 2.0 ** (len(column) - 1 - d)
                for d, (j, table) in enumerate(zip(column, right, strict=True))
            ]
            values[output].append(join(bits).sum().gather(value[:, None]))
        return join([join(one).sum() if one else constant([0.0]) for one in values])

    @property
    def importance(self) -> dict[str, float]:
        """Share of what the trees saved while they grew, by column, the largest first."""
        saved = np.bincount(self.column_.ravel(), self.split_gain_.ravel(), len(self.names))
        share = saved / max(saved.sum(), 1e-300)
        return {self.names[j]: float(share[j]) for j in np.argsort(-share, kind="stable").tolist()}

    def explain(self, what: str) -> str:
        """What the trees gain of ``what``, and by which columns."""
        gain = f"{self.gain_:.4g} of {what} a row (s.e. {self.gain_error_:.2g}, out of fold)"
        if not self.used:
            return f"Nothing is added to the base: trees would gain {gain}." if self.rounds_ else "Nothing is added to the base."
        asked = ", ".join(f"{name} {share:.0%}" for name, share in list(self.importance.items())[:5] if share >= 0.01)
        return f"Trees gain {gain} in {self.rounds_} rounds; what they ask of, by what it saves: {asked}."
