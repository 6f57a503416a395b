"""The page's first part: how the automatic choice is judged, on which cases, what was chosen on
which, and which goals are missed.
"""

import numpy as np
from benchmarks.arena import clusters, outputs, shifted, slices, standings
from benchmarks.arena import table as numbers
from benchmarks.arena.markup import list_table
from benchmarks.arena.table import AUTOMATIC

#: part of ``cases.PARTS`` -> (heading, what it is, what was chosen on it or after seeing it).
PARTS = {
    "aside": (
        "Two classes, tabular sets set aside",
        (
            "55 two-class sets that R packages, SurvSet and statsmodels ship, two models each,"
            " drawn by the hash of the set's name"
        ),
        (
            "Judged twice before, so no longer unseen: that near-perfect models were made worse at"
            " few rows was seen here, and the rule for it then chosen on simulations and on the"
            " other half. It did not mend the four runs here, all of one set. Nothing else was"
            " chosen."
        ),
    ),
    "classes": (
        "More than two classes, tabular sets",
        (
            "34 other columns of the same R sets as labels of 3 to 9 classes, one model each, drawn"
            " by the hash of the set's name"
        ),
        (
            "Not used for any choice. The rule for near-perfect models was compared with the one"
            " before it here, once, after it was settled."
        ),
    ),
    "outputs": (
        "Outputs of larger models",
        (
            "networks of 10, 200 and, where they were run, 1,000 classes, LLaMA on multiple choice,"
            " IMDB, and two risk models on each of three census and bank sets"
        ),
        "Not used for any choice.",
    ),
    "fresh": (
        "Tables drawn by a rule, and networks of many classes",
        (
            "two classes, more classes and rare events in tables of Rdatasets, which a rule drew before any result was seen, with a model"
            " trained out of fold on each, and six networks of 43 to 430 classes trained on images side by side"
        ),
        "Not used for any choice; the other half of the draw (``--part tables``) was there to choose by.",
    ),
}
#: How the names of a part's runs begin.
PREFIXES = {
    "aside": "tabular-",
    "classes": "classes-",
    "outputs": tuple(outputs.OUTPUTS),
    "fresh": "fresh-",
}
CHOSEN = """What was chosen on what:

- The *grid* (``python -m benchmarks.arena``; stored outputs of networks and classifiers, and models on digits, breast cancer, KITTI, MNIST,
  German traffic signs and two UCI sets): most methods were developed while looking at it, and so was how the automatic choice weighs its
  candidates. It is no blind test, and no longer shown.
- The half of the tabular two-class sets *to choose by* (58 sets): how much of the average a gain of so many standard errors earns, and the
  prior of the class rates of unlabelled rows.
- *Simulated* near-perfect models: how much of the row of unknown class counts as its own error. A first form of that rule, without a bound,
  was also seen on the grid's runs of 100 and 250 rows, and the bound came after.
- The part *tables* (the other half of the tables drawn by a rule, and networks) and simulated tasks: the gate of ten errors from ten
  telling rows on, the limits of the candidates, the factors of the classes; see :doc:`what_was_tried`.
- Everything on this page was judged only; each part says how often."""
READ = """*The best peer* of a run is picked on its test rows, so it is better than any peer is. *The peer chosen* is the one with the
least log loss by three folds of the calibration rows, where rows times classes are at most 5,000. *The oracle* is the best of all methods
of the part, ours and theirs, picked on the test rows. Harm, more than 0.5 % worse than doing nothing, is with its 95 % Clopper-Pearson
interval; *clearly*: by two paired standard errors too."""
#: Goals set beforehand: (what, part, slice, column of ``slices.HEADER``, least or most).
GOALS = (
    ("win rate over peers, two classes", "aside", "all", 4, 0.83),
    ("win rate over peers, more classes", "classes", "all", 4, 0.92),
    ("win rate over peers, larger models, 3 to 19 classes", "outputs", "10 to 19 classes", 4, 0.92),
    ("share of runs within 0.1 % of the best peer, two classes, %", "aside", "all", 5, 65.0),
    ("share of runs within 0.1 % of the best peer, more classes, %", "classes", "all", 5, 65.0),
    ("runs of 100 rows made worse, two classes, %", "aside", "100 rows", 8, -3.0),
    ("runs of 100 rows made worse, more classes, %", "classes", "100 rows", 8, -3.0),
    ("runs of 250 rows made worse, two classes, %", "aside", "250 rows", 8, -1.0),
    ("runs of 250 rows made worse, more classes, %", "classes", "250 rows", 8, -1.0),
    ("runs of 1,000 rows clearly made worse, two classes", "aside", "1,000 rows", 9, -0.0),
    ("runs of 1,000 rows clearly made worse, more classes", "classes", "1,000 rows", 9, -0.0),
)


def part_of(table, part):
    """The runs of a part, and the methods that finished at least half of them; None where there
    is no run of it.
    """
    own = np.array([run.case.name.startswith(PREFIXES[part]) for run in table.runs], bool)
    return numbers.finished(table.take(runs=own)) if own.any() else None


def lines(table, folder):
    """The section."""
    if AUTOMATIC not in table.methods:
        return []
    out = [
        "How the automatic choice is judged",
        "----------------------------------",
        "",
        *CHOSEN.splitlines(),
        "",
    ]
    tables = {name: part_of(table, name) for name in PARTS}
    rows = {name: slices.rows(part, folder) for name, part in tables.items() if part is not None}
    stand = {
        name: standings.rows({"now": part}) for name, part in tables.items() if part is not None
    }
    out += [*_goals(rows), *standings.goals(stand.get("fresh", [])), "", *READ.splitlines(), ""]
    for name, cells in rows.items():
        heading, what, seen = PARTS[name]
        n = len(np.unique(tables[name].case))
        out += [
            heading,
            "~" * len(heading),
            "",
            f"{what[0].upper()}{what[1:]} ({len(tables[name].runs)} runs of {n} cases). {seen}",
            "",
        ]
        out += [
            f"``python -m benchmarks.arena --part {name}``",
            "",
            *list_table([slices.HEADER, *cells]),
            *list_table([standings.HEADER, *stand[name]]),
        ]
    return out + _circumstances(folder, tables["aside"])


def _goals(rows):
    out = ["Goals set beforehand, and what was measured:", ""]
    for what, part, name, column, goal in GOALS:
        row = next((row for row in rows.get(part, []) if row[0] == name), None)
        if row is None:
            continue
        found = float(row[column].split()[0])
        reached = found >= goal if goal > 0.0 else found <= -goal
        bound = f"{'least' if goal > 0.0 else 'most'} {abs(goal):g}"
        out.append(
            f"- {what}: {row[column]}, to be at {bound}: {'reached' if reached else 'missed'}."
        )
    return [*out, ""]


def _circumstances(folder, aside):
    out = []
    shift = [] if aside is None else shifted.rows(aside, folder)
    for heading, module, cells in (
        ("Other class rates where it is used", shifted, shift),
        ("Clustered rows", clusters, clusters.kept_rows(folder)),
    ):
        if cells:
            words, command = module.__doc__.split("\n\n")[1], module.__name__
            out += [
                heading,
                "~" * len(heading),
                "",
                *words.strip().splitlines(),
                "",
                f"``python -m {command}``",
                "",
            ]
            out += list_table([module.HEADER, *cells])
    return out
