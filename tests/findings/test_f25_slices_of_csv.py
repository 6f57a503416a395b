"""``evaluate f.csv --by store`` gives what ``cb.evaluate(frame, by="store")`` does, of classes
and of forecasts.
"""

import json

import numpy as np
import pytest

import calibrant as cb

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pyarrow")
pandas = pytest.importorskip("pandas")


@pytest.fixture
def frame(tmp_path):
    rng, n = np.random.default_rng(0), 60
    made = pandas.DataFrame(
        {
            "mean": rng.normal(size=n),
            "std": rng.uniform(0.5, 2.0, n),
            "store": [["north", "south", None][i % 3] for i in range(n)],
        }
    )
    made["y"] = made["mean"] + made["std"] * rng.normal(size=n)
    made["shelf"] = np.arange(n) % 2
    made.to_csv(tmp_path / "f.csv", index=False)
    made.to_parquet(tmp_path / "f.parquet")
    return made


@pytest.mark.parametrize("name", ["f.csv", "f.parquet"])
@pytest.mark.parametrize("by", ["store", "shelf,store"])
def test_f25_forecasts_by_slice(name, by, run, frame):
    found = json.loads(run("evaluate", name, "--by", by, "--json").output)
    want = cb.evaluate(frame, label="y", mean="mean", std="std", by=by.split(",")).to_dict()
    assert [{k: pytest.approx(v) for k, v in row.items()} for row in want["slices"]] == found[
        "slices"
    ]
    assert [row["store"] for row in found["slices"]].count(None) == len(want["slices"]) / 3
    said = run("evaluate", name, "--by", by).output
    assert "north" in said
    # Slices of 20 rows say too little of their error; all 60 have an interval.
    assert "quantile error" in said
    assert said.count("(few rows)") == len(want["slices"])
    assert " 0.0238 [0.000, 0.051]" in said


def test_f25_classes_by_slice_and_output(run, tmp_path):
    rows = [
        ("0.25", "0.75", "b", "007"),
        ("0.5", "0.5", "a", ""),
        ("0.75", "0.25", "a", "7"),
        ("0.75", "0.25", "b", "7"),
    ]
    (tmp_path / "f.csv").write_text(
        "p_a,p_b,label,shop\n" + "".join(",".join(row) + "\n" for row in rows), encoding="utf-8"
    )
    run("evaluate", "f.csv", "--positive", "b", "--by", "shop", "-o", "out.parquet")
    # 007 is a code, and an empty one is missing.
    out = pandas.read_parquet(tmp_path / "out.parquet")
    assert out["shop"].tolist()[:2] == ["007", "7"]
    assert out["shop"].isna().tolist() == [False, False, True]
    assert out["n"].tolist() == [1.0, 2.0, 1.0]
    run("evaluate", "f.csv", "--target", "answer", "-o", "all.json")
    assert json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))["overall"]["n"] == 4.0


@pytest.mark.parametrize(
    ("arguments", "words", "code"),
    [
        (("--by", "nothing"), "must have a column 'nothing'", 1),
        (("--by", "store", "--resume", "r", "--skip-missing"), "--resume needs files", 2),
        (("--time", "store"), "must name a column of times", 1),
        (("--by", "store", "-o", "x.csv"), "a .json or .parquet file", 2),
        (("--by", "store", "--quantiles", "q_*"), "must name two columns of quantiles", 1),
        (("--by", "store", "--label", "store"), "is missing (20 in all)", 1),
    ],
)
def test_f25_what_cannot_be_counted(arguments, words, code, run, frame):
    result = run("evaluate", "f.csv", *arguments, code=code)
    assert words in result.stderr
    if code == 1:
        assert len(result.stderr.splitlines()) == 1
