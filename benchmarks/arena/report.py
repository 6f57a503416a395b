"""From results to tables in the terminal, a page of the docs with pictures, and one file of
numbers.
"""

from pathlib import Path

import numpy as np
from benchmarks.arena import automatic, slices, standings
from benchmarks.arena import table as numbers
from benchmarks.arena.calibrators import LEFT_OUT, LIMITS, discovered

#: Not fixed methods: they choose among the others.
CHOOSERS = (numbers.AUTOMATIC,)
SECTIONS = (("Two classes", lambda k: k == 2), ("More than two classes", lambda k: k > 2))
HEADER = (
    "method",
    "runs",
    "win rate, log loss",
    "win rate, Brier",
    "against peers, log loss",
    "against peers, Brier",
    "mean rank, log loss",
    "mean rank, Brier",
    "log loss against doing nothing",
    "Brier against doing nothing",
    "ECE",
    "worse, log loss",
    "worse, Brier",
    "fit, ms",
    "failed",
)


def report(runs, folder, docs=None, before=(), of=numbers.AUTOMATIC, page="judged"):
    """The text for the terminal; also writes ``summary`` into the results folder, and the page
    where ``docs`` is given. ``before`` are folders of older results of ours, ``of`` is the method
    whose standings are shown, ``page`` the part that it is of.
    """
    table = numbers.shared(numbers.collect(runs, folder))
    if not table.runs:
        return f"no results in {folder}: run ours first, they hold what doing nothing gives"
    summary(table, Path(folder))
    blocks = [_state(table), *overall(table)]
    for title, part in sections(table):
        blocks += [
            heading(title, part),
            text(rows_of(part)),
            *verdict(part, folder),
            *automatic.standing(part),
        ]
        beside = slices.rows(part, folder)
        blocks += [text(beside, slices.HEADER)] if beside else []
        blocks += [
            f"Left out, fewer than half of these runs done: {name}."
            for name in missing(table, part)
        ]
    cells = standings.rows(standings.versions(runs, folder, before, of), of)
    if cells:
        blocks += [f"\n{of} by slice", text(cells, standings.HEADER), *standings.goals(cells)]
    if docs:
        from benchmarks.arena.page import write

        write(table, Path(docs), folder, len(runs), page, cells)
    return "\n".join(blocks)


def sections(table):
    """(title, its runs and the methods that finished at least half of them) of every section
    that has runs.
    """
    parts = [(title, table.take(runs=belongs(table.n_classes))) for title, belongs in SECTIONS]
    return [(title, numbers.finished(part)) for title, part in parts if part.runs]


def missing(table, part):
    """The methods that have begun, but finished fewer than half of a section's runs."""
    return [name for name in table.methods if name not in part.methods]


def heading(title, part):
    """What a table is of."""
    return f"\n{title}: {len(part.runs)} runs of {len(np.unique(part.case))} cases"


def entered(part):
    """The methods with a result in any of the runs."""
    return part.take(methods=~np.isnan(part.score["log_loss"]).all(axis=1))


def rows_of(part):
    """The table's cells, best log-loss win rate first."""
    part = entered(part)
    nothing = part.methods.index(numbers.NOTHING)
    wins, versus, ranks, worse = {}, {}, {}, {}
    for metric in ("log_loss", "brier"):
        score = part.score[metric]
        wins[metric], ranks[metric] = numbers.win_rates(score), numbers.mean_ranks(score)
        versus[metric] = (
            numbers.win_rates(score, part.peer) if part.peer.any() else np.full(len(score), np.nan)
        )
        worse[metric] = numbers.share_worse(score, score[nothing])
    rows = []
    for i in np.argsort(-wins["log_loss"], kind="stable"):
        gains = [
            _interval(numbers.change(part.score[m][i], part.score[m][nothing], part.case))
            for m in ("log_loss", "brier")
        ]
        rows.append(
            (
                part.methods[i],
                str(int((~np.isnan(part.score["log_loss"][i])).sum())),
                *(f"{wins[m][i]:.3f}" for m in wins),
                *(f"{versus[m][i]:.3f}" for m in versus),
                *(f"{ranks[m][i]:.1f}" for m in ranks),
                *gains,
                f"{np.nanmean(part.score['ece'][i]):.4f}",
                *(f"{100 * worse[m][i]:.0f} %" for m in worse),
                f"{1e3 * np.nanmedian(part.fit_s[i]):.1f}",
                str(int(part.failed[i].sum()) or ""),
            )
        )
    return rows


def _interval(values):
    middle, low, high = values
    return f"{middle:+.2f} % ({low:+.2f}, {high:+.2f})"


def best(part, metric, ours):
    """(name, win rate) of the fixed method of ours, or the peer, with the highest win rate."""
    part = entered(part)
    rates = numbers.win_rates(part.score[metric])
    chooser = np.isin(part.methods, CHOOSERS)
    allowed = np.flatnonzero(~part.peer & ~chooser if ours else part.peer)
    i = allowed[np.argmax(rates[allowed])]
    return part.methods[i], rates[i]


def verdict(part, folder):
    """Our best fixed method against every peer, in words, for both scores."""
    if not entered(part).peer.any():
        return ["", "No peers here yet: make arena-peers."]
    lines = [""]
    for metric, name in (("log_loss", "log loss"), ("brier", "Brier score")):
        (mine, rate), (theirs, other) = best(part, metric, True), best(part, metric, False)
        word = "above" if rate > other else "NOT above"
        won, better, worse, n = numbers.duel(part, mine, theirs, metric, folder)
        lines.append(
            f"{name}: our best fixed method {mine} wins {rate:.3f}, {word} the best peer {theirs}"
            f" at {other:.3f}; between the two ours has the lower score in {100 * won:.0f} % of {n}"
            f" runs, clearly better in {better}, clearly worse in {worse}."
        )
    return lines


def overall(table):
    """The one fixed method of ours with the highest mean win rate over sections and both scores,
    beside the best peer in each.
    """
    table = numbers.finished(table)
    parts = [(title, table.take(runs=belongs(table.n_classes))) for title, belongs in SECTIONS]
    if not all(part.runs and entered(part).peer.any() for _, part in parts):
        return []
    rates = {
        (title, metric): numbers.win_rates(part.score[metric])
        for title, part in parts
        for metric in ("log_loss", "brier")
    }
    fixed = ~table.peer & ~np.isin(table.methods, CHOOSERS)
    one = np.flatnonzero(fixed)[np.argmax(np.mean(list(rates.values()), axis=0)[fixed])]
    lines = [f"One fixed method of ours for everything, {table.methods[one]}:"]
    for (title, metric), rate in rates.items():
        peer = np.flatnonzero(table.peer)[np.argmax(rate[table.peer])]
        word = "at or above every peer" if rate[one] >= rate[peer] else "BELOW the best peer"
        name = {"log_loss": "log loss", "brier": "Brier score"}[metric]
        lines.append(
            f"{title.lower()}, {name}: win rate {rate[one]:.3f}, {word} (best peer:"
            f" {table.methods[peer]}, {rate[peer]:.3f})"
        )
    return lines


def _state(table):
    now = {method.name: {method.code} for method in discovered()}
    stale = sorted(name for name, seen in table.code.items() if seen != now.get(name))
    state = (
        f"{len(table.runs)} runs, {int((~table.peer).sum())} of our methods,"
        f" {int(table.peer.sum())} peers."
    )
    if stale:
        state += f" Made with other code than there is now, so run once more: {', '.join(stale)}."
    return state


def text(rows, header=HEADER):
    """Aligned columns."""
    rows = [header, *rows]
    # The long headings are broken into lines of words, stacked above their columns.
    words = [heading.replace(",", "").split() for heading in header]
    widths = [
        max([len(row[c]) for row in rows[1:]] + [len(word) for word in words[c]])
        for c in range(len(header))
    ]
    depth = max(map(len, words))
    head = [
        ["" if k < depth - len(ws) else ws[k - depth + len(ws)] for ws in words]
        for k in range(depth)
    ]
    lines = []
    for row in (*head, *rows[1:]):
        cells = [
            row[0].ljust(widths[0]),
            *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True)),
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def summary(table, folder):
    """One line a (run, method) in summary.parquet, or summary.csv without pyarrow."""
    i, j = np.nonzero(~np.isnan(table.score["log_loss"]))
    columns = {
        "method": [table.methods[k] for k in i],
        "peer": table.peer[i].tolist(),
        "case": [table.runs[k].case.name for k in j],
        "size": [table.runs[k].size for k in j],
        "seed": [table.runs[k].seed for k in j],
        "n_classes": table.n_classes[j].tolist(),
        **{metric: table.score[metric][i, j].tolist() for metric in numbers.METRICS},
        "fit_s": table.fit_s[i, j].tolist(),
        "predict_s": table.predict_s[i, j].tolist(),
        "failed": table.failed[i, j].tolist(),
    }
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table(columns), folder / "summary.parquet")
    except ImportError:
        import csv

        with open(folder / "summary.csv", "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([columns, *zip(*columns.values(), strict=True)])


def limits():
    """(method, reason) of the methods that do not enter every run."""
    from benchmarks.arena.peers import PEERS

    theirs = {name: limit for name, (_, _, limit) in PEERS.items() if limit}
    return [(name, limit.reason) for name, limit in (LIMITS | theirs).items()], sorted(
        LEFT_OUT.items()
    )
