"""The command over many files."""

import json

import numpy as np
import pytest

import calibrant as cb

pytest.importorskip("polars")
pandas = pytest.importorskip("pandas")


@pytest.fixture
def logs(predictions, tmp_path):
    P, y, names = predictions
    frame = pandas.DataFrame(P, columns=[f"p_{name}" for name in names])
    frame["label"], frame["model"] = (
        np.array(names)[y],
        np.where(np.arange(len(y)) % 3, "new", "old"),
    )
    frame["day"] = np.arange(len(y)) // 200
    (tmp_path / "logs").mkdir()
    for i, part in enumerate(np.array_split(np.arange(len(y)), 5)):
        frame.iloc[part].to_parquet(tmp_path / "logs" / f"{i}.parquet")
    return frame


def test_by_slice(run, logs):
    text = run("evaluate", "logs/*.parquet", "--by", "model,day").output
    assert "400 rows of 5 files" in text
    assert "old" in text


def test_json_equals_evaluate(run, logs):
    found = json.loads(
        run("evaluate", "logs/*.parquet", "--by", "model,day", "--engine", "auto", "--json").output
    )
    assert found["slices"] == [
        pytest.approx(row)
        for row in cb.evaluate(logs, probabilities="p_*", by=["model", "day"]).to_dict()["slices"]
    ]


def test_resume_and_parquet(run, logs, tmp_path):
    for _ in range(2):
        run(
            "evaluate",
            "logs/*.parquet",
            "--by",
            "model",
            "--resume",
            "sums.calibrant",
            "-o",
            "out.parquet",
            "--force",
        )
    assert pandas.read_parquet(tmp_path / "out.parquet")["n"].sum() == len(logs)
    run("evaluate", "logs", "--by", "model", "-o", "out.json")
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["overall"]["n"] == len(
        logs
    )


def test_no_files_in_one_line(run):
    assert "no file matches 'logs/*.parquet'" in run("evaluate", "logs/*.parquet", code=2).output


def test_what_needs_rows_goes_without_slices(run, logs):
    assert (
        "--method needs rows"
        in run("evaluate", "logs/*.parquet", "--by", "model", "--method", "isotonic", code=2).output
    )
    output = run("evaluate", "logs/*.parquet", "--method", "isotonic", "--json").stdout
    assert json.loads(output)["calibrator"]["name"] == "one-vs-rest isotonic regression"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("", "row 1 of {} is missing (1 in all); fill them in, or leave out such rows with --skip"),
        ("abc", "row 1 of {} is 'abc'; repair or drop that row."),
        ("1.5", "row 1 of {} is 1.5 (1 in all)"),
    ],
)
def test_an_error_of_a_slice_names_the_row_and_its_file(run, tmp_path, value, words):
    (tmp_path / "days").mkdir()
    rows = "p,label,g\n0.2,0,a\n{},1,b\n"
    (tmp_path / "days/1.csv").write_text(rows.format("0.7"))
    (tmp_path / "days/2.csv").write_text(rows.format(value))
    error = run("evaluate", "days", "--by", "g", code=1).stderr
    assert words.format("days/2.csv") in error


def test_a_file_without_rows_is_not_left_out_for_its_labels(run, tmp_path):
    (tmp_path / "days").mkdir()
    frame = pandas.DataFrame({"p": [0.2, 0.7], "label": [0, 1], "g": ["a", "b"]})
    frame.to_parquet(tmp_path / "days/1.parquet")
    frame[:0].to_parquet(tmp_path / "days/2.parquet")
    for options in ([], ["--by", "g"]):
        assert "no labels" not in run("evaluate", "days", *options).stderr
