"""``fit --groups``, ``apply`` and ``report`` of calibrators by group: the columns are read by
name from every kind of table.
"""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import calibrant as cb
from calibrant.cli.group import group
from calibrant.errors import InputError
from calibrant.tables.names import Columns
from calibrant.tables.readers import columns_of, read_file


def _run(*arguments):
    return CliRunner().invoke(group, [str(one) for one in arguments])


def _frame(n, seed):
    """Women of the south, and the old, have higher log-odds than p says; a sixth of the places
    is not known.
    """
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "place": rng.choice(["south", "north", None], n, p=[0.4, 0.4, 0.2]),
        }
    )
    frame["age"] = rng.uniform(20.0, 80.0, n).round(1)
    z = rng.normal(size=n)
    shift = 1.2 * ((frame.sex == "f") & (frame.place == "south")) + 0.8 * (frame.age > 60.0)
    frame["p"] = 1.0 / (1.0 + np.exp(-z))
    frame["label"] = (rng.random(n) < 1.0 / (1.0 + np.exp(-z - shift))).astype(int)
    return frame


WRITE = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "parquet": lambda frame, path: frame.to_parquet(path),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
}
READ = {
    "csv": pd.read_csv,
    "parquet": pd.read_parquet,
    "jsonl": lambda path: pd.read_json(path, lines=True),
}


@pytest.fixture(scope="module", params=WRITE)
def files(request, tmp_path_factory):
    """(kind, fitted file, new file, their frames) of one kind of table."""
    folder = tmp_path_factory.mktemp("groups")
    frames = _frame(2000, 0), _frame(500, 1)
    paths = [folder / f"{name}.{request.param}" for name in ("fit", "new")]
    for frame, path in zip(frames, paths, strict=True):
        WRITE[request.param](frame, path)
    return request.param, *paths, *frames


def test_fit_and_apply_say_what_python_says_of_any_kind_of_table_and_order_of_columns(
    files, tmp_path
):
    kind, fit, new, first, second = files
    model, out = tmp_path / "m.calibrant", tmp_path / f"out.{kind}"
    names = ["sex", "place", "age"]
    assert (
        _run("fit", fit, "--groups", ",".join(names), "--method", "group", "-o", model).exit_code
        == 0
    )
    saved = cb.load(model)
    assert saved.group_names_ == names
    # Nothing is a level, and numbers are cut.
    assert saved.levels_.levels[1] == ["north", "south", None]
    assert saved.levels_.edges[2] is not None
    result = _run("apply", model, new, "-o", out)
    assert result.exit_code == 0, result.output
    expected = (
        cb.GroupCalibrator()
        .fit(first.p, first.label, groups=first[names])
        .predict_proba(second.p, groups=second[names[::-1]])
    )
    np.testing.assert_allclose(READ[kind](out)["p"], expected[:, 1], atol=1e-9)


@pytest.fixture
def tables(tmp_path):
    """(path to fit, new path, their frames)."""
    frames = _frame(1500, 0), _frame(800, 1)
    paths = tmp_path / "fit.csv", tmp_path / "new.csv"
    for frame, path in zip(frames, paths, strict=True):
        frame.to_csv(path, index=False)
    return *paths, *frames


def test_the_automatic_choice_is_given_the_groups(tables, tmp_path):
    fit, new, *_ = tables
    model = tmp_path / "m.calibrant"
    result = _run("fit", fit, "--groups", "sex,place", "-o", model)
    assert result.exit_code == 0, result.output
    assert cb.load(model).tags.uses_groups
    assert _run("apply", model, new, "-o", tmp_path / "out.csv").exit_code == 0


def test_a_missing_column_is_an_error_in_one_sentence(tables, tmp_path):
    fit, _, _, second = tables
    model, short, out = tmp_path / "m.calibrant", tmp_path / "short.csv", tmp_path / "o.csv"
    assert (
        _run("fit", fit, "--groups", "sex,place", "--method", "group", "-o", model).exit_code == 0
    )
    second.drop(columns="place").to_csv(short, index=False)
    for command in (
        ("apply", model, short, "-o", out),
        ("report", short, "--calibrator", model, "-o", tmp_path / "r.html"),
    ):
        result = _run(*command)
        assert result.exit_code == 1
        assert result.output.count("\n") == 1
        assert "holds no 'place'" in result.output


def test_a_report_shows_the_worst_groups_before_and_after_and_gates_on_either(tables, tmp_path):
    fit, new, first, second = tables
    names, out = ["sex", "place"], tmp_path / "r.json"
    asked = "report", fit, "--groups", "sex,place", "--method", "group", "-o", out, "--force"
    gates = "--fail-if", "group_gap>0.05", "--fail-if", "after.group_gap>0.05"
    result = _run(*asked, *gates)
    assert result.exit_code == 3, result.output
    assert "before calibration" in result.output
    assert "after calibration" not in result.output.split("Failed")[1]
    told = json.loads(out.read_text(encoding="utf-8"))
    worst = told["audit"]["worst"][0]
    assert worst["group"] == "sex f × place south"
    assert worst["before"]["outcome"] == "off"
    assert abs(worst["after"]["gap"]) < 0.4 * abs(worst["before"]["gap"])
    assert "groups=groups_calibration" in told["choice"]["code"][1]
    # Fitted on one file and measured on another, by the command line and by Python, which draws the
    # page as well.
    assert _run(*asked, "--test", new).exit_code == 0
    told = json.loads(out.read_text(encoding="utf-8"))
    test = second.label, second.p, None, second[names]
    found = cb.report(
        first.label,
        first.p,
        test=test,
        groups=first[names],
        calibrator=cb.GroupCalibrator(),
        n_resamples=20,
    )
    assert [row["group"] for row in found.to_dict()["audit"]["worst"]] == [
        row["group"] for row in told["audit"]["worst"]
    ]
    assert found.to_dict()["audit"]["after"] == told["audit"]["after"]
    assert "| sex f × place south |" in found.to_markdown()
    assert "The worst groups, before and after" in found.to_html()


def test_a_saved_calibrator_reads_its_groups_in_reports(tables, tmp_path):
    fit, new, *_ = tables
    model, out = tmp_path / "m.calibrant", tmp_path / "r.json"
    _run("fit", fit, "--groups", "sex,place", "--method", "group", "-o", model)
    result = _run("report", new, "--calibrator", model, "-o", out)
    assert result.exit_code == 0, result.output
    assert json.loads(out.read_text(encoding="utf-8"))["audit"]["after"] is not None


def test_forecasts_by_group_read_their_columns_too(tmp_path):
    """Of :class:`MondrianIntervals`, saved from Python."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"mean": 0.0, "std": 1.0, "store": np.repeat(["a", "b"], 200)})
    frame["y"] = rng.normal(size=400) * np.where(frame.store == "b", 3.0, 1.0)
    path, model, out = tmp_path / "f.csv", tmp_path / "m.calibrant", tmp_path / "o.csv"
    frame.to_csv(path, index=False)
    cal = cb.regression.MondrianIntervals(by="groups").fit(
        frame["mean"], frame.y, std=frame["std"], groups=frame[["store"]]
    )
    cal.save(model)
    result = _run("apply", model, path, "-o", out)
    assert result.exit_code == 0, result.output
    made = pd.read_csv(out)
    assert made.loc[300, "high_0.9"] > 2.0 * made.loc[0, "high_0.9"]
    assert (
        _run(
            "fit",
            path,
            "--groups",
            "store",
            "--method",
            "forecast-multicalibration",
            "-o",
            model,
            "--force",
        ).exit_code
        == 0
    )
    result = _run("apply", model, path, "-o", out, "--force")
    assert result.exit_code == 0, result.output
    made = pd.read_csv(out)
    assert made.loc[300, "std"] > 1.5 * made.loc[0, "std"]


def test_what_is_refused(tables, tmp_path):
    fit, new, first, _ = tables
    out = "-o", tmp_path / "m.calibrant"
    assert "needs columns of groups" in _run("fit", fit, "--method", "group", *out).output
    assert "needs columns of groups" in _run("evaluate", fit, "--method", "group").output
    assert (
        "temperature scaling takes no groups"
        in _run("fit", fit, "--method", "temperature", "--groups", "sex", *out).output
    )
    assert "holds no 'cold'" in _run("fit", fit, "--groups", "sex,cold", *out).output
    cb.GroupCalibrator().fit(first.p, first.label, groups=first.sex.to_numpy()).save(
        tmp_path / "unnamed.calibrant"
    )
    assert (
        "had no names in its fit"
        in _run("apply", tmp_path / "unnamed.calibrant", new, "-o", tmp_path / "o.csv").output
    )


@pytest.mark.parametrize("command", [("fit", "--method", "group"), ("report",), ("audit",)])
def test_what_rows_are_judged_by_is_no_group_of_theirs(command, tables, tmp_path):
    fit, *_ = tables
    name, *options = command
    if name != "audit":
        options += ["-o", tmp_path / f"out.{'json' if name == 'report' else 'calibrant'}"]
    for groups, what in (
        ("label", "the outcome"),
        ("sex,label", "the outcome"),
        ("p", "a prediction"),
    ):
        result = _run(name, fit, "--groups", groups, *options)
        assert (result.exit_code, result.output.count("\n")) == (1, 1), result.output
        assert (
            "--groups must name columns that are known before the outcome;"
            f" {groups[-5:].strip(',')!r} is {what} of" in result.output
        )
    assert (
        name != "report"
        or "--features must name columns" in _run(name, fit, "--features", "label", *options).output
    )


def test_the_outcome_of_a_forecast_is_no_group_either(tmp_path):
    path = tmp_path / "f.csv"
    pd.DataFrame({"mean": [0.0, 1.0], "std": [1.0, 1.0], "outcome": [0.5, 0.7]}).to_csv(
        path, index=False
    )
    for name, what in (("outcome", "the outcome"), ("std", "a prediction")):
        result = _run(
            "fit",
            path,
            "--groups",
            name,
            "--method",
            "forecast-group",
            "-o",
            tmp_path / "m.calibrant",
        )
        assert f"{name!r} is {what} of" in result.output


def test_files_whose_levels_are_all_new_are_said_so(tables, tmp_path):
    fit, _, _, second = tables
    model, other = tmp_path / "m.calibrant", tmp_path / "other.csv"
    assert (
        _run("fit", fit, "--groups", "sex,place", "--method", "group", "-o", model).exit_code == 0
    )
    second.assign(sex=second.sex.str.upper()).to_csv(other, index=False)
    result = _run("apply", model, other, "-o", tmp_path / "out.csv")
    assert result.exit_code == 0
    assert (
        "Warning: none of the 800 rows has a level of the column sex of groups that was seen in"
        " the fit" in result.output
    )
    assert "it holds 'F', 'M', the fit saw 'f', 'm';" in result.output
    assert result.output.count("Warning") == 1


def test_python_refuses_a_report_that_lacks_one_of_the_two_groups():
    frame = _frame(200, 2)
    with pytest.raises(InputError, match="pass test="):
        cb.report(
            frame.label,
            frame.p,
            test=(frame.label, frame.p),
            groups=frame.sex,
            calibrator=cb.GroupCalibrator(),
        )
    with pytest.raises(InputError, match="needs groups="):
        cb.report(frame.label, frame.p, calibrator=cb.GroupCalibrator())


def test_apply_counts_the_rows_whose_level_the_fit_had_not_seen(tmp_path):
    frame = _frame(1500, 0).drop(columns=["age"])
    frame["place"] = frame.place.fillna("south")
    fit, new, model = tmp_path / "fit.csv", tmp_path / "new.csv", tmp_path / "model.calibrant"
    frame.to_csv(fit, index=False)
    frame[:40].assign(place=["west"] * 25 + ["south"] * 10 + [None] * 5).to_csv(new, index=False)
    assert (
        _run(
            "fit",
            fit,
            "--risk",
            "p",
            "--label",
            "label",
            "--groups",
            "sex,place",
            "--method",
            "group",
            "-o",
            model,
        ).exit_code
        == 0
    )
    result = _run("apply", model, new, "--risk", "p", "-o", tmp_path / "out.csv")
    assert "30 of them have a level of place that was not in the fit" in result.output
    assert "level of sex" not in result.output


@pytest.mark.parametrize("last", ["900719925474099", "922337203685477580", "1234567890123456789"])
def test_long_numbers_that_name_groups_stay_apart(tmp_path, last):
    """Of 16, 19 and 20 digits, which no float tells apart."""
    frame = _frame(400, 0).assign(who=[f"{last}{2 + i // 2 % 2}" for i in range(400)])
    frame.to_csv(tmp_path / "t.csv", index=False)
    by = _run("evaluate", tmp_path / "t.csv", "--risk", "p", "--by", "who", "--json")
    audit = _run("audit", tmp_path / "t.csv", "--risk", "p", "--groups", "who", "--json")
    cluster = _run("evaluate", tmp_path / "t.csv", "--risk", "p", "--cluster", "who")
    for end in "23":
        assert f"{last}{end}" in by.output
        assert f"who {last}{end}" in audit.output
    assert "400 rows in 2 clusters" in cluster.output


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_code_is_one_slice_in_files_of_numbers_and_of_text(run, tmp_path, kind):
    """A column of slices or groups is of one kind in all files of a table."""
    rows = [
        [{"p": 0.2, "label": 0, "site": "007"}, {"p": 0.6, "label": 1, "site": "300"}],
        [{"p": 0.7, "label": 1, "site": 300}],
    ]
    (tmp_path / "days").mkdir()
    for i, part in enumerate(rows):
        lines = [json.dumps(row) for row in part]
        if kind == "csv":
            lines = ["p,label,site", *(",".join(map(str, row.values())) for row in part)]
        (tmp_path / f"days/{i}.{kind}").write_text("\n".join(lines) + "\n")
    found = json.loads(run("evaluate", "days", "--by", "site", "--json").stdout)["slices"]
    assert [(row["site"], row["n"]) for row in found] == [("007", 1), ("300", 2)]
    groups = columns_of(read_file(tmp_path / "days", Columns()), "site")["site"].tolist()
    assert len(set(groups)) == 2


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_names_of_folders_are_columns_of_every_kind_of_file(run, tmp_path, kind):
    for i, model in enumerate(("a", "b%20c")):
        (tmp_path / f"logs/model={model}").mkdir(parents=True)
        frame = _frame(60 * (i + 1), i)[["p", "label"]]
        WRITE[kind](frame, tmp_path / f"logs/model={model}/rows.{kind}")
    for options in ([], ["--skip-missing"]):
        made = run("evaluate", "logs", "--by", "model", *options, "--json").stdout
        found = [(row["model"], row["n"]) for row in json.loads(made)["slices"]]
        assert found == [("a", 60), ("b c", 120)]
    run("audit", "logs", "--groups", "model")
    run("fit", "logs", "--groups", "model", "-o", "a.calibrant")
    run("apply", "a.calibrant", "logs", "-o", f"out.{kind}")
    out = columns_of(read_file(tmp_path / f"out.{kind}", Columns()), "model")["model"].tolist()
    assert out == ["a"] * 60 + ["b c"] * 120
    # A file by its own name is written with its own columns.
    run("fit", "logs/model=a", "--method", "platt", "-o", "b.calibrant")
    run("apply", "b.calibrant", f"logs/model=a/rows.{kind}", "-o", f"alone.{kind}")
    assert "model" not in read_file(tmp_path / f"alone.{kind}", Columns()).source.content
