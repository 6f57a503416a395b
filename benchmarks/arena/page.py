"""The page of the docs and its pictures, written from the results: arena.rst,
_static/arena_*.png.
"""

import numpy as np
from benchmarks.arena import automatic, judged, pictures, report, standings
from benchmarks.arena import table as numbers
from benchmarks.arena.markup import images, list_table

PAGE = """{title}
{under}

Calibrators that calibrant exports, some maps one against the rest, and the peers, on the same runs. Written by
``python -m benchmarks.arena --part {part} --report --docs docs`` from {runs} runs of {cases} cases that none of
them was developed on (what was seen of them is said below): tabular sets that
R packages, SurvSet and statsmodels ship, and tables of Rdatasets that a rule drew, with models trained on them out of fold; networks of
many classes; and stored outputs of larger models.
For each seed the rows are permuted, calibrators are fitted on the first half (cut
to 100, 250, 1,000 or 4,000 rows) and scored on the rest;
probabilities are clipped to [1e-12, 1] before and after. ``make arena ARENA_ARGS="--part {part}"`` runs ours, ``make arena-peers`` with the
same the peers in an environment of their own; both go on where they were stopped. ``python -m benchmarks.arena --folder DIR`` does the same
on npz files of your own (``probabilities``, ``labels``).

How to read the tables:

- *Win rate*: the mean over all other methods of the share of runs in which this method has the lower score, ties half. *Against peers*
  takes the peers alone as the others, so the field is one that we did not choose.
- *Mean rank*: among the methods that entered a run; 1 is best.
- *Against doing nothing*: the median change of the score, with a 95 % paired bootstrap interval over cases (all runs of one together).
- *Worse*: share of the runs more than 0.5 % worse than doing nothing.
- *ECE*: expected calibration error of the top label, 15 bins of equal width, mean over runs. *Fit*: median CPU time, on a shared machine.
- *Failed*: the method raised, or gave no probabilities; it then leaves the predictions as they were, and is scored as such.

Every method has its default settings; a run on data of your own is worth more than any of these tables.
"""


#: What "judged" and one of its parts alone are called; the files of a part end in its name.
TITLES = {"judged": "Arena", "fresh": "Arena: cases drawn by a rule"}


def write(table, docs, folder, planned, page="judged", cells=()):
    """Write the page and its pictures; ``planned`` is how many runs there are to be, ``cells`` the
    rows of ``standings``.
    """
    parts, title, named = (
        report.sections(table),
        TITLES.get(page, f"Arena: {page}"),
        "arena" if page == "judged" else f"arena_{page}",
    )
    numbers_of = {"runs": len(table.runs), "cases": len(np.unique(table.case))}
    lines = [
        PAGE.format(title=title, under="=" * len(title), part=page, **numbers_of),
        *_pictures(parts, docs / "_static", named),
    ]
    if len(table.runs) < planned:
        lines += [
            (
                f"These are {len(table.runs)} of {planned} runs: those that ours, the peers and the"
                " automatic choice have reached."
            ),
            "",
        ]
    lines += judged.lines(table, folder)
    if cells:
        heading = "The automatic choice by slice, now and before"
        lines += [heading, "-" * len(heading), "", *list_table([standings.HEADER, *cells])]
    head, *rest = report.overall(table) or [""]
    lines += [head, "", *(f"- {line}" for line in rest), ""]
    for title, part in parts:
        lines += _section(title, part, report.missing(table, part), folder)
    lines += automatic.lost_lines(parts, folder) + _remarks(table)
    (docs / f"{named}.rst").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def _section(title, part, missing, folder):
    heading = f"{title} ({len(part.runs)} runs, {len(np.unique(part.case))} cases)"
    lines = [heading, "-" * len(heading), ""]
    for line in [*automatic.standing(part), *report.verdict(part, folder)[1:]]:
        lines += [line[0].upper() + line[1:], ""]
    if missing:
        lines += [
            f"Left out, because fewer than half of these runs are done: {', '.join(missing)}.",
            "",
        ]
    return (
        lines
        + _duels(part, folder)
        + _list_table(report.rows_of(part), set(_names(part, peer=True)))
    )


def _names(part, peer):
    return [name for name, theirs in zip(part.methods, part.peer, strict=True) if theirs == peer]


def _duels(part, folder):
    """Our best fixed method in log loss against each peer, run by run."""
    peers = _names(report.entered(part), peer=True)
    if not peers:
        return []
    mine, _ = report.best(part, "log_loss", True)
    lines = [
        (
            f"``{mine}`` against each peer, run by run; *clearly* is by 1.96 paired standard errors"
            " over the test rows."
        ),
        "",
    ]
    rows = [
        (
            "peer",
            "runs",
            "lower log loss",
            "clearly better",
            "clearly worse",
            "lower Brier",
            "clearly better",
            "clearly worse",
        )
    ]
    for peer in peers:
        log_loss, brier = (
            numbers.duel(part, mine, peer, metric, folder) for metric in ("log_loss", "brier")
        )
        cells = [
            f"{100 * won:.0f} %, {better}, {worse}".split(", ")
            for won, better, worse, _ in (log_loss, brier)
        ]
        rows.append((peer, str(log_loss[3]), *cells[0], *cells[1]))
    return lines + list_table(rows)


def _list_table(rows, peers):
    named = [(row[0] if row[0] in peers else f"**{row[0]}**", *row[1:]) for row in rows]
    return [*list_table([report.HEADER, *named], "arena"), "Ours in bold.", ""]


def _remarks(table):
    limits, left_out = report.limits()
    lines = ["Who does not enter every run, and why", "-------------------------------------", ""]
    lines += [f"- {name}: {reason}." for name, reason in [*limits, *left_out]]
    if table.problem:
        lines += ["", "Methods that failed in some run, with the first reason seen:", ""]
        lines += [
            f"- {name}: ``{problem.splitlines()[0][:140]}``"
            for name, problem in sorted(table.problem.items())
        ]
    return lines


# -- Pictures --------------------------------------------------------------------------------------


def _pictures(parts, folder, named):
    """Draw the pictures, best method first, and give the lines that show them."""
    folder.mkdir(exist_ok=True)
    rates, harm = [], []
    for i, (title, part) in enumerate(parts, start=1):
        part = report.entered(part)
        wins = {
            name: numbers.win_rates(part.score[metric])
            for metric, name in (("log_loss", "log loss"), ("brier", "Brier score"))
        }
        order = np.argsort(-wins["log loss"], kind="stable")
        who = [part.methods[k] for k in order], part.peer[order]
        pictures.dots(
            folder / f"{named}_win_rates_{i}.png",
            f"{title}: {len(part.runs)} runs",
            *who,
            {n: w[order] for n, w in wins.items()},
        )
        score = part.score["log_loss"]
        nothing = score[part.methods.index(numbers.NOTHING)]
        gain = np.array([-numbers.change(row, nothing, part.case, draws=1)[0] for row in score])
        pictures.points(
            folder / f"{named}_harm_{i}.png",
            title,
            *who,
            100.0 * numbers.share_worse(score, nothing)[order],
            gain[order],
        )
        rates.append(
            f"{title}: win rates in log loss and Brier score of every method, ours and the peers'"
            " in two colours."
        )
        harm.append(
            f"{title}: share of runs made worse and median gain in log loss, a point for each"
            " method."
        )
    return images(f"{named}_win_rates", rates) + images(f"{named}_harm", harm)
