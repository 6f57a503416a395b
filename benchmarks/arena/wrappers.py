"""``CalibratedClassifier`` beside scikit-learn's ``CalibratedClassifierCV`` on many pairs of a
table and a kind of model.

``python -m benchmarks.arena.wrappers [--runs FILE] [--seed 7] [--drawn] [--docs FOLDER]`` prints,
for each kind of model, the mean log loss of our default less that of their default (cv=5, an
ensemble) by each of its three methods, and how much CPU our fit takes for one of theirs. It goes on
where FILE ends, and leaves out tables whose file is not there. The defaults were chosen on the
tables marked so in ``benchmarks/arena/wrapper_sets.py``, with seeds 0 to 2, and are judged on the
others; ``--drawn`` adds the fresh half of the tables that the arena's rule draws
(``benchmarks/arena/table_sets.py``), a kind of model each by the name's hash.
"""

import argparse
import json
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.arena import tabular
from benchmarks.arena.wrapper_sets import MODELS, SETS, Table
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import train_test_split

import calibrant as cb
from calibrant import metrics

__all__ = ["METHODS", "by_kind", "drawn", "main", "measured", "page"]

#: What ``chose`` is in the runs of tables that the arena's rule draws.
DRAWN = "drawn"
METHODS = ("sigmoid", "isotonic", "temperature")
MOST_TEST_ROWS = 2000
Run = dict[str, Any]


def measured(table: Table, kind: str, X: np.ndarray, y: np.ndarray, seed: int) -> Run:
    """Log loss on the test rows and CPU seconds of the fit, of ours and of theirs by each
    method.
    """
    train, test = train_test_split(
        np.arange(len(y)), train_size=table.train, stratify=y, random_state=seed
    )
    test = test[:MOST_TEST_ROWS]
    wrapped = {"ours": cb.CalibratedClassifier(MODELS[kind]())}
    wrapped |= {
        method: CalibratedClassifierCV(MODELS[kind](), method=method, cv=5) for method in METHODS
    }
    run: Run = {"table": table.name, "chose": table.chose, "kind": kind, "seed": seed}
    for name, clf in wrapped.items():
        start = time.process_time()
        clf.fit(X[train], y[train])
        run[f"{name} CPU"] = time.process_time() - start
        run[name] = float(
            metrics.log_loss(y[test], clf.predict_proba(X[test]), classes=clf.classes_)
        )
    return run | {"chosen": wrapped["ours"].chosen_}


def drawn(half: str = "fresh") -> list[tuple[Table, str]]:
    """The tables of a half of the arena's draw, half of their rows but 2,000 at most to train on,
    each with a kind of model by its name.
    """
    from benchmarks.arena import table_sets

    return [
        (
            Table(name, min(table_sets.rows_of(name) // 2, 2_000), partial(table_sets.load, name)),
            list(MODELS)[tabular.drawn(name, 1) % len(MODELS)],
        )
        for name in table_sets.names(half)
    ]


def _runs(file: Path, seed: int, with_drawn: bool = False) -> list[Run]:
    """All runs of a seed: those that the file holds, and the others, which are added to it."""
    runs = (
        [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        if file.exists()
        else []
    )
    done = {(run["table"], run["kind"]) for run in runs if run["seed"] == seed}
    missing = [(table, kind, table.chose) for table in SETS for kind in MODELS]
    if with_drawn:
        missing += [(*pair, DRAWN) for pair in drawn()]
    for table, kind, chose in missing:
        if (table.name, kind) in done:
            continue
        try:
            X, y = table.read()
        except FileNotFoundError as absent:
            print(f"{table.name}, {kind} is left out: {absent.filename} is not there")
            continue
        runs.append(measured(table, kind, X, y, seed) | {"chose": chose})
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(runs[-1]) + "\n")
    return [run for run in runs if run["seed"] == seed]


def by_kind(runs: list[Run]) -> list[list[str]]:
    """A row of text for each kind of model and one for all: differences with standard errors
    over the tables, CPU ratio, share refitted.
    """
    rows = []
    for kind in [*MODELS, "all"]:
        own = [run for run in runs if kind in (run["kind"], "all")]
        if not own:
            continue
        row = [kind, str(len(own))]
        for method in METHODS:
            gaps = np.array([run["ours"] - run[method] for run in own])
            row.append(
                f"{gaps.mean():+.4f} ± {gaps.std(ddof=1) / len(gaps) ** 0.5:.4f}"
                if len(gaps) > 1
                else f"{gaps.mean():+.4f}"
            )
        ours, theirs = (sum(run[f"{name} CPU"] for run in own) for name in ("ours", "sigmoid"))
        rows.append(
            [*row, f"{ours / theirs:.2f}", f"{sum(run['chosen'] == 'refit' for run in own)}"]
        )
    return rows


def _worst(runs: list[Run]) -> str:
    """The pair where ours is the furthest behind the best of theirs."""
    run = max(runs, key=lambda run: run["ours"] - min(run[m] for m in METHODS))
    best = min(METHODS, key=lambda m: run[m])
    return (
        f"The worst pair for ours: {run['kind']} on {run['table']}, {run['ours']:.4f}, theirs by"
        f" {best} {run[best]:.4f}."
    )


HEAD = [
    "kind of model",
    "tables",
    *(f"beside {method}" for method in METHODS),
    "CPU of fit",
    "refitted",
]
PARTS = {
    False: "Tables for evaluation",
    DRAWN: "Tables drawn by a rule",
    True: "Tables on which the defaults were chosen",
}


def page(runs: list[Run]) -> str:
    """The page of the documentation."""
    title = "CalibratedClassifier and scikit-learn"
    lines = [
        ".. _wrappers-beside-scikit-learn:",
        "",
        title,
        "=" * len(title),
        "",
        *INTRODUCTION.strip().splitlines(),
    ]
    for chose, heading in PARTS.items():
        part = [run for run in runs if run["chose"] == chose]
        if not part:
            continue
        names = "; ".join(dict.fromkeys(run["table"] for run in part))
        lines += [
            "",
            heading,
            "-" * len(heading),
            "",
            f"{names}.",
            "",
            ".. csv-table::",
            f"   :header: {' | '.join(HEAD)}",
            "   :delim: |",
            "",
        ]
        lines += [f"   {' | '.join(row)}" for row in by_kind(part)]
        lines += ["", _worst(part)]
    return "\n".join(lines) + "\n"


INTRODUCTION = """
``CalibratedClassifier(model)`` and scikit-learn's ``CalibratedClassifierCV(model, method, cv=5)``,
with all their defaults, were fitted on the same 90 to 2,000 rows of a table and evaluated on up to
2,000 others. The tables show the mean over the tables of our log loss less theirs, with its
standard error (below 0: ours is better); the CPU seconds of our fits for one second of theirs with
the sigmoid; and on how many tables ours refitted one model to all rows.
``python -m benchmarks.arena.wrappers --docs docs`` writes this page.
"""


def main() -> None:
    """Measure what is missing, print the tables, and write the page where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--runs", type=Path, default=Path("benchmarks/arena/results/wrappers.jsonl")
    )
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--drawn", action="store_true", help="with the fresh tables of the draw")
    parser.add_argument("--docs", type=Path)
    asked = parser.parse_args()
    asked.runs.parent.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # small tables: folds with few rows of a class, networks that stop early
        runs = _runs(asked.runs, asked.seed, asked.drawn)
    for chose, heading in PARTS.items():
        part = [run for run in runs if run["chose"] == chose]
        if not part:
            continue
        print(f"\n{heading}\n" + "  ".join(f"{name:>16}" for name in HEAD))
        print("\n".join("  ".join(f"{cell:>16}" for cell in row) for row in by_kind(part)))
        print(_worst(part))
    if asked.docs:
        (asked.docs / "wrappers.rst").write_text(page(runs), encoding="utf-8")


if __name__ == "__main__":
    main()
