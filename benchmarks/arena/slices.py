"""How the automatic choice stands beside the best peer, by number of rows and slice: the numbers of a set-aside half, judged once."""

import numpy as np
from benchmarks.arena import table as numbers
from benchmarks.arena.table import AUTOMATIC
from scipy.stats import beta

#: At or below the best of the peers but for this share.
CLOSE = 0.001
NEAR_PERFECT = 0.1
HEADER = (
    "slice", "runs", "log loss", "change against doing nothing", "within 0.1 % of the best peer", "the same of the peer chosen",
    "share of the oracle's gain", "worse than doing nothing (95 % bound)",
)  # fmt: skip


def slices(part):
    """(name, (R,) bool) of each slice that has runs: all, by calibration rows, by model, near-perfect models, many classes."""
    nothing = part.score["log_loss"][part.methods.index(numbers.NOTHING)]
    size, model = np.array([run.size for run in part.runs]), np.array([run.case.name.partition("+")[2] for run in part.runs])
    found = [("all", np.ones(len(part.runs), bool)), *((f"{n:,} rows", size == n) for n in np.unique(size))]
    found += [(name, model == name) for name in np.unique(model) if name]
    found += [("near-perfect", nothing < NEAR_PERFECT), ("20 classes and more", part.n_classes >= 20)]
    return [(name, runs) for name, runs in found if runs.any()]


def chosen_peer(part):
    """(R,) log loss on test rows of the peer that was best by folds of the calibration rows; NaN where none was tried by folds."""
    peers, score = part.score["folds"][part.peer], part.score["log_loss"][part.peer]
    there = ~np.isnan(peers).all(axis=0)
    out = np.full(len(part.runs), np.nan)
    out[there] = score[np.nanargmin(peers[:, there], axis=0), np.flatnonzero(there)]
    return out


def rows(part):
    """The table's cells. The best of the peers is picked on the test rows, so it is better than any peer is; the peer chosen is not."""
    if AUTOMATIC not in part.methods or not part.peer.any():
        return []
    score = part.score["log_loss"]
    ours, nothing = (score[part.methods.index(name)] for name in (AUTOMATIC, numbers.NOTHING))
    best, oracle, chosen = np.nanmin(score[part.peer], axis=0), np.nanmin(score, axis=0), chosen_peer(part)
    cells = []
    for name, runs in slices(part):
        o, b, n = ours[runs], best[runs], nothing[runs]
        told = ~np.isnan(chosen[runs])
        cells.append((
            name, str(runs.sum()), f"{o.mean():.4f}", f"{100 * (o / n - 1).mean():+.2f} %", f"{100 * (o <= (1 + CLOSE) * b).mean():.0f} %",
            f"{100 * (chosen[runs][told] <= (1 + CLOSE) * b[told]).mean():.0f} %" if told.any() else "",
            f"{(n - o).sum() / max((n - oracle[runs]).sum(), 1e-12):.2f}", harm(o, n),
        ))  # fmt: skip
    return cells


def harm(ours, nothing):
    """Share of runs more than 0.5 % worse than nothing, with the upper end of its Clopper-Pearson interval."""
    worse, n = int((ours > (1.0 + numbers.HARM) * nothing).sum()), len(ours)
    bound = 1.0 if worse == n else beta.ppf(0.975, worse + 1, n - worse)
    return f"{100 * worse / n:.1f} % ({100 * bound:.1f} %)"
