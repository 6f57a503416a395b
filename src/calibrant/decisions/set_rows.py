"""Split of the rows of prediction sets: some to fit or choose parts, the others for the promise."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._numerics.bootstrap import placed_codes, uniform_of_rows
from calibrant._numerics.conformal import shares
from calibrant.core.calibrator import Calibrator
from calibrant.core.estimators import (
    require_count,
    require_not_negative,
    require_option,
    require_seed,
)
from calibrant.core.folds import dealt, fit_clone
from calibrant.core.given import Inputs
from calibrant.core.groups import WeightKind
from calibrant.core.metric import require_level
from calibrant.core.model_outputs import is_fitted
from calibrant.core.predictions import Predictions
from calibrant.core.saving import Saved
from calibrant.decisions.cells import (
    By,
    Cells,
    CellScores,
    ScoreCounts,
    require_by,
    rows_of_groups,
    similar_classes,
)
from calibrant.decisions.certificates import repetitions, require_share
from calibrant.decisions.set_scores import (
    Aps,
    Lac,
    Margin,
    Ordered,
    Raps,
    ScoreName,
    Scorer,
    SetScore,
    TopK,
    best_raps,
)
from calibrant.errors import InputError, SparseDataWarning, warn

__all__ = [
    "SCORES",
    "SetRows",
    "SetRule",
    "counted",
    "fitted",
    "inputs_for",
    "is_weighted",
    "n_units",
    "require_options",
]

SCORES: dict[str, type[SetScore]] = {
    "lac": Lac,
    "aps": Aps,
    "margin": Margin,
    "top_k": TopK,
    "ordered": Ordered,
}


@dataclass(frozen=True, eq=False)
class SetRule(Saved):
    """Fitted rule of prediction sets.

    Attributes
    ----------
    score : name of the score
    raps : (penalty, number of free ranks), for "raps"
    calibrator : fitted, or None
    draws, seed : whether scores are randomised, and the seed
    by, cells : where the promise holds, and the names of the classes or groups
    class_cells : (K,) the cell of each class, where similar classes share one
    held : CellScores
    """

    score: ScoreName
    raps: tuple[float, int] | None
    calibrator: Calibrator | None
    draws: bool
    seed: int
    by: By | None
    cells: list[Any]
    class_cells: np.ndarray | None
    held: CellScores

    @classmethod
    def unfitted(cls, sets: Any, calibrator: Calibrator | None, by: By | None = None) -> "SetRule":
        """Build from the options of an object that makes sets, before any row is scored."""
        raps = None if sets.score != "raps" else (sets.penalty or 0.0, sets.k_reg or 0)
        nothing = CellScores(np.zeros(0), np.zeros(0), np.zeros(2, dtype=np.intp), shares=False)
        return cls(
            sets.score,
            raps,
            calibrator,
            sets.randomised,
            sets.random_state,
            by,
            [None],
            None,
            nothing,
        )

    @property
    def scorer(self) -> Scorer:
        """The scorer of rows."""
        score = SCORES[self.score]() if self.raps is None else Raps(*self.raps)
        return Scorer(score, self.calibrator, self.seed if self.draws else None)

    def sets(
        self,
        record: Predictions,
        groups: Any,
        level: float,
        *,
        never_empty: bool,
        mass: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return (n, K) booleans; ``never_empty`` adds to an empty set the class that would enter
        first as the level rises. ``mass`` (n,) are the weights of the rows.
        """
        require_by(self.by, groups)
        limits = np.atleast_2d(self.held.limits(level, 1.0 if mass is None else mass))
        columns = self._columns(record.n_classes)
        endless = np.isinf(limits).any(axis=1)
        if mass is not None and endless.any():
            warn(
                f"{endless.sum():,} of {len(record):,} rows have so large a weight that no"
                f" calibration scores bound their set at level {level:g}; it holds every class.",
                SparseDataWarning,
            )
        cells = None if columns is not None else rows_of_groups(self.by, self.cells, record, groups)
        out = self.scorer.within(
            record,
            (
                limits[:, columns]
                if cells is None
                else _largest(cells, limits, len(record))[:, None]
            ),
        )
        empty = np.flatnonzero(~out.any(axis=1)) if never_empty else np.zeros(0, dtype=np.intp)
        if len(empty):
            score = self.scorer.of_all(record.take(empty))
            masses = None if mass is None else mass[empty]
            p = self._p_values(score, None, None if cells is None else cells.subset(empty), masses)
            # Of several such classes, the least strange.
            score[p < p.max(axis=1, keepdims=True)] = np.inf
            out[empty] = score == score.min(axis=1, keepdims=True)
        return out

    def p_values(
        self, record: Predictions, groups: Any, *, smoothed: bool, mass: np.ndarray | None = None
    ) -> np.ndarray:
        """Return (n, K), the share of calibration scores that are as strange."""
        require_by(self.by, groups)
        # The draw must differ from that of the score. It depends on the row's place too: rows with
        # equal predictions would otherwise share one draw, which is not uniform.
        u = (
            uniform_of_rows(placed_codes(record.values), self.seed + 1)[:, None]
            if smoothed
            else None
        )
        cells = (
            None
            if self._columns(record.n_classes) is not None
            else rows_of_groups(self.by, self.cells, record, groups)
        )
        return self._p_values(self.scorer.of_all(record), u, cells, mass)

    def _columns(self, n_classes: int) -> np.ndarray | None:
        """Return (K,) cells of the classes, (1,) if all are in one, or None if cells
        follow rows.
        """
        if self.by is None:
            return np.zeros(1, dtype=np.intp)
        return np.arange(n_classes) if self.by == "class" else self.class_cells

    def _p_values(
        self, score: np.ndarray, u: np.ndarray | None, cells: Cells | None, mass: np.ndarray | None
    ) -> np.ndarray:
        columns = self._columns(score.shape[1])
        new_mass = np.ones((len(score), 1)) if mass is None else mass[:, None]
        if cells is None and columns is not None:
            out = np.empty(score.shape)
            for cell in np.unique(columns):
                index = slice(None) if len(columns) == 1 else np.flatnonzero(columns == cell)
                out[:, index] = self.held.p_values(score[:, index], int(cell), u, new_mass)
            return out
        assert cells is not None
        out = np.full(score.shape, -np.inf)
        for cell in np.unique(cells.cell):
            index = cells.row[cells.cell == cell]
            out[index] = np.maximum(
                out[index],
                self.held.p_values(
                    score[index], int(cell), None if u is None else u[index], new_mass[index]
                ),
            )
        # A row of a new group has no calibration scores to compare with.
        return np.where(out < 0.0, 1.0 if u is None else u, out)


def _largest(cells: Cells, limits: np.ndarray, n_rows: int) -> np.ndarray:
    """Return (n,) the largest limit of a row's cells; infinite for a row without a cell."""
    out = np.full(n_rows, -np.inf)
    np.maximum.at(out, cells.row, limits[np.minimum(cells.row, len(limits) - 1), cells.cell])
    out[np.bincount(cells.row, minlength=n_rows) == 0] = np.inf
    return out


#: Maximum number of rows to choose a penalty on.
CHOSEN_ON = 5_000


def inputs_for(inputs: Inputs, calibrator: Any) -> Inputs:
    """Return the scale of P: the one that the calibrator reads, if it states one."""
    scale: Inputs | None = getattr(calibrator, "inputs", None)
    if scale is None or scale == inputs or not is_fitted(calibrator):
        return "logit" if scale == "logit" else inputs
    if inputs == "logit":
        raise InputError(
            'inputs must be what the calibrator was fitted on, "probability"; got "logit"; '
            "leave inputs out, or fit the calibrator on logits."
        )
    return scale


@dataclass(frozen=True)
class SetRows:
    """Rows for each use by name; the last, "certificate", is the one behind the promise.

    Attributes
    ----------
    parts : dict from the use to its record
    rows : (m,) positions of the certificate rows in the split record
    """

    parts: dict[str, Predictions]
    rows: np.ndarray

    @classmethod
    def of(
        cls,
        record: Predictions,
        uses: list[str],
        share: float,
        random_state: int,
        *,
        weighted: bool = False,
    ) -> "SetRows":
        """Split off ``share`` of the rows for the uses, in equal parts; the others are the
        certificate. Weighted rows are not split.
        """
        if not weighted:
            repetitions(record.weights)
        elif uses:
            raise InputError(
                f"rows with sampling weights are not split, and {uses[0]} needs rows of its own;"
                " fit or choose it on other rows and pass it, or leave it out."
            )
        if not uses:
            return cls({"certificate": record}, np.arange(len(record)))
        splits = dealt(record, [share / len(uses)] * len(uses) + [1.0 - share], random_state)
        parts = [
            record.take(rows) if record.weight is None else record.take(rows).weighted(count)
            for rows, count in splits
        ]
        return cls(dict(zip([*uses, "certificate"], parts, strict=True)), splits[-1][0])

    @property
    def sizes(self) -> dict[str, float]:
        """Number of rows of each use."""
        return {use: float(part.weights.sum()) for use, part in self.parts.items()}

    def calibrator(self, calibrator: Calibrator | None) -> Calibrator | None:
        """Return the calibrator, fitted on its own rows if it has some."""
        return (
            calibrator
            if calibrator is None or "calibrator" not in self.parts
            else fit_clone(calibrator, self.parts["calibrator"])
        )

    def raps(self, scorer: Scorer, level: float) -> tuple[float, int]:
        """Return (penalty, free ranks) chosen on its own rows, with the draws of the scorer."""
        part = self.parts["penalty"].take(slice(0, CHOSEN_ON))
        blocks = list(scorer.blocks(part))
        P, u = np.concatenate([P for _, P, _ in blocks]), np.concatenate([u for _, _, u in blocks])
        choice = best_raps(P, part.strata, part.weights, u, level)
        return choice.penalty, choice.free

    def class_cells(self, scorer: Scorer, level: float, seed: int) -> np.ndarray | None:
        """Return (K,) cells of the classes, where similar ones share theirs; 0 is the cell of all
        rows.
        """
        part = self.parts.get("similar classes")
        if part is None:
            return None
        return similar_classes(
            scorer.of_labels(part), part.strata, part.weights, part.n_classes, level, seed
        )


def fitted(
    rule: SetRule, split: SetRows, cells: Cells, level: float, *, weighted: bool = False
) -> SetRule:
    """Return the rule with its learned and chosen parts, and the scores of the certificate rows;
    ``cells`` are those of all rows.
    """
    rule = replace(rule, calibrator=split.calibrator(rule.calibrator))
    if "penalty" in split.parts:
        rule = replace(rule, raps=split.raps(rule.scorer, level))
    certificate = split.parts["certificate"]
    rule = replace(rule, class_cells=split.class_cells(rule.scorer, level, rule.seed))
    cells = cells.subset(split.rows).of_classes(certificate, rule.class_cells)
    score, shares = (
        rule.scorer.of_labels(certificate)[cells.row],
        weighted or certificate.cluster is not None,
    )
    return replace(
        rule,
        cells=cells.names,
        held=CellScores.of(
            score, _masses(certificate, cells), cells.cell, len(cells.names), shares=shares
        ),
    )


def counted(
    rule: SetRule, record: Predictions, cells: Cells, settings: dict[str, Any]
) -> ScoreCounts:
    """Return the scores of a record's rows in fine bins."""
    repetitions(record.weights)
    settings = {
        **settings,
        "classes": record.classes.tolist(),
        "shares": record.cluster is not None,
    }
    out = ScoreCounts(
        settings, cells.names, rule.scorer.score.span(record.n_classes), n_units(record)
    )
    out.add(rule.scorer.of_labels(record)[cells.row], _masses(record, cells), cells.cell)
    return out


def _masses(record: Predictions, cells: Cells) -> np.ndarray:
    """Return (m,) the mass of each pair of row and cell: the row's repetitions, or its share of its
    cluster in the cell.
    """
    weight = record.weights[cells.row]
    if record.cluster is None:
        return weight
    _, place = np.unique(
        np.column_stack([record.cluster[cells.row], cells.cell]), axis=0, return_inverse=True
    )
    return shares(weight, place.ravel())


def is_weighted(weight_kind: WeightKind, sample_weight: Any, cluster: Any) -> bool:
    """Return whether weights are sampling weights, which need independent rows."""
    require_option("weight_kind", weight_kind, ("frequency", "sampling"))
    if weight_kind == "sampling" and (sample_weight is None or cluster is not None):
        raise InputError(
            'weight_kind="sampling" needs sample_weight and independent rows; pass the weights,'
            " and leave cluster out."
        )
    return weight_kind == "sampling"


def n_units(record: Predictions, *, weighted: bool = False) -> float:
    """Return the number of rows, or clusters, behind a promise; the effective one of weights."""
    if weighted:
        return float(record.weights.sum() ** 2 / (record.weights @ record.weights))
    return (
        float(record.weights.sum())
        if record.cluster is None
        else float(len(np.unique(record.cluster)))
    )


def require_options(
    score: str,
    level: float,
    penalty: float | None,
    k_reg: int | None,
    share: float,
    n_bins: int,
    seed: int,
) -> None:
    """Raise InputError unless the options of sets are valid, and penalty and k_reg come
    together.
    """
    require_option("score", score, ("lac", "aps", "raps", "margin", "top_k", "ordered"))
    require_level(level)
    if (penalty is None) != (k_reg is None) or (penalty is not None and score != "raps"):
        raise InputError(
            f'penalty and k_reg must be passed together, with score="raps"; got {penalty!r},'
            f" {k_reg!r} and {score!r}; pass both or none."
        )
    if penalty is not None:
        require_not_negative("penalty", penalty)
        require_count("k_reg", k_reg, 0)
    require_share("fit_share", share)
    require_count("n_bins", n_bins, 256)
    require_seed("random_state", seed)
