"""Offsets of overlapping cells, pooled by family or boosted by trees."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._numerics.boosting import (
    Family,
    Growth,
    Shares,
    Trees,
    boost,
    fit_families,
    held_out_scores,
    outcome_slopes,
    shares_of,
)
from calibrant._numerics.clusters import variance_of_sum
from calibrant._numerics.fixed_order import in_pieces, merge_rows
from calibrant.core.arrays import whole_rows
from calibrant.core.estimators import require_count
from calibrant.core.expression import Expression, constant, join
from calibrant.core.folds import folds_of
from calibrant.core.group_levels import ColumnCodes
from calibrant.core.predictions import Predictions
from calibrant.core.saving import Saved
from calibrant.core.text_table import percent
from calibrant.errors import InputError

__all__ = [
    "FEWEST_ROWS",
    "LEAST_ERRORS",
    "BoostedOffsets",
    "CellCodes",
    "PooledOffsets",
    "counted",
    "distinct_rows",
    "express_probabilities",
    "express_scores",
    "hits_of",
    "mean_gain",
    "probabilities_of",
    "require_options",
    "scores_of",
]

FLOOR, FARTHEST = 1e-15, 700.0
#: Minimum gain in standard errors. The variances were fitted on the same rows: in simulations
#: without differences between groups (10 x 10 levels, 300 and 3,000 rows, 120 runs), 1 was exceeded
#: in 20 % of the runs and 1.5 in 4 to 5 %.
LEAST_ERRORS = 1.5


@dataclass(frozen=True)
class CellCodes:
    """Family of cells, with the cell of each row.

    Attributes
    ----------
    name : str
    code : (n,) a number for each row's cell, -1 for none.
    least : float, minimum information, sum of p (1 - p), of a fitted cell.
    sloped : bool, whether the slope of the logits may differ by cell too.
    """

    name: str
    code: np.ndarray
    least: float = 0.0
    sloped: bool = False


def scores_of(Q: np.ndarray) -> np.ndarray:
    """Return (n, 1) log-odds of the event, or (n, K) log-probabilities of three classes or more."""
    logs = np.log(np.maximum(Q, FLOOR))
    return logs[:, 1:] - logs[:, :1] if Q.shape[1] == 2 else logs


def probabilities_of(eta: np.ndarray) -> np.ndarray:
    """Return (n, K) probabilities of scores as returned by ``scores_of``."""
    p = shares_of(eta)
    return p if p.shape[1] > 1 else np.column_stack([shares_of(-eta), p])


def mean_gain(
    gain: np.ndarray, weight: np.ndarray, cluster: np.ndarray | None = None
) -> tuple[float, float]:
    """Return (mean of the rows' gains, its standard error), by clusters if there are any."""
    total = float(weight.sum())
    mean = float(weight @ gain / total)
    if cluster is not None and len(np.unique(cluster)) > 1:
        return (
            mean,
            float(np.sqrt(variance_of_sum(weight * (gain - mean), cluster, weight)[0])) / total,
        )
    return mean, float(np.sqrt(weight @ (gain - mean) ** 2 / max(total - 1.0, 1.0) / total))


def hits_of(record: Predictions) -> np.ndarray:
    """Return the outcomes for scores as returned by ``scores_of``: (n, 1) whether the event
    happened, or (n, K) which class it was.
    """
    return record.one_hot[:, 1:] if record.n_classes == 2 else record.one_hot


def counted(record: Predictions) -> Predictions:
    """Return the record with weights that count rows: fractional weights count as their effective
    size (Kish).
    """
    weight = record.weights
    if whole_rows(weight).all():
        return record
    return replace(record, weight=weight * (weight.sum() / (weight @ weight)))


class PooledOffsets(Saved):
    """Offsets of the logits by families of cells, with their leave-one-out gain.

    Attributes
    ----------
    families_ : list of dicts, one a family: name, codes (the fitted ones, sorted), offset and error
        (G, C), n (rows by cell), slope (G, C) or None and centre (G, C), the logits where it is 0,
        std and slope_std of the prior.
    gain_, gain_error_ : leave-one-out gain in log loss a row, and its standard error.
    used : bool, whether the gain exceeds ``least_errors`` standard errors, or that is None;
        otherwise nothing is added.
    status_ : how the fit ended.
    """

    gain_: float
    gain_error_: float
    status_: str

    def __init__(self, least_errors: float | None = LEAST_ERRORS) -> None:
        self.least_errors: float | None = least_errors

    def fit(
        self, Q: np.ndarray, record: Predictions, cells: Sequence[CellCodes]
    ) -> "PooledOffsets":
        """Fit on calibrated predictions (n, K) of a record with labels."""
        eta, weight = scores_of(Q), record.weights
        hit = hits_of(record)
        spread = weight * (1.0 - (Q**2).sum(axis=1)) / 2.0
        found = [_found(each, spread) for each in cells]
        pairs = [(each, *kept) for each, kept in zip(cells, found, strict=True) if len(kept[0])]
        families, centres = [], []
        for each, codes, index in pairs:
            families.append(Family(index, len(codes)))
            centres.append(_centre(families[-1], eta, spread) if each.sloped else None)
        sloped = [j for j, centre in enumerate(centres) if centre is not None]
        # The slope is centred in each cell, so that slope and offset are estimated separately. With
        # several classes a slope would be one factor of all logits, but each class's coefficient
        # could differ; so they have offsets alone.
        families += [
            Family(f.index, f.n_cells, (eta - f.of_rows(centres[j]))[:, 0])
            for j in sloped
            for f in [families[j]]
        ]
        slopes = outcome_slopes(hit)
        fitted, self.status_, after = fit_families(eta, slopes, weight, families)
        turned = dict(zip(sloped, fitted[len(pairs) :], strict=True))
        self.families_: list[dict[str, Any]] = [
            _summary(
                each,
                codes,
                np.bincount(index, weight, len(codes) + 1)[:-1],
                fitted[j],
                turned.get(j),
                centres[j],
            )
            for j, (each, codes, index) in enumerate(pairs)
        ]
        before, left_out = (
            Shares(hit).losses(each, slice(None))
            for each in (eta, held_out_scores(after, slopes, families, fitted))
        )
        self.gain_, self.gain_error_ = mean_gain(before - left_out, weight, record.cluster)
        return self

    @property
    def used(self) -> bool:
        least = self.least_errors
        return least is None or bool(self.gain_ > least * self.gain_error_)

    def added(self, Q: np.ndarray, codes: Sequence[np.ndarray]) -> np.ndarray:
        """Return (n, K) probabilities with the offsets of the rows' cells, where ``codes`` has one
        (n,) for each family by name.
        """
        if not self.used:
            return Q
        eta = scores_of(Q)
        out, moved = eta.copy(), np.zeros(len(eta), dtype=bool)
        for family, code in zip(self.families_, codes, strict=True):
            index = place_of(code, family["codes"])
            seen = index < len(family["codes"])
            moved |= seen
            at = index[seen]
            out[seen] += family["offset"][at]
            if family["slope"] is not None:
                out[seen] += family["slope"][at] * (eta[seen] - family["centre"][at])
        # Rows without a fitted cell keep their exact probabilities.
        return np.where(moved[:, None], probabilities_of(out), Q)

    def express(self, Q: Expression, cells: Sequence[Expression]) -> Expression:
        """Return ``added`` as an expression, with an input of width 1 for each family's cell, -1
        for none.
        """
        eta = express_scores(Q)
        out = eta
        for family, cell in zip(self.families_, cells, strict=True):
            known = family["codes"]
            # A step begins at each cell and ends at the next number, unless that is a cell too.
            edges = np.unique(np.concatenate([known, known + 1]))
            place = cell.step(edges, np.append(len(known), place_of(edges, known)))
            out = out + place.gather(_or_none(family["offset"]))
            if family["slope"] is not None:
                out = out + place.gather(_or_none(family["slope"])) * (
                    eta - place.gather(_or_none(family["centre"]))
                )
        return express_probabilities(out)


def express_scores(Q: Expression) -> Expression:
    """Return ``scores_of`` as an expression."""
    logs = Q.clip(FLOOR, np.inf).log()
    return logs.column(1) - logs.column(0) if Q.width == 2 else logs


def express_probabilities(eta: Expression) -> Expression:
    """Return ``probabilities_of`` as an expression."""
    if eta.width > 1:
        return eta.softmax()
    inside = eta.clip(-FARTHEST, FARTHEST)
    return join([(0.0 - inside).sigmoid(), inside.sigmoid()])


def _or_none(table: np.ndarray) -> np.ndarray:
    """Return (G + 1, C) offsets with a row of zeros for cells that were not fitted."""
    return np.vstack([table, np.zeros((1, table.shape[1]))])


def place_of(code: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return (n,) position of each code among the sorted known ones, or their number if it is
    unknown.
    there.
    """
    place = np.searchsorted(known, code)
    inside = place < len(known)
    inside[inside] = known[place[inside]] == code[inside]
    return np.where(inside, place, len(known))


def _found(cells: CellCodes, spread: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (fitted codes, index of the rows' cells among them)."""
    inside = cells.code >= 0
    codes, index = np.unique(cells.code[inside], return_inverse=True)
    informed = np.bincount(index, spread[inside], len(codes)) >= cells.least
    codes = codes[informed]
    return codes, place_of(cells.code, codes)


def _centre(family: Family, eta: np.ndarray, spread: np.ndarray) -> np.ndarray | None:
    """Return (G, 1) mean logits of cells, weighted by information; None with several classes."""
    if eta.shape[1] > 1:
        return None
    mass = family.sums(spread[:, None])
    return family.sums(spread[:, None] * eta) / np.maximum(mass, 1e-300)


def _summary(
    cells: CellCodes,
    codes: np.ndarray,
    n: np.ndarray,
    fitted: Any,
    slope: Any,
    centre: np.ndarray | None,
) -> dict[str, Any]:
    return {
        "name": cells.name,
        "codes": codes,
        "n": n,
        "offset": fitted.effect,
        "error": np.sqrt(fitted.spread),
        "std": float(np.sqrt(fitted.variance)),
        "slope": None if slope is None or slope.variance == 0.0 else slope.effect,
        "centre": centre,
        "slope_std": 0.0 if slope is None else float(np.sqrt(slope.variance)),
    }


#: Maximum number of copies of equal rows in the folds.
MOST_PIECES = 20

#: Minimum number of rows for learning.
FEWEST_ROWS = 50
#: Shrinkage of a leaf's value, as information (the sum of p (1 - p)): that of 40 rows of
#: probability 1/2.
PENALTY = 10.0


def require_options(estimator: Any) -> None:
    """Raise InputError unless depth, rounds and rate of an estimator are valid."""
    for name, low, high in (("depth", 1, 8), ("max_rounds", 1, 10_000), ("cv", 2, 100)):
        require_count(name, getattr(estimator, name), low, most=high)
    rate = estimator.learning_rate
    if not (isinstance(rate, int | float | np.number) and 0.0 < rate <= 1.0):
        raise InputError(f"learning_rate must be above 0 and at most 1; got {rate!r}.")


def distinct_rows(
    said: np.ndarray, came: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (row, weight) of the rows to learn from, with inputs (n, d) and outcomes (n,), in an
    order of their own.

    Equal rows are merged, so that a weight means repetition. If equal inputs have different
    outcomes, as with few scores and groups, merged rows are split over the folds: a fold that held
    out all hits of a cell would mislead the others.
    """
    first, merged = merge_rows(said, came, weight)
    alike, _ = merge_rows(said[first], np.zeros(len(first)), merged)
    row, share = in_pieces(merged, MOST_PIECES if len(alike) < len(first) else 1)
    return first[row], share


class BoostedOffsets(Saved):
    """Symmetric trees over columns of codes, whose values are added to logits, or to mean and log
    standard deviation.

    Attributes
    ----------
    column_, right_, value_, split_gain_, output_ : the trees, as in
        :class:`calibrant._numerics.boosting.Trees`.
    rounds_ : number of rounds, chosen on held-out rows.
    gain_, gain_error_ : gain of the trees in loss a row on held-out rows, and its standard error.
    used : bool, whether the gain exceeds 1.5 standard errors; otherwise nothing is added.
    """

    column_: np.ndarray
    right_: np.ndarray
    value_: np.ndarray
    split_gain_: np.ndarray
    output_: np.ndarray
    rounds_: int = 0
    gain_: float = 0.0
    gain_error_: float = 0.0

    def fit(
        self, columns: ColumnCodes, codes: np.ndarray, start: Any, record: Any, options: Any
    ) -> "BoostedOffsets":
        """Fit on rows with codes (d, n). ``start(rows)`` returns the base for all rows, learned on
        some: (objective, (n, C)).

        ``record`` has the rows' ``strata``, ``cluster`` and ``weights``; ``options`` depth,
        learning_rate, max_rounds, cv, random_state.
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
        found = boost(
            codes, growth, starts, folds, record.weights, options.learning_rate, options.max_rounds
        )
        self.trees, self.rounds_ = found.trees, found.rounds
        self.gain_, self.gain_error_ = mean_gain(
            found.before - found.after, record.weights, cluster
        )
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
        """Return (n, C) values to add to rows with codes (d, n)."""
        return self.trees.added(codes, n_outputs)

    def express(self, codes: Sequence[Expression], n_outputs: int) -> Expression:
        """Return ``added`` as an expression of a row's codes, width 1 each."""
        values = list[list[Expression]]([] for _ in range(n_outputs))
        for column, right, value, output in zip(
            self.column_, self.right_, self.value_, self.output_, strict=True
        ):
            bits = [
                codes[j].gather(table[:, None]) * 2.0 ** (len(column) - 1 - d)
                for d, (j, table) in enumerate(zip(column, right, strict=True))
            ]
            values[output].append(join(bits).sum().gather(value[:, None]))
        return join([join(one).sum() if one else constant([0.0]) for one in values])

    @property
    def importance(self) -> dict[str, float]:
        """Return the share of the gain during growth by column, the largest first."""
        saved = np.bincount(self.column_.ravel(), self.split_gain_.ravel(), len(self.names))
        share = saved / max(saved.sum(), 1e-300)
        return {self.names[j]: float(share[j]) for j in np.argsort(-share, kind="stable").tolist()}

    def explain(self, what: str) -> str:
        """Describe the gain of the trees in ``what``, and the columns behind it."""
        gain = f"{self.gain_:.4g} of {what} a row (s.e. {self.gain_error_:.2g}, out of fold)"
        if not self.used:
            return (
                f"Nothing is added to the base: trees would gain {gain}."
                if self.rounds_
                else "Nothing is added to the base."
            )
        asked = ", ".join(
            f"{name} {percent(share, 0)}"
            for name, share in list(self.importance.items())[:5]
            if share >= 0.01
        )
        return f"Trees gain {gain} in {self.rounds_} rounds; columns by share of the gain: {asked}."
