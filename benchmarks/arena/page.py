"""The page of the docs and its two pictures, written from the results: arena.rst, _static/arena_*.png."""

import numpy as np
from benchmarks.arena import automatic, judged, report
from benchmarks.arena import table as numbers

PAGE = """Arena
=====

Calibrators that calibrant exports, some maps one against the rest, and the peers, on the same runs. Written by
``python -m benchmarks.arena --part judged --report --docs docs`` from {runs} runs of {cases} cases that none of
them was developed on (what was seen of them is said below): tabular sets that
R packages, SurvSet and statsmodels ship, with models trained on them out of fold, and stored outputs of larger models.
For each seed the rows are permuted, calibrators are fitted on the first half (cut
to 100, 250, 1,000 or 4,000 rows) and scored on the rest;
probabilities are clipped to [1e-12, 1] before and after. ``make arena ARENA_ARGS="--part judged"`` runs ours, ``make arena-peers`` with the
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

.. image:: _static/arena_win_rates.png
   :alt: Win rates in log loss and Brier score of every method, for two classes and for more; ours and the peers' in two colours.

.. image:: _static/arena_harm.png
   :alt: Share of runs made worse against the median gain in log loss, a point for each method, for two classes and for more;
         in a crowd only the method with the best win rate is named.

"""


def write(table, docs, folder, planned):
    """Write the page and its pictures; ``planned`` is how many runs there are to be."""
    parts = report.sections(table)
    lines = [PAGE.format(runs=len(table.runs), cases=len(np.unique(table.case)))]
    if len(table.runs) < planned:
        lines += [
            f"These are {len(table.runs)} of {planned} runs: those that ours, the peers and the automatic choice have reached.",
            "",
        ]
    lines += judged.lines(table, folder)
    head, *rest = report.overall(table) or [""]
    lines += [head, "", *(f"- {line}" for line in rest), ""]
    for title, part in parts:
        lines += _section(title, part, report.missing(table, part), folder)
    lines += automatic.lost_lines(parts, folder) + _remarks(table)
    (docs / "arena.rst").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    (docs / "_static").mkdir(exist_ok=True)
    win_rates(parts, docs / "_static" / "arena_win_rates.png")
    harm(parts, docs / "_static" / "arena_harm.png")


def _section(title, part, missing, folder):
    heading = f"{title} ({len(part.runs)} runs, {len(np.unique(part.case))} cases)"
    lines = [heading, "-" * len(heading), ""]
    for line in [*automatic.standing(part), *report.verdict(part, folder)[1:]]:
        lines += [line[0].upper() + line[1:], ""]
    if missing:
        lines += [f"Left out, because fewer than half of these runs are done: {', '.join(missing)}.", ""]
    return lines + _duels(part, folder) + _list_table(report.rows_of(part), set(_names(part, peer=True)))


def _names(part, peer):
    return [name for name, theirs in zip(part.methods, part.peer, strict=True) if theirs == peer]


def _duels(part, folder):
    """Our best fixed method in log loss against each peer, run by run."""
    peers = _names(report.entered(part), peer=True)
    if not peers:
        return []
    mine, _ = report.best(part, "log_loss", True)
    lines = [f"``{mine}`` against each peer, run by run; *clearly* is by 1.96 paired standard errors over the test rows.", ""]
    lines += [".. list-table::", "   :header-rows: 1", ""]
    rows = [("peer", "runs", "lower log loss", "clearly better", "clearly worse", "lower Brier", "clearly better", "clearly worse")]
    for peer in peers:
        log_loss, brier = (numbers.duel(part, mine, peer, metric, folder) for metric in ("log_loss", "brier"))
        cells = [f"{100 * won:.0f} %, {better}, {worse}".split(", ") for won, better, worse, _ in (log_loss, brier)]
        rows.append((peer, str(log_loss[3]), *cells[0], *cells[1]))
    return lines + list_rows(rows) + [""]


def _list_table(rows, peers):
    lines = [".. list-table::", "   :header-rows: 1", "   :class: arena", ""]
    named = [(row[0] if row[0] in peers else f"**{row[0]}**", *row[1:]) for row in rows]
    return lines + list_rows([report.HEADER, *named]) + ["", "Ours in bold.", ""]


def list_rows(rows):
    """Cells as the lines of a list-table."""
    return [f"   {'*' if c == 0 else ' '} - {cell}".rstrip() for row in rows for c, cell in enumerate(row)]


def _remarks(table):
    limits, left_out = report.limits()
    lines = ["Who does not enter every run, and why", "-------------------------------------", ""]
    lines += [f"- {name}: {reason}." for name, reason in [*limits, *left_out]]
    if table.problem:
        lines += ["", "Methods that failed in some run, with the first reason seen:", ""]
        lines += [f"- {name}: ``{problem.splitlines()[0][:140]}``" for name, problem in sorted(table.problem.items())]
    return lines


# -- Pictures -------------------------------------------------------------------------------------------------------------

OURS, THEIRS = "#0b5394", "#c26a00"


def panels(n, width, height):
    """(figure, n axes in a row), without pyplot."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(1, n, squeeze=False)[0]


def win_rates(parts, path):
    """Dots: each method's win rate in log loss (filled) and in Brier (ring), best at the top."""
    figure, axes = panels(len(parts), 6.2 * len(parts), 0.17 * max(len(part.methods) for _, part in parts) + 1.2)
    for ax, (title, part) in zip(axes, parts, strict=True):
        part = report.entered(part)
        rates = {metric: numbers.win_rates(part.score[metric]) for metric in ("log_loss", "brier")}
        order = np.argsort(rates["log_loss"])
        colour = np.where(part.peer, THEIRS, OURS)[order]
        rows = np.arange(len(order))
        ax.scatter(rates["log_loss"][order], rows, c=colour, s=22, label="log loss")
        ax.scatter(rates["brier"][order], rows, facecolors="none", edgecolors=colour, s=30, label="Brier score")
        ax.set_yticks(rows, [part.methods[i] for i in order], fontsize=7)
        for tick, c in zip(ax.get_yticklabels(), colour, strict=True):
            tick.set_color(c)
        ax.set(xlim=(0.0, 1.0), xlabel="win rate", title=f"{title}: {len(part.runs)} runs", ylim=(-1, len(order)))
        ax.grid(alpha=0.25)
        ax.legend(loc="lower right", fontsize=8, title="blue ours, orange peers", title_fontsize=8)
    figure.savefig(path, dpi=80)


def harm(parts, path):
    """A point a method: median gain in log loss against the share of runs made more than 0.5 % worse."""
    figure, axes = panels(len(parts), 6.2 * len(parts), 4.6)
    for ax, (title, part) in zip(axes, parts, strict=True):
        part = report.entered(part)
        score = part.score["log_loss"]
        nothing = score[part.methods.index(numbers.NOTHING)]
        worse = 100.0 * numbers.share_worse(score, nothing)
        gain = np.array([-numbers.change(row, nothing, part.case, draws=1)[0] for row in score])
        ax.scatter(worse, gain, s=18, c=np.where(part.peer, THEIRS, OURS))
        ax.set(xlim=(-2, None), ylim=(-5, gain.max() + 5))
        named = []
        for i in np.argsort(-numbers.win_rates(score)):
            # Names that would lie on others are left to the table: the best method of a crowd is named.
            x, y = ax.transAxes.inverted().transform(ax.transData.transform((worse[i], gain[i])))
            if all(abs(x - u) > 0.3 or abs(y - v) > 0.035 for u, v in named):
                named.append((x, y))
                ax.annotate(part.methods[i], (worse[i], gain[i]), fontsize=7, xytext=(4, -2), textcoords="offset points")
        ax.set(xlabel="runs made more than 0.5 % worse, %", ylabel="median gain in log loss, %", title=title)
        ax.grid(alpha=0.25)
    figure.savefig(path, dpi=80)
