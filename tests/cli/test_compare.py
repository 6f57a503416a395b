"""``calibrant compare``: the numbers of ``metrics.compare`` for files of the same rows, or for
columns of one file.
"""

import json

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.core.predictions import read

pytest.importorskip("click")
pytest.importorskip("rich")


def write(path, **columns):
    rows = zip(*(np.asarray(values).tolist() for values in columns.values()), strict=True)
    path.write_text(
        "\n".join(",".join(map(str, row)) for row in [tuple(columns), *rows]) + "\n",
        encoding="utf-8",
    )


def differences(result):
    return {
        (row["metric"], row["first"], row["second"]): row["difference"]
        for row in json.loads(result.stdout)["rows"]
    }


@pytest.fixture
def risks(tmp_path):
    """300 loans of 60 branches, two models and a third that only says the rate: as one log, and
    as a file each.
    """
    rng = np.random.default_rng(3)
    p = rng.uniform(0.02, 0.98, 300)
    y = (rng.random(300) < p).astype(int)
    said, branch = np.array(["good", "bad"])[y], [f"b{i // 5:02d}" for i in range(300)]
    models = {"a": p, "b": p**2, "rate": np.full(300, 0.5)}
    write(tmp_path / "log.csv", **models, label=said, branch=branch)
    for name, values in models.items():
        write(tmp_path / f"{name}.csv", risk=values, outcome=said)
    return models, y, branch


def test_columns_of_one_file_and_several_files_say_the_same(run, risks):
    models, y, _ = risks
    records = {name: read(p, y).as_pair("event") for name, p in models.items()}
    want = metrics.compare.of(records, [metrics.log_loss, metrics.event_brier_score])
    columns = run(
        "compare", "log.csv", "--risk", "a", "--risk", "b", "--risk", "rate", "--positive", "bad"
    )
    head, *rows = columns.stdout.splitlines()
    assert head.split("  ")[0] == "metric"
    for row, line in zip(want.rows, rows, strict=False):
        assert line.split()[0] == row.metric
        # Each model's own value, then their difference.
        assert f" {row.first} {row.first_value:.4g} " in line
        assert f" {row.second} {row.second_value:.4g} " in line
        assert f" {row.difference:+.4g} " in line
    assert rows[len(want.rows) :] == want.notes
    files = run(
        "compare", "a.csv", "b.csv", "rate.csv", "--label", "outcome", "--positive", "bad", "--json"
    )
    assert json.loads(files.stdout)["files"] == ["a.csv", "b.csv", "rate.csv"]
    found = differences(files)
    assert len(found) == 6
    for row in want.rows:
        assert found[row.metric, f"{row.first}.csv", f"{row.second}.csv"] == row.difference
    one = run(
        "compare",
        "log.csv",
        "--risk",
        "b",
        "--risk",
        "a",
        "--positive",
        "bad",
        "--metric",
        "ece",
        "--metric",
        "event_auroc",
    )
    assert "not compared" in one.stdout
    assert "event_auroc" in one.stdout


def test_options_reach_the_comparison(run, risks):
    models, y, branch = risks
    asked = (
        "compare",
        "log.csv",
        "--risk",
        "a",
        "--risk",
        "b",
        "--risk",
        "rate",
        "--positive",
        "bad",
        "--metric",
        "log_loss",
        "--json",
    )
    found = json.loads(
        run(
            *asked,
            "--baseline",
            "b",
            "--cluster",
            "branch",
            "--correction",
            "none",
            "--level",
            "0.9",
        ).stdout
    )
    want = metrics.compare(
        y,
        models,
        metrics=[metrics.log_loss],
        baseline="b",
        cluster=branch,
        correction="none",
        level=0.9,
    ).to_dict()
    assert {key: value for key, value in found.items() if key != "files"} == want
    assert [(row["first"], row["second"]) for row in found["rows"]] == [("b", "a"), ("b", "rate")]
    assert found["clusters"] == 60.0


def test_columns_of_classes_in_any_order_and_one_class_or_the_answer(run, tmp_path):
    rng = np.random.default_rng(0)
    P, y = rng.dirichlet(np.ones(3), 200), np.tile(np.arange(3), 67)[:200]
    Q, label = np.sqrt(P) / np.sqrt(P).sum(axis=1, keepdims=True), np.array(["x", "y", "z"])[y]
    write(tmp_path / "p.csv", p_x=P[:, 0], p_y=P[:, 1], p_z=P[:, 2], label=label)
    write(tmp_path / "q.csv", p_z=Q[:, 2], p_x=Q[:, 0], p_y=Q[:, 1], label=label)
    for target in ("classes", "answer"):
        found = differences(run("compare", "p.csv", "q.csv", "--json", "--target", target))
        for metric in (metrics.log_loss, metrics.brier_score):
            assert found[metric.key, "p.csv", "q.csv"] == pytest.approx(metric(y, Q) - metric(y, P))
    found = differences(run("compare", "p.csv", "q.csv", "--json", "--target", "y"))
    assert found["event_brier_score", "p.csv", "q.csv"] == pytest.approx(
        np.mean((Q[:, 1] - (y == 1)) ** 2) - np.mean((P[:, 1] - (y == 1)) ** 2)
    )


def test_scores_are_compared_by_risks_out_of_fold(run, risks):
    result = run(
        "compare",
        "log.csv",
        "--risk",
        "a",
        "--risk",
        "b",
        "--inputs",
        "score",
        "--positive",
        "bad",
        "--json",
    )
    assert "out of fold" in result.stderr
    # Each is a monotone function of the other, but a sigmoid of one is none of the other.
    assert all(abs(value) < 0.1 for value in differences(result).values())


def test_forecasts(run, tmp_path):
    rng = np.random.default_rng(0)
    mean, y = rng.normal(size=100), rng.normal(size=100)
    for name, std in (("f", 1.0), ("g", 3.0)):
        write(tmp_path / f"{name}.csv", mean=mean, std=np.full(100, std), y=y)
    want = metrics.compare(
        y, {"f.csv": (mean, np.full(100, 1.0)), "g.csv": (mean, np.full(100, 3.0))}
    )
    found = run("compare", "f.csv", "g.csv").stdout
    assert all(f"g.csv {row.second_value:.4g} " in found for row in want.rows)
    assert (
        "--target needs predictions of classes"
        in run("compare", "f.csv", "g.csv", "--target", "event", code=2).stderr
    )


def test_what_cannot_be_compared_is_said(run, risks, tmp_path):
    models, y, _ = risks
    asked = "--label", "outcome", "--positive", "bad"
    write(
        tmp_path / "other.csv", risk=models["a"], outcome=np.array(["good", "bad"])[np.roll(y, 1)]
    )
    write(tmp_path / "short.csv", risk=models["a"][:50], outcome=np.array(["good", "bad"])[y[:50]])
    write(tmp_path / "number.csv", mean=models["a"], std=models["a"], outcome=y)
    for name, said in (
        ("other", "the labels of other.csv must equal those of a.csv, row by row"),
        ("short", "300; got 50"),
    ):
        assert said in run("compare", "a.csv", f"{name}.csv", *asked, code=1).stderr
    assert (
        "--positive has no effect on forecasts of a number, which number.csv holds"
        in run("compare", "a.csv", "number.csv", *asked, code=2).stderr
    )
    write(tmp_path / "event.csv", risk=models["a"], outcome=y)
    assert (
        "must be of the same task as event.csv"
        in run("compare", "event.csv", "number.csv", *asked[:2], code=1).stderr
    )
    for wrong in (
        ["a.csv"],
        ["log.csv", "--risk", "a"],
        ["log.csv", "--risk", "a", "--risk", "a"],
        ["a.csv", "a.csv"],
    ):
        assert "two different predictions or more" in run("compare", *wrong, *asked, code=2).stderr
    two = "compare", "a.csv", "b.csv", *asked
    assert "--metric must be one of acc" in run(*two, "--metric", "elegance", code=2).stderr
    assert "--baseline must be one of the names" in run(*two, "--baseline", "c", code=1).stderr
    assert "holds no 'c'" in run(*two, "--cluster", "c", code=1).stderr
    assert (
        "--positive LABEL" in run("compare", "a.csv", "b.csv", "--label", "outcome", code=1).stderr
    )


def test_rows_that_lack_something_in_any_table_are_left_out_of_all(run, risks, tmp_path):
    models, y, _ = risks
    a, b = (models[name].astype(object) for name in ("a", "b"))
    a[3], b[7] = "", ""
    write(tmp_path / "holes.csv", a=a, b=b, label=np.array(["good", "bad"])[y])
    asked = "--positive", "bad", "--json", "--skip-missing"
    found = run("compare", "holes.csv", "--risk", "a", "--risk", "b", *asked)
    assert "2 of 300 rows" in found.stderr
    left = np.delete(np.arange(300), [3, 7])
    records = {name: read(models[name][left], y[left]).as_pair("event") for name in ("a", "b")}
    want = metrics.compare.of(records, [metrics.log_loss, metrics.event_brier_score])
    assert differences(found) == {
        (row.metric, row.first, row.second): row.difference for row in want.rows
    }


def test_folders_are_tables(run, risks, tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"model_{name}").mkdir()
        header, *rows = (tmp_path / f"{name}.csv").read_text(encoding="utf-8").splitlines()
        for i, part in enumerate((rows[:100], rows[100:])):
            (tmp_path / f"model_{name}" / f"{i}.csv").write_text(
                "\n".join([header, *part]) + "\n", encoding="utf-8"
            )
    asked = "--label", "outcome", "--positive", "bad", "--json"
    whole, parts = (
        differences(run("compare", *tables, *asked))
        for tables in (("a.csv", "b.csv"), ("model_a", "model_b"))
    )
    assert list(whole.values()) == list(parts.values())


def test_the_page_holds_the_printed_comparison(run, risks, tmp_path):
    models, y, branch = risks
    options = ("--label", "outcome", "--positive", "bad")
    done = run("compare", "a.csv", "b.csv", *options, "-o", "page.html")
    assert done.stdout.splitlines()[-1] == "page.html"
    page = (tmp_path / "page.html").read_text("utf-8")
    assert '<span class="badge">a.csv is better</span>' in page
    assert "Use a.csv." in page
    run("compare", "a.csv", "b.csv", *options, "-o", "page.html", code=1)
    run("compare", "a.csv", "b.csv", *options, "-o", "a.csv", code=1)
    clustered = ("compare", "log.csv", "--risk", "a", "--risk", "b", "--positive", "bad")
    rows = (*clustered, "--cluster", "branch", "--level", "0.9")
    printed = json.loads(run(*rows, "-o", "page.json", "--json").stdout)
    found = json.loads((tmp_path / "page.json").read_text("utf-8"))
    assert found["pairs"] == printed["rows"]
    assert found["data"]["clusters"] == printed["clusters"] == 60
    python = cb.report(y, {name: models[name] for name in "ab"}, cluster=branch, level=0.9)
    # A file is read without the last bit of a risk.
    for mine, theirs in zip(found["models"], python.to_dict()["models"], strict=True):
        assert mine["name"] == theirs["name"]
        assert mine["curve"]["accuracy"] == pytest.approx(theirs["curve"]["accuracy"], abs=1e-9)
        for key, score in mine["scores"].items():
            ends = [theirs["scores"][key][name] for name in ("value", "low", "high")]
            assert [score[name] for name in ("value", "low", "high")] == pytest.approx(ends)
    run("compare", "a.csv", "b.csv", *options, "-o", "page.md")
    text = (tmp_path / "page.md").read_text("utf-8")
    assert text.splitlines()[4].startswith("**One is better.** a.csv is better than b.csv")
