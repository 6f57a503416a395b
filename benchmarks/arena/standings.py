"""How one method stands in the slices that it is judged by, and how it stood at other versions of
the code: ``python -m benchmarks.arena --part PART --report --before FOLDER``.

A folder given with ``--before`` holds results that an older version of ours made. It needs no
results of peers, which do not change with our code. All versions are compared on the runs that all
of them have done.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
from benchmarks.arena import results, slices
from benchmarks.arena import table as numbers
from benchmarks.arena.table import AUTOMATIC

__all__ = ["GOALS", "HEADER", "goals", "parts_of", "rows", "versions"]

HEADER = (
    "slice",
    "results",
    "runs",
    "win rate over all others",
    "win rate over peers",
    "worse than doing nothing (95 %)",
    "above the oracle",
    "log loss",
    "lower than now",
    "fit, CPU s",
)
#: An event in fewer of the rows than this is rare.
RARE = 0.04
#: Goals set before the fresh part was judged: (slice, column of ``HEADER``, least; or most, as a
#: negative number).
GOALS = (
    *((f"2 classes, {n} rows", 3, goal) for n, goal in (("100", 0.74), ("250", 0.82))),
    ("2 classes, 1,000 rows", 3, 0.86),
    *((name, 3, 0.9) for name, low, _ in slices.CLASSES if low > 2),
    ("100 rows", 5, -2.0),
    ("250 rows", 5, -1.0),
    ("1,000 rows and more", 5, -0.0),
)


def parts_of(table):
    """(name, (R,) bool) of each slice that has runs."""
    size = np.array([run.size for run in table.runs])
    two, rarest = table.n_classes == 2, _rarest(table)
    found = [("all", np.ones(len(size), bool))]
    found += [(f"2 classes, {n:,} rows", two & (size == n)) for n in np.unique(size)]
    found += [
        (name, (table.n_classes >= low) & (table.n_classes <= high))
        for name, low, high in slices.CLASSES
        if low > 2
    ]
    found.append(("2 classes, event under 4 %", two & (rarest < RARE)))
    found += [(f"{n:,} rows", size == n) for n in np.unique(size) if n < 1_000]
    found.append(("1,000 rows and more", size >= 1_000))
    return [(name, runs) for name, runs in found if runs.any()]


def _rarest(table):
    """(R,) share of the rarest class in the rows of a run; 1 where the results do not hold it."""
    kept = table.score.get("rarest", np.full((1, len(table.runs)), np.nan))
    return np.nan_to_num(kept, nan=0.0).max(axis=0) + np.isnan(kept).all(axis=0)


def versions(runs, folder, before=(), of=AUTOMATIC):
    """name -> table of the results as they are now and of each folder of older ones, all of the
    same runs and the same peers.
    """
    now = numbers.shared(numbers.collect(runs, folder))
    found = {"now": now} | {Path(each).name: _with_peers(each, now) for each in before}
    names = [_done(table, of) for table in found.values()]
    both = set.intersection(*names) if names else set()
    return {
        name: table.take(runs=np.array([run.name in both for run in table.runs], bool))
        for name, table in found.items()
    }


def _done(table, of):
    if of not in table.methods:
        return set()
    there = ~np.isnan(table.score["log_loss"][table.methods.index(of)])
    return {run.name for run, done in zip(table.runs, there, strict=True) if done}


def _with_peers(folder, now):
    """The older results of ours, with the newer ones of the peers, on the runs of ``now``."""
    runs = [run for run in now.runs if results.path_of(folder, run.name, numbers.NOTHING).exists()]
    old = numbers.collect(runs, folder)
    old = old.take(methods=~old.peer)
    names = {run.name for run in runs}
    theirs = now.take(
        runs=np.array([run.name in names for run in now.runs], bool), methods=now.peer
    )
    stack = lambda a, b: np.vstack([a, b])  # noqa: E731
    return replace(
        old,
        methods=old.methods + theirs.methods,
        peer=np.concatenate([old.peer, theirs.peer]),
        score={key: stack(old.score[key], theirs.score[key]) for key in old.score},
        fit_s=stack(old.fit_s, theirs.fit_s),
        predict_s=stack(old.predict_s, theirs.predict_s),
        failed=stack(old.failed, theirs.failed),
        problem=old.problem | theirs.problem,
    )


def rows(found, of=AUTOMATIC):
    """The table's cells: for each slice a row of each version of ``versions``.

    The win rates leave out methods that did fewer than half of a slice's runs. *Above the oracle*
    is the mean log loss beyond that of the best method of each run, ours and the peers', in
    percent. *Lower than now* is the share of runs in which the older version's log loss is lower,
    ties half.
    """
    now = found["now"]
    if of not in now.methods or not now.runs:
        return []
    latest = now.score["log_loss"][now.methods.index(of)]
    return [
        _row(name, version, table.take(runs=kept), of, latest[kept])
        for name, kept in parts_of(now)
        for version, table in found.items()
    ]


def _row(name, version, part, of, latest):
    part = numbers.finished(part)
    score, me = part.score["log_loss"], part.methods.index(of)
    mine, others = score[me], np.arange(len(score)) != me
    oracle = np.nanmin(score, axis=0)
    wins = numbers.win_rates(score)[me] if others.any() else np.nan
    peers = numbers.win_rates(score, part.peer & others)[me] if part.peer.any() else np.nan
    lower = (mine < latest - numbers.TIE) + 0.5 * (np.abs(mine - latest) <= numbers.TIE)
    return (
        name,
        version,
        str(len(mine)),
        f"{wins:.3f}",
        f"{peers:.3f}",
        slices.harm(mine, score[part.methods.index(numbers.NOTHING)]),
        f"{100.0 * (mine.mean() / max(oracle.mean(), 1e-12) - 1.0):.2f} %",
        f"{mine.mean():.4f}",
        "" if version == "now" else f"{100.0 * lower.mean():.0f} %",
        f"{np.nanmean(part.fit_s[me]):.3f}",
    )


def goals(cells):
    """A line for each goal whose slice is there: what was measured, and whether it is reached."""
    lines = []
    for name, column, goal in GOALS:
        row = next((row for row in cells if row[:2] == (name, "now")), None)
        if row is None:
            continue
        value = float(row[column].split()[0])
        least = column == 3
        reached = value >= goal if least else value <= -goal
        lines.append(
            f"- {name}, {HEADER[column]}: {row[column]}, to be at {'least' if least else 'most'}"
            f" {abs(goal):g}{'' if least else ' %'}: {'reached' if reached else 'missed'}."
        )
    return lines
