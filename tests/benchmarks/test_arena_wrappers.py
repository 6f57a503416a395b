"""The tables of wrapped models beside scikit-learn's: their arithmetic, and one pair measured."""

import numpy as np
import pytest
from benchmarks.arena import wrappers
from benchmarks.arena.wrapper_sets import MODELS, SETS, Table
from benchmarks.arena.wrappers import METHODS, by_kind, measured, page
from sklearn.datasets import make_classification


def run(kind, table, ours, theirs, chose=False, chosen="average"):
    losses = {"ours": ours, **dict.fromkeys(METHODS, theirs)}
    cpu = {f"{name} CPU": 3.0 if name == "ours" else 2.0 for name in losses}
    return {
        "kind": kind,
        "table": table,
        "chose": chose,
        "seed": 7,
        "chosen": chosen,
        **losses,
        **cpu,
    }


RUNS = [
    run("tree", "a", 0.4, 0.5),
    run("tree", "b", 0.3, 0.6, chosen="refit"),
    run("kNN", "a", 0.5, 0.4),
    run("kNN", "c", 0.5, 0.6, chose=True),
]


def test_means_errors_and_ratios():
    tree, knn, everything = {row[0]: row for row in by_kind(RUNS[:3])}.items()
    assert knn[1][1:3] == ["2", "-0.2000 ± 0.1000"]
    assert tree[1][2] == "+0.1000"
    assert everything[1][0:2] == ["all", "3"]
    assert everything[1][-2:] == ["1.50", "1"]


def test_the_page_parts_those_that_chose_and_names_the_worst():
    judged, chose = page(RUNS).split("Tables on which the defaults were chosen")
    assert "The worst pair for ours: kNN on a, 0.5000" in judged
    assert "The worst pair for ours: kNN on c" in chose
    assert "\na; b.\n" in judged


def test_drawn_tables_are_a_part_of_their_own():
    runs = [*RUNS, run("MLP", "drawn-table", 0.4, 0.5, chose="drawn")]
    middle = page(runs).split("Tables drawn by a rule")[1].split("Tables on which")[0]
    assert "\ndrawn-table.\n" in middle
    assert "MLP | 1 | -0.1000" in middle
    assert "Tables drawn by a rule" not in page(RUNS)


def test_runs_go_on_where_the_file_ends(tmp_path, monkeypatch):
    X, y = make_classification(200, random_state=0)
    table = Table("small", 100, lambda: (X, y))
    gone = Table("gone", 100, lambda: np.load(tmp_path / "absent"))
    monkeypatch.setattr(wrappers, "SETS", [gone])
    monkeypatch.setattr(wrappers, "MODELS", {"naive Bayes": MODELS["naive Bayes"]})
    monkeypatch.setattr(wrappers, "drawn", lambda: [(table, "naive Bayes")])
    first = wrappers._runs(tmp_path / "runs.jsonl", 7, with_drawn=True)
    assert [(each["table"], each["chose"]) for each in first] == [("small", "drawn")]
    monkeypatch.setattr(wrappers, "measured", None)
    assert wrappers._runs(tmp_path / "runs.jsonl", 7, with_drawn=True) == first


def test_a_pair_is_measured_with_every_method():
    X, y = make_classification(200, random_state=0)
    found = measured(Table("made", 100, lambda: (X, y)), "naive Bayes", X, y, 0)
    assert all(0.0 < found[name] < 2.0 for name in ("ours", *METHODS))
    assert found["chosen"] in ("refit", "average")


@pytest.mark.parametrize(
    "table", [t for t in SETS if t.name.startswith("made")], ids=lambda t: t.name
)
def test_made_tables_are_what_they_were(table):
    X, y = table.read()
    again, same = table.read()
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, same)
    assert table.train < len(y) / 2
    assert len({t.name for t in SETS}) * len(MODELS) >= 40
