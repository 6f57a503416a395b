"""What prediction sets promise, in words that say what it was bought with."""

from typing import Any

import numpy as np

from calibrant._kernels.order_statistic import rows_needed
from calibrant.contracts.guarantee import Guarantee
from calibrant.decisions.cell_scores import CellScores
from calibrant.decisions.cells import By
from calibrant.errors import SparseDataWarning, warn

__all__ = ["set_promise", "short_cells"]

OVER: dict[By | None, str] = {
    None: "new rows", "class": "new rows of each class",
    # The others take the limit of all rows, which is not their own.
    "similar_classes": "new rows of each group of similar classes, not of classes too rare to be in one",
    "groups": "new rows of each group", "overlapping": "new rows of each group, and of all",
}  # fmt: skip
METHOD: dict[By | None, str] = {
    None: "split conformal", "class": "class-conditional split conformal", "similar_classes": "clustered split conformal",
    "groups": "Mondrian split conformal", "overlapping": "largest of Mondrian split conformal limits",
}  # fmt: skip


def set_promise(held: CellScores, level: float, by: By | None, n: float, *, exact: bool, given: bool) -> Guarantee:
    """The promise of sets at the level; ``exact`` where nothing was added to them, ``given`` where a fitted calibrator was."""
    # With no two scores equal the coverage is that of a rank.
    told_apart = exact and by is None and not held.shares and len(held.scores) == n
    most = level + 1.0 / (n + 1.0) if told_apart and np.isfinite(held.limits(level)).all() else None
    # Each cell's promise rests on its own rows: the least of them says how far chance moves it.
    n = n if by is None else float(held.n.min())
    unit = "clusters" if held.shares else "rows"
    others = ", on none of which the calibrator was fitted" if given else ", on none of which anything else was fitted"
    return Guarantee(
        "marginal", "coverage", OVER[by], f"new {unit} are exchangeable with these {unit}{others}", n, level, most, unit,
        method=("hierarchical " if held.shares else "") + METHOD[by],
    )  # fmt: skip


def short_cells(names: list[Any], held: CellScores, level: float, by: By | None) -> list[Any]:
    """The cells with too few rows for the level, whose limit is infinite; a warning says so."""
    short = [(name, n) for name, n, limit in zip(names, held.n.tolist(), held.limits(level).tolist(), strict=True) if np.isinf(limit)]
    if short:
        what = {None: "the calibration rows are", "class": "some classes have"}.get(by, "some groups have")
        which = "" if by is None else ": " + ", ".join(f"{name!r} ({n:g} rows)" for name, n in short[:6]) + ", ..." * (len(short) > 6)
        what += " too few" + (f", {short[0][1]:g}" if by is None else " rows")
        effect = "those classes are in every set" if by == "class" else "their sets hold every class"
        warn(f"{what} for a level of {level:g}{which}; {effect}; a limit needs {rows_needed(level)} rows at least.", SparseDataWarning)
    return [name for name, _ in short]
