"""Means over the folds, beside the published ones."""

import numpy as np
from benchmarks.papers import stored
from benchmarks.papers.gp.protocol import CLASSIFIERS, FOLDS, TEST_ROWS

#: Measure -> the stored table that has it.
COLUMNS = {"ece100": "ece", "nll": "log_loss", "accuracy": "accuracy"}
NEAR = 0.003


def published(dataset):
    """{(row, classifier): {measure: mean over ten folds}}, from the stored tables' brackets."""
    out = {}
    for measure, name in COLUMNS.items():
        heading, *rows = stored.read("gp", f"{dataset}_{name}")
        for row, *cells in rows:
            for classifier, cell in zip(heading[1:], cells, strict=True):
                if "(" in cell:
                    out.setdefault((row, classifier), {})[measure] = float(cell.split("(")[1][:-1])
    return out


def means(folds):
    """{(dataset, row, classifier): {measure: mean, "folds": how many, "all": the folds}}."""
    cells = {}
    for fold in folds:
        cells.setdefault((fold["dataset"], fold["row"], fold["classifier"]), []).append(fold)
    out = {}
    for cell, found in cells.items():
        out[cell] = {
            name: float(np.mean([f[name] for f in found]))
            for name in (*COLUMNS, "ece15", "seconds")
        }
        out[cell] |= {"folds": len(found), "all": sorted(found, key=lambda f: f["fold"])}
    return out


def keep(found):
    """Store the tables of KITTI and MNIST, the range of GPcalib over folds, and full less diagonal;
    rows with fewer folds or classifiers are printed alone.
    """
    whole = {
        (dataset, row): {c: found[dataset, row, c] for c in CLASSIFIERS}
        for dataset, row, _ in found
        if all(found.get((dataset, row, c), {}).get("folds") == FOLDS for c in CLASSIFIERS)
    }
    full = {}
    for dataset in TEST_ROWS:
        theirs = published(dataset)
        kept = {row: of for (d, row), of in whole.items() if d == dataset}
        for measure, name in COLUMNS.items():
            rows = {
                row: {c: _beside(of[c][measure], theirs.get((row, c)), measure) for c in of}
                for row, of in kept.items()
            }
            if "GPcalib" in kept:
                rows["GPcalib, range over folds"] = {
                    c: stored.spread((f[measure] for f in of["all"]), ".4f")
                    for c, of in kept["GPcalib"].items()
                }
            stored.keep("gp", f"{dataset}_{name}", rows)
        if {"GP, same draws", "GP full, same draws"} <= set(kept):
            diagonal, both = kept["GP, same draws"], kept["GP full, same draws"]
            full[dataset.upper()] = {c: _gap(both[c], diagonal[c]) for c in both}
    stored.keep("gp", "full", full)


def _beside(ours, theirs, measure):
    return f"{ours:.4f}" + (f" ({theirs[measure]:.4f})" if theirs else "")


def _gap(one, other):
    """A mean difference of the log loss, and its standard error where above 0.0001."""
    gaps = np.subtract(*([f["nll"] for f in of["all"]] for of in (one, other)))
    error = gaps.std(ddof=1) / np.sqrt(len(gaps))
    return f"{gaps.mean():+.4f}" + (f" ({error:.4f})" if error > 1e-4 else "")


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
