"""``calibrant decide`` and what ``calibrant apply`` does with its rule."""

import json

import numpy as np
import pytest

import calibrant as cb

pytest.importorskip("click")
pytest.importorskip("rich")


@pytest.fixture
def log(tmp_path):
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.full(3, 0.3), 2000)
    y = (rng.random((2000, 1)) > P.cumsum(axis=1)).sum(axis=1).clip(max=2)
    names = np.array(["cat", "dog", "eel"])
    rows = [
        ",".join([*map(repr, p.tolist()), label, f"u{i % 500}"])
        for i, (p, label) in enumerate(zip(P, names[y], strict=True))
    ]
    (tmp_path / "log.csv").write_text(
        "\n".join(["p_cat,p_dog,p_eel,label,user", *rows]) + "\n", encoding="utf-8"
    )
    return P, y


def test_a_rule_is_certified_and_applied(run, log, tmp_path):
    P, y = log
    said = run(
        "decide", "log.csv", "--max-error", "0.1", "--certainty", "0.9", "-o", "rule.calibrant"
    ).output
    expected = cb.SelectiveClassifier(0.1, 0.9).fit(P, y)
    assert str(expected.certificate_) in " ".join(said.split())
    assert "The guarantee holds if rows are independent draws" in said
    assert "2,000 rows decided" in run("apply", "rule.calibrant", "log.csv", "-o", "out.csv").output
    header, *rows = (
        line.split(",") for line in (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
    )
    assert header == ["p_cat", "p_dog", "p_eel", "label", "user", "accept"]
    assert [row[-1] == "True" for row in rows] == expected.accept(P).tolist()


def test_a_log_of_scores(run, tmp_path):
    rng = np.random.default_rng(1)
    score = rng.normal(size=1500)
    right = rng.random(1500) < 1.0 / (1.0 + np.exp(-2.0 - 2.0 * score))
    lines = [
        json.dumps({"margin": s, "correct": bool(c)})
        for s, c in zip(score.tolist(), right, strict=True)
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run("decide", "log.jsonl", "--confidence", "margin", "--inputs", "score", "--label", "correct")
    rule = cb.load(tmp_path / "rule.calibrant")
    assert rule.threshold_ == cb.SelectiveClassifier().fit_scores(score, ~right).threshold_
    run(
        "apply",
        "rule.calibrant",
        "log.jsonl",
        "--confidence",
        "margin",
        "--inputs",
        "score",
        "-o",
        "out.jsonl",
    )
    out = [
        json.loads(line)
        for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [row["accept"] for row in out] == (score > rule.threshold_).tolist()
    refused = run(
        "apply", "rule.calibrant", "log.jsonl", "--probabilities", "margin", "-o", "o.jsonl", code=1
    ).output
    assert "--inputs" in refused


@pytest.mark.parametrize("kind", ["npz", "parquet"])
def test_other_kinds_of_files(kind, run, log, tmp_path):
    P, y = log
    if kind == "npz":
        np.savez(tmp_path / "f.npz", probabilities=P, labels=y)
    else:
        parquet = pytest.importorskip("pyarrow.parquet")
        pyarrow = pytest.importorskip("pyarrow")
        parquet.write_table(
            pyarrow.table({"p_0": P[:, 0], "p_1": P[:, 1], "p_2": P[:, 2], "label": y}),
            tmp_path / "f.parquet",
        )
    run("decide", f"f.{kind}", "--max-error", "0.1")
    run("apply", "rule.calibrant", f"f.{kind}", "-o", f"out.{kind}")
    accepted = (
        np.load(tmp_path / "out.npz")["accept"]
        if kind == "npz"
        else pytest.importorskip("pyarrow.parquet")
        .read_table(tmp_path / "out.parquet")
        .column("accept")
        .to_numpy()
    )
    assert accepted.dtype == bool
    assert (accepted == cb.load(tmp_path / "rule.calibrant").accept(P)).all()


def test_clusters_are_counted(run, log):
    assert (
        "500 clusters" in run("decide", "log.csv", "--max-error", "0.2", "--cluster", "user").output
    )


def test_a_rule_made_in_python_adds_its_decision(run, tmp_path):
    rng = np.random.default_rng(2)
    p = rng.random(2000)
    y = (rng.random(2000) < p).astype(int)
    cb.decisions.NeymanPearsonClassifier(0.1, 0.1).fit(p, y).save(tmp_path / "np.calibrant")
    (tmp_path / "new.csv").write_text("p\n0.01\n0.5\n0.99\n", encoding="utf-8")
    run("apply", "np.calibrant", "new.csv", "--probabilities", "p", "-o", "out.csv")
    assert (tmp_path / "out.csv").read_text(encoding="utf-8").split() == [
        "p,decision",
        "0.01,0",
        "0.5,-1",
        "0.99,1",
    ]


def test_what_is_refused(run, log, tmp_path):
    assert (
        "no threshold can be certified"
        in run("decide", "log.csv", "--max-error", "0.001", "--certainty", "0.5", code=1).output
    )
    assert (
        "needs at least 4,603 rows"
        in run("decide", "log.csv", "--max-error", "0.001", "--certainty", "0.99", code=1).output
    )
    run("decide", "log.csv", "--max-error", "0.1")
    assert "--force" in run("decide", "log.csv", "--max-error", "0.1", code=1).output
    run("decide", "log.csv", "--max-error", "0.1", "--force")
    run("decide", "log.csv", "--max-error", "2", code=2)
    (tmp_path / "bars.csv").write_text("mean,std,y\n0.0,1.0,0.5\n", encoding="utf-8")
    assert "forecasts of a number" in run("decide", "bars.csv", "--force", code=2).output
    assert (
        "forecasts of a number"
        in run("apply", "rule.calibrant", "bars.csv", "-o", "o.csv", code=1).output
    )


def test_sets(run, log, tmp_path):
    P, y = log
    said = run("decide", "log.csv", "--sets", "--level", "0.8").output
    sets = cb.ConformalSets(level=0.8).fit(P, y)
    assert str(sets.guarantee_) in " ".join(said.split())
    run("apply", "rule.calibrant", "log.csv", "-o", "out.csv")
    header, *rows = (
        line.split(",") for line in (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
    )
    assert header[-1] == "set"
    names = np.array(["cat", "dog", "eel"])
    assert [row[-1] for row in rows] == ["|".join(names[one]) for one in sets.predict_set(P)]
    scores = "--risk", "p_cat", "--inputs", "score"
    assert (
        "sets needs class probabilities"
        in run(
            "decide", "log.csv", "--sets", *scores, "--positive", "cat", "--force", code=2
        ).output
    )


def test_a_rule_of_confidences_asks_for_its_column_by_name(run, tmp_path):
    """One column of risks would be read as confidences, of which the rule knows nothing."""
    rng = np.random.default_rng(1)
    said = rng.beta(4.0, 0.5, 1500)
    right = rng.random(1500) < said
    lines = [
        "p,said,correct",
        *(f"{1.0 - s!r},{s!r},{int(r)}" for s, r in zip(said.tolist(), right, strict=True)),
    ]
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run("decide", "log.csv", "--confidence", "said", "--label", "correct", "--max-error", "0.1")
    assert (
        "name it with --confidence"
        in run("apply", "rule.calibrant", "log.csv", "-o", "out.csv", code=1).output
    )
    run("apply", "rule.calibrant", "log.csv", "--confidence", "said", "-o", "out.csv")
