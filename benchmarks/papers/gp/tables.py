"""Means over the folds, beside the published ones."""

import csv

import numpy as np
from benchmarks.papers.gp.protocol import CLASSIFIERS, DATA, FOLDS, TEST_ROWS

#: Ours -> column of the published files.
COLUMNS = {"ece100": "ECE_mean", "nll": "log-loss_mean", "accuracy": "accuracy_mean"}
NEAR = 0.003


def published(dataset):
    """{(row, classifier): {measure: mean over ten folds}}."""
    path = DATA.parent / "reference" / "gp_paper_results" / f"{dataset}_final.csv"
    if not path.is_file():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {
            (r["Method"], r["Model"]): {ours: float(r[theirs]) for ours, theirs in COLUMNS.items()}
            for r in csv.DictReader(file)
        }


def means(folds):
    """{(dataset, row, classifier): {measure: mean, "folds": how many, "ece100 std": spread}}."""
    cells = {}
    for fold in folds:
        cells.setdefault((fold["dataset"], fold["row"], fold["classifier"]), []).append(fold)
    out = {}
    for cell, found in cells.items():
        out[cell] = {
            name: float(np.mean([f[name] for f in found]))
            for name in (*COLUMNS, "ece15", "seconds")
        }
        out[cell]["folds"] = len(found)
    return out


def markdown(dataset, found):
    """A table a measure: classifiers across, methods down, "ours (published)"."""
    theirs = published(dataset)
    rows = list(dict.fromkeys(row for d, row, _ in found if d == dataset))
    parts = []
    for measure in COLUMNS:
        lines = [
            f"{dataset}, {measure}: ours (published)",
            "",
            "| | " + " | ".join(CLASSIFIERS) + " |",
            "|---|" + "---|" * len(CLASSIFIERS),
        ]
        for row in rows:
            cells = []
            for classifier in CLASSIFIERS:
                ours = found.get((dataset, row, classifier))
                other = theirs.get((row, classifier))
                told = (
                    ""
                    if ours is None
                    else f"{ours[measure]:.4f}"
                    + ("" if ours["folds"] == FOLDS else f" [{ours['folds']} folds]")
                )
                cells.append(told + (f" ({other[measure]:.4f})" if other else ""))
            lines.append(f"| {row} | " + " | ".join(cells) + " |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def judge(found, row="GPcalib"):
    """(rows within 0.003 of the published ECE and log loss, a line a row)."""
    near, lines = 0, []
    for dataset in TEST_ROWS:
        theirs = published(dataset)
        for classifier in CLASSIFIERS:
            ours, other = found.get((dataset, row, classifier)), theirs.get((row, classifier))
            if ours is None or other is None:
                lines.append(
                    f"{dataset} {classifier}: not run"
                    if ours is None
                    else f"{dataset} {classifier}: nothing published"
                )
                continue
            gaps = {name: ours[name] - other[name] for name in ("ece100", "nll")}
            good = all(abs(gap) <= NEAR for gap in gaps.values())
            near += good
            told = ", ".join(f"{name} {gap:+.4f}" for name, gap in gaps.items())
            lines.append(
                f"{dataset} {classifier}: {told}{'' if good else '  <- further than 0.003'}"
                f" ({ours['folds']} folds)"
            )
    return near, "\n".join(
        [
            *lines,
            (
                f"{row}: {near} of {2 * len(CLASSIFIERS)} rows within {NEAR} of the published ECE"
                " and log loss"
            ),
        ]
    )
