"""Rows of an audit's table, from sums and tests."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from calibrant.audits.levels import Family
from calibrant.audits.limits import gap_limits
from calibrant.audits.nulls import Tested
from calibrant.audits.result import GroupGap
from calibrant.audits.sample import Sample, ScoreSample

__all__ = ["gaps", "shrunk_gaps", "sorted_gaps"]


def shrunk_gaps(gap: np.ndarray, error: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Return (G, q) gaps shrunk towards 0 by the part that their errors explain: gap t^2 / (t^2 +
    error^2), with t^2 of maximum likelihood by question.
    """
    out = np.zeros(gap.shape)
    for q in range(gap.shape[1]):
        one, of = gap[used[:, q], q], error[used[:, q], q] ** 2
        if len(one):
            out[:, q] = (
                gap[:, q]
                * (share := _spread(one, of))
                / np.maximum(share + error[:, q] ** 2, 1e-300)
            )
    return out


def _spread(gap: np.ndarray, of: np.ndarray) -> float:
    """Return t^2 of maximum likelihood for gap ~ N(0, t^2 + of), on a grid that contains 0."""
    grid = np.append(0.0, np.geomspace(1e-4, 10.0, 200) * max(float(np.mean(gap * gap)), 1e-300))
    total = grid[:, None] + np.maximum(of, 1e-300)
    return float(grid[np.argmax(-0.5 * (np.log(total) + gap * gap / total).sum(axis=1))])


def gaps(
    sample: Sample,
    family: Family,
    tested: Tested,
    p_value: np.ndarray,
    critical: np.ndarray,
    alpha: float,
    tolerance: float,
    found: bool,
) -> list[GroupGap]:
    """Return one for each group and question. ``p_value`` (G, q) is adjusted; intervals extend to
    ``critical`` (G, q) standard deviations.
    """
    totals, of_scores = tested.totals, isinstance(sample, ScoreSample)
    n = np.where(totals.n > 0.0, totals.n, np.nan)
    low, high = gap_limits(sample, totals, tested.spread, critical)
    said, came = totals.said / n, totals.came / n
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(said > 0.0, came / said, np.nan)
    off = p_value <= alpha
    holds = ~off & tested.tested & (np.maximum(np.abs(low), np.abs(high)) <= tolerance)
    columns = {
        "n": totals.n,
        "events": None if of_scores else totals.came,
        "said": said,
        "came": came,
        "gap": said - came,
        "low": low,
        "high": high,
        "ratio": ratio,
        "error": None if of_scores else np.abs(totals.parts_off).sum(axis=-1) / n,
        "error_by_chance": None
        if of_scores
        else np.sqrt(2.0 / np.pi) * np.sqrt(totals.parts_variance).sum(axis=-1) / n,
        "score_gap": None if of_scores else totals.score / n,
        "shrunk": shrunk_gaps(said - came, tested.spread / n, tested.tested),
        "p_value": p_value,
    }
    outcome = np.where(off, "off", np.where(holds, "holds", "not enough data"))
    out = list[GroupGap]()
    for g, where in enumerate(family.where):
        for q, question in enumerate(sample.questions):
            numbers: dict[str, Any] = {
                name: _known(values, g, q) for name, values in columns.items()
            }
            out.append(
                GroupGap(where, question, **numbers, outcome=outcome[g, q].item(), found=found)
            )
    return out


def _known(values: np.ndarray | None, g: int, q: int) -> float | None:
    value = None if values is None else float(values[g, q])
    return None if value is None or np.isnan(value) else value


def sorted_gaps(rows: Iterable[GroupGap]) -> list[GroupGap]:
    """Sort the miscalibrated first, by p-value and by the distance of their interval from 0; then
    the rest, by the latter.
    """

    def key(one: GroupGap) -> tuple[Any, ...]:
        away = max(one.low, -one.high, 0.0)
        return (
            one.outcome != "off",
            one.p_value if one.outcome == "off" else 0.0,
            -away,
            -abs(one.shrunk),
            one.name,
        )

    return sorted(rows, key=key)
