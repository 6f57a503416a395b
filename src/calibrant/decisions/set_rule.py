"""Which classes are in the set of a row: calibration scores, and how a row's classes are held against them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._kernels.row_draws import placed_codes, uniform_of_rows
from calibrant._support.saving import Saved
from calibrant.contracts.calibrator import Calibrator
from calibrant.decisions.cell_scores import CellScores
from calibrant.decisions.cells import By, Cells, require_by, rows_of_groups
from calibrant.decisions.scorer import Scorer
from calibrant.decisions.set_scores.aps import Aps
from calibrant.decisions.set_scores.lac import Lac
from calibrant.decisions.set_scores.margin import Margin
from calibrant.decisions.set_scores.raps import Raps
from calibrant.decisions.set_scores.score import ScoreName, SetScore
from calibrant.decisions.set_scores.top_k import TopK
from calibrant.predictions import Predictions

__all__ = ["SetRule"]

SCORES: dict[str, type[SetScore]] = {"lac": Lac, "aps": Aps, "margin": Margin, "top_k": TopK}


@dataclass(frozen=True, eq=False)
class SetRule(Saved):
    """What a fit leaves.

    Attributes
    ----------
    score : name of the score
    raps : (penalty, ranks that are free), of "raps"
    calibrator : fitted, or None
    draws, seed : whether scores draw, and the seed
    by, cells : for whom the promise holds, and the names of the classes or groups
    class_cells : (K,) the cell of each class, where similar ones share theirs
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
        """By the options of an object that makes sets, before any row is scored."""
        raps = None if sets.score != "raps" else (sets.penalty or 0.0, sets.k_reg or 0)
        nothing = CellScores(np.zeros(0), np.zeros(0), np.zeros(2, dtype=np.intp), shares=False)
        return cls(sets.score, raps, calibrator, sets.randomised, sets.random_state, by, [None], None, nothing)

    @property
    def scorer(self) -> Scorer:
        """What scores rows."""
        score = SCORES[self.score]() if self.raps is None else Raps(*self.raps)
        return Scorer(score, self.calibrator, self.seed if self.draws else None)

    def sets(self, record: Predictions, groups: Any, level: float, *, never_empty: bool) -> np.ndarray:
        """(n, K) booleans; ``never_empty`` adds to an empty set what would come in first as the level rises."""
        require_by(self.by, groups)
        limits, columns = self.held.limits(level), self._columns(record.n_classes)
        cells = None if columns is not None else rows_of_groups(self.by, self.cells, record, groups)
        out = self.scorer.within(record, limits[None, columns] if cells is None else _largest(cells, limits, len(record))[:, None])
        empty = np.flatnonzero(~out.any(axis=1)) if never_empty else np.zeros(0, dtype=np.intp)
        if len(empty):
            score = self.scorer.of_all(record.take(empty))
            p = self._p_values(score, None, None if cells is None else cells.taken(empty))
            # Of several, the least strange.
            score[p < p.max(axis=1, keepdims=True)] = np.inf
            out[empty] = score == score.min(axis=1, keepdims=True)
        return out

    def p_values(self, record: Predictions, groups: Any, *, smoothed: bool) -> np.ndarray:
        """(n, K): how many calibration scores are as strange."""
        require_by(self.by, groups)
        # Not the draw of the score itself; and by place too, for among rows that say the same one draw for all would not be uniform.
        u = uniform_of_rows(placed_codes(record.values), self.seed + 1)[:, None] if smoothed else None
        cells = None if self._columns(record.n_classes) is not None else rows_of_groups(self.by, self.cells, record, groups)
        return self._p_values(self.scorer.of_all(record), u, cells)

    def _columns(self, n_classes: int) -> np.ndarray | None:
        """(K,) the cells of the classes, (1,) where all are in one; None where cells go by rows."""
        if self.by is None:
            return np.zeros(1, dtype=np.intp)
        return np.arange(n_classes) if self.by == "class" else self.class_cells

    def _p_values(self, score: np.ndarray, u: np.ndarray | None, cells: Cells | None) -> np.ndarray:
        columns = self._columns(score.shape[1])
        if cells is None and columns is not None:
            out = np.empty(score.shape)
            for cell in np.unique(columns):
                own = slice(None) if len(columns) == 1 else np.flatnonzero(columns == cell)
                out[:, own] = self.held.p_values(score[:, own], int(cell), u)
            return out
        assert cells is not None
        out = np.full(score.shape, -np.inf)
        for cell in np.unique(cells.cell):
            own = cells.row[cells.cell == cell]
            out[own] = np.maximum(out[own], self.held.p_values(score[own], int(cell), None if u is None else u[own]))
        # A row of a group never seen has nothing to be held against.
        return np.where(out < 0.0, 1.0 if u is None else u, out)


def _largest(cells: Cells, limits: np.ndarray, n_rows: int) -> np.ndarray:
    """(n,) the largest limit of a row's cells; infinite for a row of none."""
    out = np.full(n_rows, -np.inf)
    np.maximum.at(out, cells.row, limits[cells.cell])
    out[np.bincount(cells.row, minlength=n_rows) == 0] = np.inf
    return out
