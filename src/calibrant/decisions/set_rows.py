"""What prediction sets are fitted on: rows for what is learned or chosen first, and the others for the promise."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._kernels.order_statistic import shares
from calibrant._support.options import require_count, require_not_negative, require_option
from calibrant.contracts.calibrator import Calibrator
from calibrant.contracts.interval import require_level
from calibrant.decisions.cell_scores import CellScores
from calibrant.decisions.cells import Cells
from calibrant.decisions.repetitions import repetitions, require_share
from calibrant.decisions.score_counts import ScoreCounts
from calibrant.decisions.scorer import Scorer
from calibrant.decisions.set_rule import SetRule
from calibrant.decisions.set_scores.raps import chosen_raps
from calibrant.decisions.similar_classes import similar_classes
from calibrant.errors import InputError
from calibrant.folds.dealt import dealt
from calibrant.folds.model_outputs import is_fitted
from calibrant.folds.out_of_fold import fit_clone
from calibrant.predictions import Inputs, Predictions

__all__ = ["SetRows", "counted", "fitted", "inputs_for", "n_units", "require_options"]

#: Rows that a penalty is chosen on, at most.
CHOSEN_ON = 5_000


def inputs_for(inputs: Inputs, calibrator: Any) -> Inputs:
    """Return what P is given as: what the calibrator reads, where there is one that says so."""
    read: Inputs | None = getattr(calibrator, "inputs", None)
    if read is None or read == inputs or not is_fitted(calibrator):
        return "logit" if read == "logit" else inputs
    if inputs == "logit":
        raise InputError(
            'inputs must be what the calibrator was fitted on, "probability"; got "logit"; '
            "leave inputs out, or fit the calibrator on logits."
        )
    return read


@dataclass(frozen=True)
class SetRows:
    """Rows dealt out to uses by name; the last, "certificate", is what the promise is bought with.

    Attributes
    ----------
    parts : dict from the use to its record
    rows : (m,) those of the certificate in the record that was dealt out
    """

    parts: dict[str, Predictions]
    rows: np.ndarray

    @classmethod
    def of(cls, record: Predictions, uses: list[str], share: float, random_state: int) -> "SetRows":
        """``share`` of the rows for the uses together, in equal parts, the others for the certificate."""
        repetitions(record.weights)
        if not uses:
            return cls({"certificate": record}, np.arange(len(record)))
        found = dealt(record, [share / len(uses)] * len(uses) + [1.0 - share], random_state)
        parts = [record.take(rows) if record.weight is None else record.take(rows).weighted(count) for rows, count in found]
        return cls(dict(zip([*uses, "certificate"], parts, strict=True)), found[-1][0])

    @property
    def sizes(self) -> dict[str, float]:
        """How many rows each use has."""
        return {use: float(part.weights.sum()) for use, part in self.parts.items()}

    def calibrator(self, given: Calibrator | None) -> Calibrator | None:
        """The calibrator given, fitted on its own rows where it has some."""
        return given if given is None or "calibrator" not in self.parts else fit_clone(given, self.parts["calibrator"])

    def raps(self, scorer: Scorer, level: float) -> tuple[float, int]:
        """(penalty, free ranks) chosen on its own rows, with the draws of the scorer."""
        part = self.parts["penalty"].take(slice(0, CHOSEN_ON))
        blocks = list(scorer.blocks(part))
        P, u = np.concatenate([P for _, P, _ in blocks]), np.concatenate([u for _, _, u in blocks])
        found = chosen_raps(P, part.strata, part.weights, u, level)
        return found.penalty, found.free

    def class_cells(self, scorer: Scorer, level: float, seed: int) -> np.ndarray | None:
        """(K,) number of the cell of each class, where similar ones are to share theirs; 0 is the cell of all rows."""
        part = self.parts.get("similar classes")
        if part is None:
            return None
        return similar_classes(scorer.of_labels(part), part.strata, part.weights, part.n_classes, level, seed)


def fitted(rule: SetRule, found: SetRows, cells: Cells, level: float) -> SetRule:
    """The rule with all that is learned or chosen, and the scores of the rows of the certificate; ``cells`` are of all rows."""
    rule = replace(rule, calibrator=found.calibrator(rule.calibrator))
    if "penalty" in found.parts:
        rule = replace(rule, raps=found.raps(rule.scorer, level))
    own = found.parts["certificate"]
    rule = replace(rule, class_cells=found.class_cells(rule.scorer, level, rule.seed))
    cells = cells.taken(found.rows).of_classes(own, rule.class_cells)
    score, clusters = rule.scorer.of_labels(own)[cells.row], own.cluster is not None
    return replace(rule, cells=cells.names, held=CellScores.of(score, _masses(own, cells), cells.cell, len(cells.names), shares=clusters))


def counted(rule: SetRule, record: Predictions, cells: Cells, settings: dict[str, Any]) -> ScoreCounts:
    """The scores of a record's rows in fine bins."""
    repetitions(record.weights)
    settings = {**settings, "classes": record.classes.tolist(), "shares": record.cluster is not None}
    out = ScoreCounts(settings, cells.names, rule.scorer.score.span(record.n_classes), n_units(record))
    out.add(rule.scorer.of_labels(record)[cells.row], _masses(record, cells), cells.cell)
    return out


def _masses(record: Predictions, cells: Cells) -> np.ndarray:
    """(m,) what each pair of row and cell counts: its repetitions, or its share of its cluster in the cell."""
    weight = record.weights[cells.row]
    if record.cluster is None:
        return weight
    _, place = np.unique(np.column_stack([record.cluster[cells.row], cells.cell]), axis=0, return_inverse=True)
    return shares(weight, place.ravel())


def n_units(record: Predictions) -> float:
    """How many rows, or clusters, a promise counts."""
    return float(record.weights.sum()) if record.cluster is None else float(len(np.unique(record.cluster)))


def require_options(score: str, level: float, penalty: float | None, k_reg: int | None, share: float, n_bins: int, seed: int) -> None:
    """The options of sets are what they must be, and a penalty is given whole, and where it belongs."""
    require_option("score", score, ("lac", "aps", "raps", "margin", "top_k"))
    require_level(level)
    if (penalty is None) != (k_reg is None) or (penalty is not None and score != "raps"):
        raise InputError(f'penalty and k_reg go together, with score="raps"; got {penalty!r}, {k_reg!r} and {score!r}; give both or none.')
    if penalty is not None:
        require_not_negative("penalty", penalty)
        require_count("k_reg", k_reg, 0)
    require_share("fit_share", share)
    require_count("n_bins", n_bins, 256)
    require_count("random_state", seed, 0, usual=0)
