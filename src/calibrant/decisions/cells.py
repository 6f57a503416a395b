"""Cells of conformal sets (groups and classes), with their scores, counts and guarantees."""

from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np

from calibrant._numerics.bins import upper_edges
from calibrant._numerics.conformal import order_statistic, rows_needed
from calibrant.core.arrays import column_names, plain_array
from calibrant.core.estimators import require_option
from calibrant.core.groups import read_groups
from calibrant.core.guarantee import Guarantee
from calibrant.core.labels import positions
from calibrant.core.predictions import Predictions
from calibrant.core.saving import Saved
from calibrant.errors import InputError, SparseDataWarning, warn

__all__ = [
    "By",
    "CellScores",
    "Cells",
    "ScoreCounts",
    "require_by",
    "rows_of_cells",
    "rows_of_groups",
    "set_promise",
    "short_cells",
    "similar_classes",
]

By = Literal["class", "similar_classes", "groups", "overlapping"]


@dataclass(frozen=True)
class Cells:
    """Names of the cells, and pairs of (row, cell), (m,) each; a row may be in several cells."""

    names: list[Any]
    row: np.ndarray
    cell: np.ndarray

    def subset(self, rows: np.ndarray) -> "Cells":
        """Return the cells of some of the rows, which are renumbered."""
        place = np.full(max(self.row.max(initial=-1), rows.max(initial=-1)) + 1, -1)
        place[rows] = np.arange(len(rows))
        inside = place[self.row] >= 0
        return Cells(self.names, place[self.row][inside], self.cell[inside])

    def of_classes(self, record: Predictions, class_cells: np.ndarray | None) -> "Cells":
        """Return these cells and those of similar classes, numbered from 1 by ``class_cells`` (K,);
        None changes nothing.
        """
        if class_cells is None:
            return self
        cluster = class_cells[record.strata]
        clustered = np.flatnonzero(cluster > 0)
        names = list(range(int(class_cells.max()) + 1))
        return Cells(
            names,
            np.concatenate([self.row, clustered]),
            np.concatenate([self.cell, cluster[clustered]]),
        )


def require_by(by: Any, groups: Any) -> None:
    """Raise InputError unless ``by`` is known and groups are passed exactly where it needs them."""
    require_option("by", by, (None, "class", "similar_classes", "groups", "overlapping"))
    if (by in ("groups", "overlapping")) != (groups is not None):
        remedy = "pass groups=" if groups is None else 'leave them out, or set by="groups"'
        raise InputError(
            f"groups must be passed where by names groups, and nowhere else; got by={by!r};"
            f" {remedy}."
        )


def rows_of_cells(by: By | None, record: Predictions, groups: Any) -> Cells:
    """Return the cells of the rows of a labelled record; similar classes are found later."""
    require_by(by, groups)
    rows = np.arange(len(record))
    if by is None or by == "similar_classes":
        return Cells([None], rows, np.zeros(len(record), dtype=np.intp))
    if by == "class":
        return Cells(record.classes.tolist(), rows, record.strata)
    if by == "groups":
        grouping = read_groups(groups, record)
        return Cells(grouping.names.tolist(), rows, grouping.index)
    names, member = _membership(groups, record)
    row, cell = np.nonzero(member)
    # All rows form a group too, so a row of no group has its promise.
    return Cells(
        [None, *names],
        np.concatenate([rows, row]),
        np.concatenate([np.zeros(len(rows), dtype=np.intp), cell + 1]),
    )


def rows_of_groups(by: By | None, names: list[Any], record: Predictions, groups: Any) -> Cells:
    """Return the cells of new rows by their groups, named as in ``fit``; rows of a new group have
    none, with a warning.
    """
    if by == "overlapping":
        columns, member = _membership(groups, record)
        if columns != names[1:]:
            raise InputError(
                f"groups must have the columns that were passed to fit, {names[1:]}; got {columns}."
            )
        return Cells(
            names, *np.nonzero(np.column_stack([np.ones(len(member), dtype=bool), member]))
        )
    grouping = read_groups(groups, record)
    cell_of = np.array(positions(names, grouping.names.tolist()), dtype=np.intp)
    new = [text for text, cell in zip(grouping.texts, cell_of, strict=True) if cell < 0]
    if new:
        warn(
            f"groups {new[:6]} had no rows in fit; their sets hold every class.",
            SparseDataWarning,
        )
    rows = np.flatnonzero(cell_of[grouping.index] >= 0)
    return Cells(names, rows, cell_of[grouping.index][rows])


def _membership(groups: Any, record: Predictions) -> tuple[list[Any], np.ndarray]:
    """Return (names of the columns, (n, G) booleans)."""
    names, member = column_names(groups, "groups"), record.per_row(plain_array(groups, "groups"))
    if member.ndim != 2 or len(member) != len(record) or not np.isin(member, (0, 1)).all():
        raise InputError(
            f"overlapping groups must be ({len(record)}, G) booleans, one column a group; got"
            f' shape {member.shape} of {member.dtype}; for one label a row set by="groups".'
        )
    return (list(range(member.shape[1])) if names is None else list(names)), member.astype(bool)


@dataclass(frozen=True, eq=False)
class CellScores(Saved):
    """Distinct scores of each cell, ascending, with their cumulative masses.

    Attributes
    ----------
    scores, mass : (m,) concatenated by cell.
    start : (C + 1,) first position of each cell, and the end of the last.
    shares : bool
        Whether masses are shares of clusters, which count as one each, or weights, rather than
        whole rows.
    """

    scores: np.ndarray
    mass: np.ndarray
    start: np.ndarray
    shares: bool

    @classmethod
    def of(
        cls,
        score: np.ndarray,
        mass: np.ndarray,
        cell: np.ndarray,
        n_cells: int,
        *,
        shares: bool = False,
    ) -> "CellScores":
        """Build from scores in any order, the mass and the cell of each, (m,) each."""
        order = np.argsort(score, kind="stable")
        if n_cells > 1:
            order = order[np.argsort(cell[order], kind="stable")]
        score, cell = score[order], cell[order]
        first = (
            np.flatnonzero(np.append(True, (np.diff(score) != 0.0) | (np.diff(cell) != 0)))
            if len(score)
            else np.zeros(0, np.intp)
        )
        total = np.cumsum(mass[order])
        start = np.searchsorted(cell[first], np.arange(n_cells + 1))
        until = np.append(first[1:], len(score)) - 1
        before = np.append(0.0, total)[np.append(first, len(score))[start[:-1]]]
        return cls(score[first], total[until] - np.repeat(before, np.diff(start)), start, shares)

    def part(self, cell: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (distinct scores, cumulative masses) of one cell."""
        span = slice(int(self.start[cell]), int(self.start[cell + 1]))
        return self.scores[span], self.mass[span]

    @property
    def n(self) -> np.ndarray:
        """(C,) number of rows, or clusters, of each cell."""
        return np.append(0.0, self.mass)[self.start[1:]] * (np.diff(self.start) > 0)

    def limits(self, level: float, mass: Any = 1.0) -> np.ndarray:
        """Return (C,) the largest score of a class in the set; infinite where a cell has too few
        rows for the level. With masses (n,) of new rows, (n, C).
        """
        limits = [
            order_statistic(*self.part(cell), level, shares=self.shares, new_mass=mass)
            for cell in range(len(self.start) - 1)
        ]
        return np.array(limits, dtype=np.float64).T

    def p_values(
        self, score: np.ndarray, cell: int, u: np.ndarray | None = None, new: Any = 1.0
    ) -> np.ndarray:
        """Return the share of the cell's scores, and of the new row of mass ``new``, at or above
        these; with ``u`` a random part of the ties.
        """
        scores, mass = self.part(cell)
        mass = np.append(0.0, mass)
        below, upto = (
            mass[np.searchsorted(scores, score, side="left")],
            mass[np.searchsorted(scores, score, side="right")],
        )
        equal = (upto - below + new) if u is None else u * (upto - below + new)
        return (mass[-1] - upto + equal) / (mass[-1] + new)


#: Quantiles of the scores of its rows that describe a class.
QUANTILES = (0.5, 0.6, 0.7, 0.8, 0.9)
#: The published rule spends a share K / (75 + K) of the rows on clustering. It makes half as many
#: clusters as the rarest class has rows among them.
SPENT = 75.0


def similar_classes(
    score: np.ndarray,
    labels: np.ndarray,
    weight: np.ndarray,
    n_classes: int,
    level: float,
    seed: int = 0,
) -> np.ndarray:
    """Return (K,) the cluster of each class, numbered from 1; 0 for classes with too few rows,
    which take the limit of all rows.

    References
    ----------
    Ding, Angelopoulos, Bates, Jordan and Tibshirani, "Class-conditional conformal prediction with
    many classes", NeurIPS 2023.
    """
    # A local import: scikit-learn's clustering is large and nothing else needs it.
    from sklearn.cluster import KMeans  # pyright: ignore

    count = np.bincount(labels, weights=weight, minlength=n_classes)
    frequent = np.flatnonzero(count >= rows_needed(level))
    out = np.zeros(n_classes, dtype=np.intp)
    if not len(frequent):
        return out
    order = np.argsort(score, kind="stable")
    parts = [order[labels[order] == k] for k in frequent]
    quantiles = np.array([_quantiles(score[rows], weight[rows]) for rows in parts])
    # Sorted, so that the order of the classes changes nothing.
    ranking = np.lexsort(quantiles.T[::-1])
    frequent, quantiles = frequent[ranking], quantiles[ranking]
    n_by_rule = int(n_classes / (SPENT + n_classes) * count[frequent].min() / 2.0)
    n_clusters = max(1, min(n_by_rule, len(np.unique(quantiles, axis=0))))
    means = cast(Any, KMeans)(n_clusters, random_state=seed, n_init=10)
    out[frequent] = means.fit(quantiles, sample_weight=np.sqrt(count[frequent])).labels_ + 1
    return out


def _quantiles(score: np.ndarray, weight: np.ndarray) -> np.ndarray:
    total = np.cumsum(weight)
    return score[np.searchsorted(total, np.array(QUANTILES) * total[-1] * (1.0 - 1e-12))]


class ScoreCounts(Saved):
    """Mass of calibration scores in each bin of each cell; empty bins are left out.

    Attributes
    ----------
    settings : dict of the options behind the scores; only counts with equal settings can be added.
    cells : list of the cells' names.
    span : (low, high) of the score.
    n : float, number of rows, or clusters.
    keys, counts : (m,) cell times bins plus bin, ascending; and their masses.
    """

    def __init__(
        self, settings: dict[str, Any], cells: list[Any], span: tuple[float, float], n: float
    ) -> None:
        self.settings: dict[str, Any] = settings
        self.cells: list[Any] = cells
        self.span: tuple[float, float] = span
        self.n: float = n
        self.keys: np.ndarray = np.zeros(0, dtype=np.int64)
        self.counts: np.ndarray = np.zeros(0)

    @property
    def edges(self) -> np.ndarray:
        """(B,) upper edges of the bins, on the scale of the score."""
        low, high = self.span
        edges = low + upper_edges(int(self.settings["n_bins"])) * (high - low)
        # Scores that rounding puts above the highest belong to the last bin.
        return np.append(edges[:-1], high + 1e-9 * (high - low))

    def add(self, score: np.ndarray, mass: np.ndarray, cell: np.ndarray) -> None:
        """Add scores, (m,), with their masses and the numbers of their cells."""
        edges = self.edges
        keys = cell.astype(np.int64) * len(edges) + np.searchsorted(edges, score, side="left")
        self.add_keys(keys, mass)

    def add_keys(self, keys: np.ndarray, counts: np.ndarray) -> None:
        """Add masses of bins, (m,), numbered as cell times bins plus bin."""
        self.keys, place = np.unique(np.concatenate([self.keys, keys]), return_inverse=True)
        self.counts = np.bincount(place, weights=np.concatenate([self.counts, counts]))

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, ScoreCounts):
            return NotImplemented
        if (self.settings, self.span) != (other.settings, other.span):
            odd = sorted(
                k
                for k in self.settings.keys() | other.settings.keys()
                if self.settings.get(k) != other.settings.get(k)
            )
            raise InputError(
                "only counts made with the same settings can be added; these differ in"
                f" {', '.join(odd) or 'the span'}."
            )
        new = [name for name in other.cells if name not in self.cells]
        out = ScoreCounts(self.settings, [*self.cells, *new], self.span, self.n + other.n)
        for part in (self, other):
            cell, bins = np.divmod(part.keys, len(self.edges))
            place = np.array([out.cells.index(name) for name in part.cells], dtype=np.int64)
            out.add_keys(place[cell] * len(self.edges) + bins, part.counts)
        return out

    def __radd__(self, other: Any) -> Any:
        return self if other == 0 else NotImplemented

    def cell_scores(self, settings: dict[str, Any]) -> CellScores:
        """Return the scores, each rounded up to the upper edge of its bin; guarantees of exact
        scores hold for these too.

        ``settings`` must equal those of the counts.
        """
        odd = {
            name: self.settings.get(name)
            for name, value in settings.items()
            if self.settings.get(name) != value
        }
        if odd:
            raise InputError(
                f"state must be made with the options of these sets; it was made with {odd}; call"
                " state() of these sets."
            )
        cell, bins = np.divmod(self.keys, len(self.edges))
        return CellScores.of(
            self.edges[bins],
            self.counts,
            cell.astype(np.intp),
            len(self.cells),
            shares=bool(self.settings["shares"]),
        )


OVER: dict[By | None, str] = {
    None: "new rows",
    "class": "new rows of each class",
    # Classes in no cluster take the limit of all rows, which is not their own.
    "similar_classes": (
        "new rows of each group of similar classes, not of classes too rare to be in one"
    ),
    "groups": "new rows of each group",
    "overlapping": "new rows of each group, and of all",
}
#: Assumption of weighted conformal prediction.
WEIGHTED = (
    "the weights are how much more frequent each input has become, were learned from other rows,"
    " and labels given the inputs have not changed"
)
METHOD: dict[By | None, str] = {
    None: "split conformal",
    "class": "class-conditional split conformal",
    "similar_classes": "clustered split conformal",
    "groups": "Mondrian split conformal",
    "overlapping": "largest of Mondrian split conformal limits",
}


def set_promise(
    scores: CellScores,
    level: float,
    by: By | None,
    n: float,
    *,
    exact: bool,
    prefitted: bool,
    weighted: bool = False,
) -> Guarantee:
    """Return the guarantee of sets at the level; ``exact`` if nothing was added to them,
    ``prefitted`` if a fitted calibrator was passed, ``weighted`` if the rows of both have sampling
    weights.
    """
    # If all scores differ, the coverage follows from a rank.
    distinct = exact and by is None and not scores.shares and len(scores.scores) == n
    most = level + 1.0 / (n + 1.0) if distinct and np.isfinite(scores.limits(level)).all() else None
    # Each cell's promise rests on its own rows; the smallest cell varies most by chance.
    n = n if by is None else float(scores.n.min())
    if weighted:
        return Guarantee(
            "marginal", "coverage", OVER[by], WEIGHTED, n, level, method=f"weighted {METHOD[by]}"
        )
    unit = "clusters" if scores.shares else "rows"
    condition = (
        ", on none of which the calibrator was fitted"
        if prefitted
        else ", on none of which anything else was fitted"
    )
    return Guarantee(
        "marginal",
        "coverage",
        OVER[by],
        f"new {unit} are exchangeable with these {unit}{condition}",
        n,
        level,
        most,
        unit,
        method=("hierarchical " if scores.shares else "") + METHOD[by],
    )


def short_cells(names: list[Any], scores: CellScores, level: float, by: By | None) -> list[Any]:
    """Return the cells with too few rows for the level, whose limit is infinite; a warning names
    them.
    """
    short = [
        (name, n)
        for name, n, limit in zip(
            names, scores.n.tolist(), scores.limits(level).tolist(), strict=True
        )
        if np.isinf(limit)
    ]
    if short:
        subject = {None: "the calibration rows are", "class": "some classes have"}.get(
            by, "some groups have"
        )
        listing = (
            ""
            if by is None
            else ": "
            + ", ".join(f"{name!r} ({n:g} rows)" for name, n in short[:6])
            + ", ..." * (len(short) > 6)
        )
        subject += " too few" + (f", {short[0][1]:g}" if by is None else " rows")
        effect = (
            "those classes are in every set" if by == "class" else "their sets hold every class"
        )
        warn(
            f"{subject} for a level of {level:g}{listing}; {effect}; a limit needs at least"
            f" {rows_needed(level)} rows.",
            SparseDataWarning,
        )
    return [name for name, _ in short]
