"""From results to tables in the terminal, and the page of the docs."""

from pathlib import Path

import numpy as np
from benchmarks.arena import report as classification
from benchmarks.arena import table as numbers
from benchmarks.regression_arena import automatic, cases, exceptions
from benchmarks.regression_arena.answers import LEVEL
from benchmarks.regression_arena.calibrators import NOTHING, discovered
from benchmarks.regression_arena.cases import SAYS_QUANTILES
from benchmarks.regression_arena.table import MORE, SCORES, collect, entered, unfinished

#: The parts that the page tells of in a few lines.
OTHERS = {
    "aside": (
        'The half set aside by the hash of its names ("aside"; judged when the choice was an'
        " average of nine, so no longer untouched)"
    ),
    "uci": 'The five UCI sets, five models each, five seeds ("uci"; seen before)',
    "simulated": 'Known formulas with noise of uneven size ("simulated")',
}
#: Not fixed methods: they choose among the others.
CHOOSERS = ("AutoRegressionCalibrator",)
NAMES = {"nll": "NLL", "crps": "CRPS", "interval_score": "interval score"}
SECTIONS = (
    ("Models that say mean and standard deviation", lambda model: model not in SAYS_QUANTILES),
    ("Models that say quantiles", lambda model: model in SAYS_QUANTILES),
)
SCORES_HEADER = (
    "method",
    "runs",
    *(f"win rate, {name}" for name in NAMES.values()),
    *(f"against peers, {name}" for name in NAMES.values()),
    "NLL against doing nothing",
    "CRPS against doing nothing",
    "interval score against doing nothing",
    "worse, CRPS",
)
CALIBRATION_HEADER = (
    "method",
    "ENCE",
    "ENCE within null",
    "coverage",
    "coverage gap",
    "width against doing nothing",
    "coverage at 50 %",
    "coverage at 99 %",
    "win rate, interval score at 50 %",
    "win rate, interval score at 99 %",
    "fit, ms",
    "failed",
)


def report(runs, folder, docs=None):
    """The text for the terminal; also writes the page where ``docs`` is given."""
    everything = collect(runs, folder)
    if not everything.runs:
        return f"no results in {folder}: run ours first, they hold what doing nothing gives"
    table = everything.take(methods=~unfinished(everything))
    missing = [name for name in everything.methods if name not in table.methods]
    found = exceptions.found(table)
    blocks = [
        _state(table),
        *few(everything, missing, folder),
        "",
        "AutoRegressionCalibrator, all runs:",
    ]
    blocks += automatic.lines(table, folder, everything)
    for title, part in sections(table):
        blocks += [
            f"\n{title}: {len(part.runs)} runs",
            classification.text(scores_of(part), SCORES_HEADER),
            "",
            *verdict(part, folder),
            "",
        ]
        blocks += [classification.text(calibration_of(part), CALIBRATION_HEADER)]
    blocks += [
        "",
        *exceptions.summary(table, found),
        "",
        classification.text(exceptions.rows_of(found), exceptions.HEADER),
    ]
    if docs:
        from benchmarks.regression_arena.page import write

        lines = automatic.lines(table, folder, everything)
        write(
            table,
            found,
            Path(docs),
            folder,
            few(everything, missing, folder),
            lines,
            elsewhere(folder),
        )
    return "\n".join(blocks)


def elsewhere(folder):
    """(title, what the automatic choice does) of each of the other parts that has results."""
    said = []
    for part, title in OTHERS.items():
        everything = collect(cases.runs_of(part), folder, ence=False)
        if everything.runs:
            table = everything.take(methods=~unfinished(everything))
            kinds = (
                f"{len(table.runs)} runs, {int((~table.peer).sum())} of our methods,"
                f" {int(table.peer.sum())} peers"
            )
            said.append((f"{title}: {kinds}.", automatic.lines(table, folder, everything)))
    return said


def sections(table):
    """(title, part of the table) of each section that has runs."""
    parts = [
        (title, table.take(runs=[belongs(run.case.model) for run in table.runs]))
        for title, belongs in SECTIONS
    ]
    return [(title, part) for title, part in parts if part.runs]


def rates_of(part, score, against=None):
    """(M,) win rates in a score; NaN where the method does not say what it needs."""
    rates = numbers.win_rates(part.value[score], against)
    return np.where(np.isnan(part.value[score]).all(axis=1), np.nan, rates)


def order_of(part):
    """Rows of the methods: best CRPS win rate first, those without CRPS after them, by interval
    score.
    """
    return np.lexsort(
        (-rates_of(part, "interval_score"), -np.nan_to_num(rates_of(part, "crps"), nan=-1.0))
    )


def scores_of(part):
    """The cells of the first table."""
    wins = {score: rates_of(part, score) for score in SCORES}
    versus = {
        score: (
            rates_of(part, score, part.peer)
            if part.peer.any()
            else np.full(len(part.methods), np.nan)
        )
        for score in SCORES
    }
    rows = []
    for i in order_of(part):
        rows.append(
            (
                part.methods[i],
                str(int((~np.isnan(part.value["interval_score"][i])).sum())),
                *(_number(wins[s][i]) for s in SCORES),
                *(_number(versus[s][i]) for s in SCORES),
                _nats(part, i),
                _percent(part, "crps", i),
                _percent(part, "interval_score", i),
                _worse(part, i),
            )
        )
    return rows


def calibration_of(part):
    """The cells of the second table."""
    rows, wins = [], {score: rates_of(part, score) for score in MORE[:2]}
    for i in order_of(part):
        covered = part.value["covered"][i]
        others = [part.value[name][i] for name in MORE[2:]]
        rows.append(
            (
                part.methods[i],
                _number(np.nanmean(part.value["ence"][i]) if _said(part, "ence", i) else np.nan),
                _within_null(part, i),
                f"{np.nanmean(covered):.3f}",
                f"{np.nanmean(np.abs(covered - LEVEL)):.3f}",
                _percent(part, "width", i).split(" (")[0],
                *("" if np.isnan(one).all() else f"{np.nanmean(one):.3f}" for one in others),
                *(_number(wins[s][i]) for s in MORE[:2]),
                f"{1e3 * np.nanmedian(part.value['fit_s'][i]):.1f}",
                str(int(part.failed[i].sum()) or ""),
            )
        )
    return rows


def _said(part, column, i):
    return not np.isnan(part.value[column][i]).all()


def _number(value):
    return "" if np.isnan(value) else f"{value:.3f}"


def _nats(part, i):
    if not _said(part, "nll", i):
        return ""
    difference = part.value["nll"][i] - part.value["nll"][part.nothing]
    there = ~np.isnan(difference)
    return "{:+.3f} ({:+.3f}, {:+.3f})".format(
        *numbers.median_by_case(difference[there], part.case[there])
    )


def _percent(part, column, i):
    if not _said(part, column, i):
        return ""
    return "{:+.1f} % ({:+.1f}, {:+.1f})".format(
        *numbers.change(part.value[column][i], part.value[column][part.nothing], part.case)
    )


def _worse(part, i):
    if not _said(part, "crps", i):
        return ""
    return f"{100 * numbers.share_worse(part.value['crps'][[i]], part.value['crps'][part.nothing])[0]:.0f} %"


def _within_null(part, i):
    """Share of the runs whose ENCE is what a perfect std could show by chance."""
    ence, null = part.value["ence"][i], part.value["null"][i]
    there = ~np.isnan(ence)
    return f"{100 * (ence[there] <= null[there]).mean():.0f} %" if there.any() else ""


def best(part, score, ours):
    """(name, win rate) of the fixed method of ours, or the peer, with the highest win rate."""
    part = entered(part, score)
    rates = numbers.win_rates(part.value[score])
    fixed = ~np.isin(part.methods, (*CHOOSERS, NOTHING))
    allowed = np.flatnonzero(~part.peer & fixed if ours else part.peer)
    i = allowed[np.argmax(rates[allowed])]
    return part.methods[i], rates[i]


def verdict(part, folder):
    """Our best fixed method against the best peer, in words, score by score."""
    if not part.peer.any():
        return ["No peers here yet: make regression-arena-peers."]
    lines = []
    for score, name in NAMES.items():
        (mine, rate), (theirs, other) = best(part, score, True), best(part, score, False)
        word = "above" if rate > other else "NOT above"
        won, better, worse, n = numbers.duel(part, mine, theirs, score, folder)
        lines.append(
            f"{name}: our best fixed method {mine} wins {rate:.3f}, {word} the best peer {theirs}"
            f" at {other:.3f}; between the two ours has the lower score in {100 * won:.0f} % of {n}"
            f" runs, clearly better in {better}, clearly worse in {worse}."
        )
    return lines


def few(everything, missing, folder):
    """Methods with too few runs for the tables: each against our best fixed method by NLL, on
    the runs it has.
    """
    if not missing:
        return []
    mine, _ = best(everything.take(methods=~unfinished(everything)), "nll", True)
    lines = []
    for name in missing:
        fit_s = np.nanmedian(everything.value["fit_s"][everything.methods.index(name)])
        said = [
            score for score in SCORES if _said(everything, score, everything.methods.index(name))
        ]
        duels = {
            NAMES[score]: numbers.duel(everything, mine, name, score, folder) for score in said
        }
        shares = ", ".join(
            f"{label} {100 * won:.0f} % (clearly better in {better}, worse in {worse})"
            for label, (won, better, worse, _) in duels.items()
        )
        n = duels["interval score"][-1]
        lines.append(
            f"{name}: {n} runs, too few for the tables ({fit_s:.0f} s a fit). {mine} has the lower"
            f" score there: {shares}."
        )
    return lines


def _state(table):
    now = {method.name: {method.code} for method in discovered()}
    stale = sorted(name for name, seen in table.code.items() if seen != now.get(name))
    state = (
        f"{len(table.runs)} runs, {int((~table.peer).sum())} of our methods,"
        f" {int(table.peer.sum())} peers."
    )
    return state + (
        f" Made with other code than there is now, so run once more: {', '.join(stale)}."
        if stale
        else ""
    )
