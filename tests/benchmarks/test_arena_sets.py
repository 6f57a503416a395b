"""The arena's drawn data, on a made-up collection and one small network; and the slices that two
versions of the code are compared by.
"""

import numpy as np
import pytest
from benchmarks.arena import (
    cases,
    judged,
    network_sets,
    predictions,
    results,
    run,
    standings,
    table,
    tabular,
)
from benchmarks.arena.report import report

pd = pytest.importorskip("pandas")

from benchmarks.arena import table_sets  # noqa: E402

# -- The rule for tables ---------------------------------------------------------------------------


def test_a_table_offers_labels_of_three_kinds():
    rng = np.random.default_rng(0)
    n = 3_000
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "region": rng.choice(list("abcd"), n),
            "income": rng.lognormal(size=n).round(4),
            "fraud": np.arange(n) % 50 == 0,
            "row": np.arange(n),
            "nearly": np.arange(n) < 10,
        }
    )
    found = table_sets.labels(frame)
    assert found["two"] == [("sex", None)]
    assert found["more"] == [("region", None)]
    # The rows' numbers are no label, and ten events are too few.
    assert [name for name, _ in found["rare"]] == ["income", "fraud"]
    assert 0.01 <= found["rare"][0][1] <= 0.04
    # Few rows have no rare label; a class of fewer than 25 rows is none.
    assert "rare" not in table_sets.labels(frame[:1_000])
    assert "more" not in table_sets.labels(frame[:80])


def test_a_column_tells_the_label_by_its_values_by_one_class_or_by_its_order():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 600)
    person = np.repeat(np.arange(200), 3)
    assert table_sets.tells(pd.Series(np.array(["x", "y", "z"])[y]), y)
    assert table_sets.tells(pd.Series((y == 1).astype(int)), y), "one class has its own value"
    assert table_sets.tells(pd.Series(person), np.repeat(rng.integers(0, 2, 200), 3))
    assert table_sets.tells(pd.Series(y + 0.9 * rng.random(600)), y), "its order is the label's"
    assert not table_sets.tells(pd.Series(y + 3.0 * rng.random(600)), y)
    assert not table_sets.tells(pd.Series(rng.integers(0, 2, 600)), y)
    assert not table_sets.tells(pd.Series(person), y)
    # A rare event leaves most groups pure by chance; each class counts the same.
    rare = (rng.random(600) < 0.03).astype(int)
    assert not table_sets.tells(pd.Series(person), rare)


@pytest.fixture
def collection(tmp_path, monkeypatch):
    """Tables that differ, one twice under two names, one that was used, one of the same columns."""
    rng = np.random.default_rng(2)
    index = []

    def add(package, item, seed=None, columns="abcde"):
        own = np.random.default_rng(len(index) if seed is None else seed)
        X = own.normal(size=(600, len(columns))).round(6)
        frame = pd.DataFrame(X, columns=list(columns))
        frame["event"] = np.where(X[:, 0] + rng.normal(size=600) > 0.5, "yes", "no")
        frame["copy"] = np.where(frame["event"] == "yes", "sick", "well")
        folder = tmp_path / "csv" / package
        folder.mkdir(parents=True, exist_ok=True)
        frame.to_csv(folder / f"{item}.csv", index_label="rownames")
        index.append({"Package": package, "Item": item, "Rows": 600, "Cols": frame.shape[1]})

    add("one", "first", seed=70)
    add("one", "second", columns="abcdf")
    add("two", "renamed", seed=70, columns="vwxyz")  # the values of "first"
    add("two", "Titanic3", columns="ghijk")
    for k in range(8):
        add("many", f"t{k}", columns=[f"{c}{k}" for c in "pqrst"])
    pd.DataFrame(index).to_csv(tmp_path / "datasets.csv", index=False)
    monkeypatch.setattr(table_sets, "FOLDER", tmp_path)
    monkeypatch.setattr(tabular, "CACHE", tmp_path / "cache")
    table_sets._by_name.cache_clear()
    yield tmp_path
    table_sets._by_name.cache_clear()


def test_the_rule_leaves_out_used_and_equal_tables_and_keeps_families_together(collection):
    drawn = {table["name"]: table for table in table_sets.drawn()}
    assert not {"two-renamed", "two-titanic3"} & set(drawn)
    assert drawn["one-first"]["half"] == drawn["one-second"]["half"]
    assert {table["half"] for table in drawn.values()} == set(table_sets.HALVES)
    table = drawn["one-first"]
    assert table["kind"] == "two"
    other = {"event": "copy", "copy": "event"}[table["label"]]
    assert table["drop"] == [other], "the other column tells the label"
    X, y = table_sets.load("one-first")
    assert X.shape == (600, 5)
    assert 0.0 < y.mean() < 0.5, "the rarer value is the event"
    assert table_sets.drawn() == list(drawn.values()), "kept"


def test_tables_become_cases_whose_predictions_are_made(collection):
    found = [case for half in table_sets.HALVES for case in cases.table_cases(half)]
    assert len({case.name for case in found}) == len(found) == 2 * len(table_sets.drawn())
    case = next(case for case in found if case.name.endswith(("bayes", "logistic")))
    P, y = predictions.load(case, collection / "cache")
    assert P.shape == (600, 2)
    assert len(y) == 600


def test_a_package_gives_no_more_than_its_share():
    tables = [
        {"name": f"p-{k}", "package": "p", "item": str(k), "kind": "more", "label": "a"}
        | {"share": None, "drop": [], "large": False, "columns": (f"a{k}", f"b{k}")}
        for k in range(40)
    ]
    halves = [table["half"] for table in table_sets._chosen(tables)]
    assert {half: halves.count(half) for half in table_sets.HALVES} == dict.fromkeys(
        table_sets.HALVES, table_sets.MOST_OF_PACKAGE
    )


# -- Networks --------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")  # networks are stopped early
def test_a_task_of_images_side_by_side(tmp_path, monkeypatch):
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 10, 1_400)
    images = np.clip(25 * labels[:, None, None] + rng.normal(size=(1_400, 28, 28)), 0, 255)
    np.savez(tmp_path / "mnist.npz", images=images.astype(np.uint8), labels=labels)
    task = network_sets.Task((("mnist", 3), ("mnist", 4)), 400, 8, 30)
    monkeypatch.setattr(network_sets.datasets, "DATA", tmp_path)
    monkeypatch.setattr(network_sets, "TASKS", {"pair": task, "other": task})
    monkeypatch.setattr(network_sets, "POOL", 200)
    network_sets._labels.cache_clear()
    X_train, y_train, X, y = network_sets.load("pair")
    network_sets._labels.cache_clear()
    assert X_train.shape == (400, 2 * 196)
    assert X.shape == (200, 2 * 196)
    assert y_train.max() == 11, "three classes times four"
    # The grey of either half is its class.
    left, right = X[:, :196].mean(axis=1), X[:, 196:].mean(axis=1)
    np.testing.assert_array_equal(np.rint(left * 10.2), y // 4)
    np.testing.assert_array_equal(np.rint(right * 10.2), y % 4)
    assert network_sets.model("pair").fit(X_train, y_train).score(X, y) > 0.5
    assert set(network_sets.names("tables")) | set(network_sets.names("fresh")) == {"pair", "other"}


def test_labels_of_many_classes_are_kept_whole(tmp_path):
    class Many:
        classes_ = np.arange(300)

        def fit(self, X, y):
            return self

        def predict_proba(self, X):
            return np.full((len(X), 300), 1.0 / 300)

    y = np.arange(300)
    case = cases.Case("many", "many", (lambda: (y[:, None], y, y[:, None], y), Many), 300)
    np.testing.assert_array_equal(predictions.load(case, tmp_path)[1], y)


# -- Slices of two versions ------------------------------------------------------------------------


def _kept(folder, run, name, loss, source="calibrant", rarest=0.3):
    results.save(
        folder, run.name, name, log_loss=np.full(9, loss), brier=np.full(9, loss), ece=0.0,
        fit_s=0.5, predict_s=0.0, n_classes=2, problem="", source=source, code="x", rarest=rarest,
    )  # fmt: skip


def test_two_versions_are_compared_by_slice(tmp_path):
    runs = [cases.Run(cases.Case(f"fresh-two-t{j}+svm", "t", None, 500), 100, 0) for j in range(4)]
    now, old = tmp_path / "now", tmp_path / "old"
    for j, each in enumerate(runs):
        rarest = 0.02 if j == 3 else 0.3
        _kept(now, each, "Identity", 0.5, rarest=rarest)
        _kept(now, each, "AutoCalibrator", (0.4, 0.4, 0.4, 0.6)[j], rarest=rarest)
        _kept(now, each, "peer", (0.45, 0.3, 0.45, 0.55)[j], "peer", rarest)
        if j:  # the older code did not reach the first run
            _kept(old, each, "Identity", 0.5)
            _kept(old, each, "AutoCalibrator", 0.46)
    found = standings.versions(runs, now, [old])
    assert [len(table.runs) for table in found.values()] == [3, 3]
    cells = {row[:2]: row[2:] for row in standings.rows(found)}
    # Now Identity is beaten in two of three runs and the peer in one; before in three and in one.
    assert cells["all", "now"][:3] == ("3", "0.500", "0.333")
    assert cells["all", "old"][:3] == ("3", "0.667", "0.333")
    assert cells["all", "now"][3].startswith("33.3 % (0.8, 90.6")
    assert cells["all", "now"][4] == f"{100 * (1.4 / 1.2 - 1):.2f} %"
    assert cells["all", "old"][6:] == ("33 %", "0.500")
    assert cells["2 classes, event under 4 %", "now"][0] == "1"
    text = report(runs, now, before=[old])
    assert "AutoCalibrator by slice" in text
    assert "- 2 classes, 100 rows, win rate over all others: 0.500, to be at least 0.74" in text
    assert "missed" in text
    page = judged.lines(table.shared(table.collect(runs, now)), now)
    assert judged.PARTS["fresh"][0] in page
    assert "   * - 2 classes, event under 4 %" in page
    assert any(
        line.startswith("- 100 rows, worse than doing nothing (95 %): 25.0 %") for line in page
    )


def test_peers_without_folds_of_the_calibration_rows(tmp_path):
    rng = np.random.default_rng(5)
    P = rng.dirichlet([1.0, 1.0], 300)
    np.savez(tmp_path / "a.npz", probabilities=P, labels=(rng.random(300) < P[:, 1]).astype(int))
    (one,) = cases.runs_of(tmp_path, seeds=1)
    for folds in (True, False):
        out = tmp_path / str(folds)
        assert run.work(one, "peers", ["sklearn sigmoid"], out, folds=folds) == 1
        kept = results.load(out, one.name, "sklearn sigmoid")
        assert ("folds" in kept) == folds
        assert 0.3 < kept["rarest"] <= 0.5
