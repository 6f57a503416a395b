"""How the automatic choice stands beside the peers, by number of rows and slice: what a part of
the arena is judged by.
"""

import numpy as np
from benchmarks.arena import results
from benchmarks.arena import table as numbers
from benchmarks.arena.table import AUTOMATIC
from scipy.stats import beta

#: At or below the best of the peers but for this share.
CLOSE = 0.001
NEAR_PERFECT = 0.1
#: A run is clearly worse where it is so by this many paired standard errors too.
CLEARLY = 2.0
HEADER = (
    "slice",
    "runs",
    "log loss",
    "change against doing nothing",
    "win rate over peers",
    "within 0.1 % of the best peer",
    "the same of the peer chosen",
    "share of the oracle's gain",
    "worse than doing nothing (95 %)",
    "of them clearly",
)
CLASSES = (
    ("2 classes", 2, 2),
    ("3 to 9 classes", 3, 9),
    ("10 to 19 classes", 10, 19),
    ("20 classes and more", 20, 10**9),
)


def slices(part):
    """(name, (R,) bool) of each slice that has runs: all, by calibration rows, classes and
    model, and near-perfect models.
    """
    nothing = part.score["log_loss"][part.methods.index(numbers.NOTHING)]
    size, model = (
        np.array([run.size for run in part.runs]),
        np.array([run.case.name.partition("+")[2] for run in part.runs]),
    )
    found = [
        ("all", np.ones(len(part.runs), bool)),
        *((f"{n:,} rows", size == n) for n in np.unique(size)),
    ]
    by_classes = [
        (name, (part.n_classes >= low) & (part.n_classes <= high)) for name, low, high in CLASSES
    ]
    found += [(name, runs) for name, runs in by_classes if not runs.all()]
    found += [(name, model == name) for name in np.unique(model) if name]
    found += [("near-perfect", nothing < NEAR_PERFECT)]
    return [(name, runs) for name, runs in found if runs.any()]


def chosen_peer(part):
    """(R,) log loss on test rows of the peer that was best by folds of the calibration rows; NaN
    where none was tried by folds.
    """
    peers, score = part.score["folds"][part.peer], part.score["log_loss"][part.peer]
    there = ~np.isnan(peers).all(axis=0)
    out = np.full(len(part.runs), np.nan)
    out[there] = score[np.nanargmin(peers[:, there], axis=0), np.flatnonzero(there)]
    return out


def rows(part, folder):
    """The table's cells. The best of the peers is picked on the test rows, so it is better than
    any peer is; the peer chosen is not.
    """
    if AUTOMATIC not in part.methods or not part.peer.any():
        return []
    score = part.score["log_loss"]
    ours, nothing = (score[part.methods.index(name)] for name in (AUTOMATIC, numbers.NOTHING))
    best, oracle, chosen = (
        np.nanmin(score[part.peer], axis=0),
        np.nanmin(score, axis=0),
        chosen_peer(part),
    )
    clearly = clearly_worse(part, folder)
    cells = []
    for name, runs in slices(part):
        o, b, n = ours[runs], best[runs], nothing[runs]
        told = ~np.isnan(chosen[runs])
        cells.append(
            (
                name,
                str(runs.sum()),
                f"{o.mean():.4f}",
                f"{100 * (o / n - 1).mean():+.2f} %",
                f"{win_rate(o, score[part.peer][:, runs]):.3f}",
                f"{100 * (o <= (1 + CLOSE) * b).mean():.0f} %",
                f"{100 * (chosen[runs][told] <= (1 + CLOSE) * b[told]).mean():.0f} %"
                if told.any()
                else "",
                f"{(n - o).sum() / max((n - oracle[runs]).sum(), 1e-12):.2f}",
                harm(o, n),
                str(int(clearly[runs].sum())),
            )
        )
    return cells


def win_rate(ours, peers):
    """Mean over the peers (M, R) of the share of runs in which ``ours``, (R,), has the lower
    score, ties half.
    """
    return float(numbers.win_rates(np.vstack([ours, peers]), np.arange(len(peers) + 1) > 0)[0])


def clearly_worse(part, folder):
    """(R,) bool: the automatic choice is more than 0.5 % and two paired standard errors worse
    than doing nothing.
    """
    out = np.zeros(len(part.runs), bool)
    for j, run in enumerate(part.runs):
        if all(
            results.path_of(folder, run.name, name).exists()
            for name in (AUTOMATIC, numbers.NOTHING)
        ):
            a, b = (
                results.load(folder, run.name, name)["log_loss"].astype(np.float64)
                for name in (AUTOMATIC, numbers.NOTHING)
            )
            error = (a - b).std(ddof=1) / np.sqrt(len(a))
            out[j] = a.mean() > (1.0 + numbers.HARM) * b.mean() and (a - b).mean() > CLEARLY * error
    return out


def harm(ours, nothing):
    """Share of runs more than 0.5 % worse than nothing, with its Clopper-Pearson interval."""
    worse, n = int((ours > (1.0 + numbers.HARM) * nothing).sum()), len(ours)
    low, high = (
        (beta.ppf(0.025, worse, n - worse + 1) if worse else 0.0),
        (beta.ppf(0.975, worse + 1, n - worse) if worse < n else 1.0),
    )
    return f"{100 * worse / n:.1f} % ({100 * low:.1f}, {100 * high:.1f})"
