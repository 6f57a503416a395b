"""The page of what was tried against structured and ensemble matrix scaling:
``python -m benchmarks.experiments.what_was_tried``.

Runs the four experiments at once, so that the references are fitted once, prints their table and,
with ``--docs docs``, writes the page.
"""

import argparse
from pathlib import Path

from benchmarks.arena.markup import list_table
from benchmarks.arena.report import text
from benchmarks.experiments import (
    calibration_prior,
    margin_temperature,
    simplex_proximity,
    venn_abers_inside,
)
from benchmarks.experiments.beside_structured import HEADER, MOST_TEST, REFERENCES, judge, tasks

IDEAS = (
    ("A temperature by margin", margin_temperature),
    ("Neighbours in the simplex", simplex_proximity),
    ("Venn-Abers inside intra-order-preserving scaling", venn_abers_inside),
    ("A network pretrained on simulated tasks", calibration_prior),
)
#: What follows this comment on the page is written by hand and kept.
BY_HAND = ".. The sections below are written by hand."
RIVALS = ("structured matrix scaling", "ensemble matrix scaling")
PAGE = """What was tried, and mostly did not win
======================================

These are ideas for a fixed method better than structured matrix scaling (SMS) and ensemble matrix
scaling (EMS), each tried in one file.
``python -m benchmarks.experiments.what_was_tried --docs docs`` writes this page from {tasks} tasks: {cases}
stored outputs of networks, classifiers, risk models and a language model, with 2 to 100 classes.
The rows of each are permuted; methods are fitted on 250 or 1,000 rows of the first half and
evaluated on the second ({test:,} rows at most). Methods make their choices on calibration rows or
simulations, never on the second half. If a method was changed after a look at these numbers, its
section states this.

The tables show the mean change of the score relative to the rival, negative where the idea is
better. *lower in* is the share of runs in which its score is the lower one; *clearly* means by 1.96
paired standard errors of the log loss. An idea wins if both mean scores are lower than those of SMS
and EMS at both sizes. Winning ideas are part of the library: the network's average is
``PretrainedAverage``. The automatic choice, which fits more methods and by folds, is shown for
comparison.

"""


def won(rows, name):
    """Whether both mean changes of a method are below zero against both rivals at both sizes."""
    return all(
        float(row[k].rstrip(" %")) < 0.0
        for row in rows
        if row[0] == name and row[1] in RIVALS
        for k in (4, 8)
    )


def page(rows, n_tasks):
    """The lines of the page."""
    lines = [*PAGE.format(tasks=n_tasks, cases=n_tasks // 2, test=MOST_TEST).splitlines(), ""]
    for title, module in IDEAS:
        words = module.__doc__.split("\n\n", 1)
        command = words[0].rpartition(": ``")[2].rstrip("`.")
        lines += [
            title,
            "-" * len(title),
            "",
            *words[1].strip().splitlines(),
            "",
            f"``{command}``",
            "",
        ]
        own = [row for row in rows if row[0] in module.METHODS]
        lines += list_table([HEADER, *own])
        winners = [name for name in module.METHODS if won(rows, name)]
        lines += [f"Verdict: {'wins: ' + ', '.join(winners) if winners else 'does not win'}.", ""]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", type=Path, help="write what_was_tried.rst into this folder")
    docs = parser.parse_args().docs
    rows = judge({name: method for _, module in IDEAS for name, method in module.METHODS.items()})
    print(text(rows, HEADER))
    for name in dict.fromkeys(row[0] for row in rows):
        print(
            f"{name}: {'wins' if won(rows, name) else 'does not win'} against"
            f" {' and '.join(r for r in REFERENCES if r in RIVALS)}"
        )
    if docs:
        path = docs / "what_was_tried.rst"
        kept = path.read_text(encoding="utf-8").partition(BY_HAND)[2]
        made = "\n".join(page(rows, sum(1 for _ in tasks()))).rstrip()
        path.write_text(f"{made}\n\n{BY_HAND}\n{kept}", encoding="utf-8")


if __name__ == "__main__":
    main()
