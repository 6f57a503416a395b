"""What the automatic choice does: its win rates beside all others, how often it harms, and its
duel with the slowest peer.
"""

import numpy as np
from benchmarks.arena import table as numbers
from benchmarks.regression_arena.cases import SIZES
from benchmarks.regression_arena.table import MORE, SCORES, entered

CHOOSER, SLOW = "AutoRegressionCalibrator", "netcal GP-Normal"
NAMES = {
    "nll": "NLL",
    "crps": "CRPS",
    "interval_score": "interval score at 90 %",
    "interval_score_50": "interval score at 50 %",
    "interval_score_99": "interval score at 99 %",
}


def lines(part, folder, slow=None):
    """Sentences; ``slow``: the table that holds the slow peer too."""
    if CHOOSER not in part.methods:
        return [f"No {CHOOSER} here yet."]
    found = [_rates(part, score) for score in (*SCORES, *MORE[:2])] + [_harm(part)]
    if slow is not None and SLOW in slow.methods:
        found.append(_duel(slow, folder))
    return found


def _rates(part, score):
    """Its win rate in a score, and the highest of the others."""
    part = entered(part, score)
    rates = numbers.win_rates(part.value[score])
    mine = rates[part.methods.index(CHOOSER)]
    best = max(
        (rate, name) for rate, name in zip(rates, part.methods, strict=True) if name != CHOOSER
    )
    said = (
        f"{NAMES[score]}: win rate {mine:.3f}, {'above' if mine > best[0] else 'NOT above'} the"
        f" next, {best[1]}, at {best[0]:.3f}"
    )
    if part.peer.any():
        against = numbers.win_rates(part.value[score], part.peer)[part.methods.index(CHOOSER)]
        peer = max(
            (rate, name)
            for rate, name, theirs in zip(rates, part.methods, part.peer, strict=True)
            if theirs
        )
        said += f"; against peers alone {against:.3f}, the best peer {peer[1]} {peer[0]:.3f}"
    return said + "."


def _harm(part):
    """Share of the runs more than 0.5 % worse than nothing in CRPS, by rows to calibrate on."""
    crps, i = part.value["crps"], part.methods.index(CHOOSER)
    sizes = np.array([min(run.size or 0, SIZES[-1] + run.half) for run in part.runs])
    of = {
        size: numbers.share_worse(crps[[i]][:, sizes == size], crps[part.nothing][sizes == size])[0]
        for size in np.unique(sizes)
    }
    named = {size: f"{size:,} rows" if size <= SIZES[-1] else "half of all rows" for size in of}
    by_size = ", ".join(
        f"{100 * share:.1f} % at {named[size]}" for size, share in of.items() if size
    )
    every = 100 * numbers.share_worse(crps[[i]], crps[part.nothing])[0]
    change = numbers.change(crps[i], crps[part.nothing], part.case)
    mean = 100.0 * (np.mean(crps[i] / crps[part.nothing]) - 1.0)
    return (
        f"More than 0.5 % worse than doing nothing in CRPS: {every:.1f} % of {len(part.runs)} runs"
        + (f" ({by_size})" if by_size else "")
        + "; change {:+.2f} % ({:+.2f}, {:+.2f}) in the median".format(*change)
        + f", {mean:+.2f} % in the mean."
    )


def _duel(table, folder):
    """Against the slowest peer, by NLL and by the time of a fit."""
    won, better, worse, n = numbers.duel(table, CHOOSER, SLOW, "nll", folder)
    both = ~np.isnan(table.value["nll"][table.methods.index(SLOW)])
    mine, theirs = (
        np.nanmedian(table.value["fit_s"][table.methods.index(name)][both])
        for name in (CHOOSER, SLOW)
    )
    return (
        f"{SLOW}, on {n} runs: the choice has the lower NLL in {100 * won:.0f} %, clearly better in"
        f" {better}, clearly worse in {worse}; a fit takes it {1e3 * mine:.0f} ms, the other"
        f" {1e3 * theirs:,.0f} ms, {theirs / mine:.0f} times as long."
    )
