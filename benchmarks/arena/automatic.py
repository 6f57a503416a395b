"""How the automatic choice stands against every single method, and where it loses."""

import numpy as np
from benchmarks.arena import results
from benchmarks.arena import table as numbers
from benchmarks.arena.markup import list_table
from benchmarks.arena.table import AUTOMATIC

#: So many of the lost runs are named.
MOST = 10
SCORES = {"log_loss": "log loss", "brier": "Brier score"}
WHY = """A run is lost where the method with the best win rate of its section has a clearly lower score on the test rows, by 1.96 paired
standard errors. The choice sees the calibration rows only. Candidates whose out-of-fold scores lie within the noise of each other share
the weight, so where one method is the right one the others' shares cost something, the more so the fewer rows there are; where the
out-of-fold order is not that of the test rows, the weight is misplaced; and where the average did not score better out of fold than the
predictions themselves, they were left as they were."""


def standing(part):
    """Win rate and mean rank beside the best single method of ours and of the peers, and the
    share of runs made worse beside theirs.
    """
    if AUTOMATIC not in part.methods:
        return []
    me, nothing = part.methods.index(AUTOMATIC), part.methods.index(numbers.NOTHING)
    lines = []
    for metric, words in SCORES.items():
        score = part.score[metric]
        rates, ranks = numbers.win_rates(score), numbers.mean_ranks(score)
        others = [
            _best(rates, part.peer == peer, me)
            for peer in (False, True)
            if (part.peer == peer).sum() > (not peer)
        ]
        beside = ", ".join(f"{part.methods[i]} {rates[i]:.3f} and {ranks[i]:.1f}" for i in others)
        word = (
            "above every single method"
            if rates[me] > max(rates[i] for i in others)
            else "NOT above every single method"
        )
        worse = numbers.share_worse(score, score[nothing])
        single = max(others, key=lambda i: rates[i])
        half = "at most half" if worse[me] <= 0.5 * worse[single] else "MORE than half"
        lines.append(
            f"{AUTOMATIC}, {words}: win rate {rates[me]:.3f} and mean rank {ranks[me]:.1f}, {word}"
            f" ({beside}); more than 0.5 % worse than doing nothing in {100 * worse[me]:.1f} % of"
            f" the runs, {half} of the {100 * worse[single]:.1f} % of {part.methods[single]}."
        )
    return lines


def _best(rates, allowed, me):
    allowed = np.flatnonzero(allowed & (np.arange(len(rates)) != me))
    return allowed[np.argmax(rates[allowed])]


def lost(part, folder, metric="log_loss"):
    """(the single method with the best win rate, rows (run, calibration rows, its score, ours,
    change, in errors, what ours did)).

    The runs in which that method is better by 1.96 paired standard errors over the test rows, the
    largest change first.
    """
    me = part.methods.index(AUTOMATIC)
    best = _best(numbers.win_rates(part.score[metric]), np.ones(len(part.methods), bool), me)
    rows = []
    for run in part.runs:
        if not all(results.path_of(folder, run.name, part.methods[i]).exists() for i in (me, best)):
            continue
        mine, theirs = (results.load(folder, run.name, part.methods[i]) for i in (me, best))
        a, b = mine[metric].astype(np.float64), theirs[metric].astype(np.float64)
        error = (a - b).std(ddof=1) / np.sqrt(len(a))
        if (a - b).mean() > 1.96 * error + numbers.TIE:
            change = 100.0 * (a.mean() / b.mean() - 1.0)
            rows.append(
                (
                    run.name,
                    int(mine["n_fit"]),
                    b.mean(),
                    a.mean(),
                    change,
                    (a - b).mean() / error,
                    str(mine["status"]),
                )
            )
    return part.methods[best], sorted(rows, key=lambda row: -row[4])


def lost_lines(parts, folder):
    """The page's section on it, as (title, part) pairs give the runs; empty while there are no
    results of it.
    """
    if not any(AUTOMATIC in part.methods for _, part in parts):
        return []
    heading = f"Where {AUTOMATIC} loses, and why"
    lines = [heading, "-" * len(heading), "", *WHY.splitlines(), ""]
    for title, part in parts:
        if AUTOMATIC not in part.methods:
            continue
        for metric, words in SCORES.items():
            best, rows = lost(part, folder, metric)
            few = sum(row[1] <= 250 for row in rows)
            left = sum(row[6].startswith("identity") for row in rows)
            lines += [
                (
                    f"{title}, {words}: ``{best}`` is clearly better in {len(rows)} of"
                    f" {len(part.runs)} runs, {few} of them with at most 250 calibration rows; in"
                    f" {left} the predictions were left as they were."
                ),
                "",
            ]
            lines += (
                [
                    f"The {min(MOST, len(rows))} with the largest change:",
                    "",
                    *_table(best, rows[:MOST]),
                ]
                if rows
                else []
            )
    return lines


def _table(best, rows):
    head = ("run", "rows", best, AUTOMATIC, "change", "standard errors", "what it did")
    cells = [
        (r[0], f"{r[1]:,}", f"{r[2]:.4f}", f"{r[3]:.4f}", f"{r[4]:+.2f} %", f"{r[5]:.1f}", r[6])
        for r in rows
    ]
    return list_table([head, *cells])
