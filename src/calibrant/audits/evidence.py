"""What a single group says: its evidence as a bet, for the share of false finds; and its gap shrunk towards none."""

import numpy as np

from calibrant._kernels.group_bets import by_adjusted, e_adjusted, log_bets
from calibrant.audits.levels import Family
from calibrant.audits.nulls import Tested
from calibrant.audits.sample import OutcomeSample, Sample

__all__ = ["false_discovery", "shrunk_gaps"]


def false_discovery(sample: Sample, family: Family, tested: Tested, null: str) -> np.ndarray:
    """(G, q) p-values adjusted so that of the groups found the expected share of false ones is at most theirs; nan where not tested.

    Of outcomes in independent rows it is e-BH, valid however groups overlap: the bet of a group is a mean over shifts of its log-odds
    (strong), or over stakes (weak: the product of 1 + stake x error has mean 1 at most). Of others, Benjamini and Yekutieli's of normal
    or Student's p-values.
    """
    out, which = np.full(tested.tested.shape, np.nan), tested.tested
    if not which.any():
        return out
    if isinstance(sample, OutcomeSample) and sample.cluster is None:
        hits = sample.weight * sample.came[:, 0]
        bets = log_bets(family.matrix, sample.said[:, 0], hits, sample.weight - hits, null == "strong")
        out[which] = e_adjusted(bets[:, None][which])
    else:
        out[which] = by_adjusted(tested.statistic[which], None if sample.cluster is None else float(sample.cluster.max()))
    return out


def shrunk_gaps(gap: np.ndarray, error: np.ndarray, used: np.ndarray) -> np.ndarray:
    """(G, q) gaps drawn towards 0 by as much as their errors explain: gap t^2 / (t^2 + error^2), t^2 of greatest likelihood by question."""
    out = np.zeros(gap.shape)
    for q in range(gap.shape[1]):
        one, of = gap[used[:, q], q], error[used[:, q], q] ** 2
        if len(one):
            out[:, q] = gap[:, q] * (share := _spread(one, of)) / np.maximum(share + error[:, q] ** 2, 1e-300)
    return out


def _spread(gap: np.ndarray, of: np.ndarray) -> float:
    """t^2 of greatest likelihood where gap ~ N(0, t^2 + of), on a grid; 0 is on it."""
    grid = np.append(0.0, np.geomspace(1e-4, 10.0, 200) * max(float(np.mean(gap * gap)), 1e-300))
    total = grid[:, None] + np.maximum(of, 1e-300)
    return float(grid[np.argmax(-0.5 * (np.log(total) + gap * gap / total).sum(axis=1))])
