"""The commands on files of forecasts."""

import csv
import json

import numpy as np
import pytest
from scipy import stats

import calibrant as cb
from calibrant import metrics


@pytest.fixture
def forecasts():
    """(y, mean, std), the std too small by half."""
    rng = np.random.default_rng(2)
    mean, std = 3.0 * rng.normal(size=300), np.exp(0.5 * rng.normal(size=300))
    return mean + 1.5 * std * rng.normal(size=300), mean, std


def write(path, table):
    if path.suffix == ".npz":
        np.savez(path, **table)
    elif path.suffix == ".csv":
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(table)
            writer.writerows(
                zip(
                    *(
                        [repr(v) if isinstance(v, float) else v for v in np.asarray(c).tolist()]
                        for c in table.values()
                    ),
                    strict=True,
                )
            )
    else:
        pa = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(
            pa.table({name: list(v) for name, v in table.items()}), path
        )
    return path


def read(path):
    if path.suffix == ".npz":
        with np.load(path) as found:
            return dict(found)
    if path.suffix == ".csv":
        with open(path, newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        return dict(zip(header, zip(*rows, strict=True), strict=True))
    return pytest.importorskip("pyarrow.parquet").read_table(path).to_pydict()


def by_key(found, output=None):
    return {row["key"]: row for row in found["metrics"] if output in (None, row["output"])}


@pytest.mark.parametrize("kind", ["npz", "csv", "parquet"])
def test_from_fit_to_evaluation(kind, run, forecasts, tmp_path):
    y, mean, std = forecasts
    names = [f"row {i}" for i in range(300)]
    path = write(tmp_path / f"f.{kind}", {"id": names, "mean": mean, "std": std, "y": y})
    assert (
        "STD scaling fitted on 300 rows"
        in run("fit", path, "--method", "std", "-o", "m.calibrant").output
    )
    assert cb.load(tmp_path / "m.calibrant").scale_ == cb.StdScaling().fit(mean, y, std=std).scale_
    run("apply", "m.calibrant", path, "-o", f"out.{kind}", "--interval", "0.8")
    out, expected = (
        read(tmp_path / f"out.{kind}"),
        cb.StdScaling().fit(mean, y, std=std).predict(mean, std),
    )
    assert list(out["id"]) == names
    assert set(out) == {"id", "mean", "std", "y", "low_0.8", "high_0.8"}
    for name, values in [
        ("mean", mean),
        ("std", expected.std),
        ("low_0.8", expected.interval(0.8)[0]),
        ("y", y),
    ]:
        np.testing.assert_array_equal(np.array(out[name], dtype=float), values)
    found = json.loads(run("evaluate", path, "--calibrator", "m.calibrant", "--json").stdout)
    assert found["calibrator"]["evaluation"] == "in-sample"
    assert by_key(found)["ence"]["before"]["value"] == pytest.approx(
        metrics.expected_normalized_calibration_error(y, mean, std)
    )


def test_evaluate_prints_every_metric(run, forecasts, tmp_path):
    y, mean, std = forecasts
    output = run("evaluate", write(tmp_path / "f.npz", {"mean": mean, "std": std, "y": y})).output
    assert "The error bars are too small" in output
    found = metrics.continuous_ranked_probability_score.interval(y, mean, std)
    assert f"{found.value:.4g} [{found.low:.4g}, {found.high:.4g}]" in output


@pytest.mark.parametrize("kind", ["npz", "csv"])
def test_quantiles(kind, run, forecasts, tmp_path):
    y, mean, std = forecasts
    levels = [0.05, 0.5, 0.95]
    values = cb.NormalForecast(mean, std).quantile(levels)
    table = {f"q_{level}": values[:, j] for j, level in reversed(list(enumerate(levels)))}
    path = write(
        tmp_path / f"f.{kind}",
        {**(table if kind == "csv" else {"quantiles": values, "levels": np.array(levels)}), "y": y},
    )
    run("fit", path, "--method", "std", "-o", "m.calibrant")
    run("apply", "m.calibrant", path, "-o", f"o.{kind}")
    out = read(tmp_path / f"o.{kind}")
    expected = (
        cb.StdScaling()
        .fit(cb.QuantileForecast(levels, values), y)
        .predict(cb.QuantileForecast(levels, values))
    )
    got = (
        out["quantiles"]
        if kind == "npz"
        else np.column_stack([np.array(out[f"q_{level}"], dtype=float) for level in levels])
    )
    np.testing.assert_array_equal(got, expected.quantile(levels))
    np.testing.assert_array_equal(np.array(out["high_0.9"], dtype=float), expected.interval(0.9)[1])


def test_outputs_by_name(run, forecasts, tmp_path):
    y, mean, std = forecasts
    table = {"mean_x": mean, "std_x": std, "mean_w": mean, "std_w": 1.5 * std, "y_x": y, "y_w": y}
    path = write(tmp_path / "f.csv", table)
    found = json.loads(run("evaluate", path, "--json").stdout)
    assert found["data"]["outputs"] == ["x", "w"]
    assert by_key(found, "w")["crps"]["before"]["value"] == pytest.approx(
        metrics.continuous_ranked_probability_score(y, mean, 1.5 * std)
    )
    run("fit", path, "--method", "interval", "-o", "m.calibrant")
    run("apply", "m.calibrant", path, "-o", "o.csv")
    assert {"low_0.9_x", "high_0.9_w", "y_x"} <= set(read(tmp_path / "o.csv"))
    result = run("evaluate", path, "--json").stdout
    assert "x" in result
    assert (
        "interval calibration error of x before"
        in run(
            "report",
            path,
            "--method",
            "std",
            "--fail-if",
            "interval_calibration_error>0.05",
            code=3,
        ).stderr
    )


def test_outputs_in_another_order_are_refused(run, forecasts, tmp_path):
    y, mean, std = forecasts
    table = {"mean_a": mean, "std_a": std, "y_a": y, "mean_b": -mean, "std_b": 9.0 * std, "y_b": -y}
    path = write(tmp_path / "f.csv", table)
    turned = write(tmp_path / "t.csv", dict(reversed(table.items())))
    run("fit", path, "--method", "std", "-o", "m.calibrant")
    assert cb.load(tmp_path / "m.calibrant").output_names_ == ["a", "b"]
    run("apply", "m.calibrant", path, "-o", "out.csv")
    for arguments in (
        ["apply", "m.calibrant", turned, "-o", "o.csv"],
        ["report", turned, "--calibrator", "m.calibrant"],
        ["report", path, "--method", "std", "--test", turned],
    ):
        assert "in their order, ['a', 'b']; got ['b', 'a']" in run(*arguments, code=1).stderr


def test_report_and_gates(run, forecasts, tmp_path):
    y, mean, std = forecasts
    path = write(tmp_path / "f.npz", {"mean": mean, "std": std, "y": y})
    test = write(tmp_path / "t.npz", {"mean": mean[::2], "std": std[::2], "y": y[::2]})
    output = run(
        "report",
        path,
        "--method",
        "std",
        "--test",
        test,
        "-o",
        "r.html",
        "--fail-if",
        "after.ence>0.9",
    ).output
    page = (tmp_path / "r.html").read_text("utf-8")
    answer = output.splitlines()[:3]
    assert all(part.removeprefix("→ ") in page for part in answer)
    assert "measured on 150 others" in page
    assert (
        "ENCE before calibration"
        in run(
            "report",
            path,
            "--method",
            "std",
            "--force",
            "--fail-if",
            "ence>0.05",
            "-o",
            "r.md",
            code=3,
        ).stderr
    )
    assert (
        "does not have"
        in run(
            "report", path, "--method", "std", "-o", "n.html", "--fail-if", "ece>0.05", code=1
        ).stderr
    )


def test_the_task_is_told_or_asked_for(run, forecasts, predictions, tmp_path):
    y, mean, std = forecasts
    P = predictions[0][:300]
    both = {"mean": mean, "std": std, "y": y, "probabilities": P, "labels": np.arange(300) % 3}
    path = write(tmp_path / "b.npz", both)
    assert "choose with --task" in run("evaluate", path, code=1).stderr
    assert (
        json.loads(
            run("evaluate", path, "--task", "classification", "--label", "labels", "--json").stdout
        )["task"]
        == "classification"
    )
    assert (
        json.loads(run("evaluate", path, "--task", "regression", "--label", "y", "--json").stdout)[
            "task"
        ]
        == "regression"
    )
    other = write(tmp_path / "o.csv", {"mu": mean, "sigma": std, "seen": y, "w": np.ones(300)})
    found = run(
        "evaluate",
        other,
        "--mean",
        "mu",
        "--std",
        "sigma",
        "--label",
        "seen",
        "--weight",
        "w",
        "--json",
    ).stdout
    assert json.loads(found)["data"]["n"] == 300.0
    assert "name yours with --mean" in run("evaluate", other, "--task", "regression", code=1).stderr


def test_what_does_not_fit_the_task_is_refused(run, forecasts, predictions, tmp_path):
    y, mean, std = forecasts
    P, labels, _ = predictions
    numbers = write(tmp_path / "f.npz", {"mean": mean, "std": std, "y": y})
    classes = write(tmp_path / "c.npz", {"probabilities": P, "labels": labels})
    assert (
        "is no method for forecasts of a number"
        in run("fit", numbers, "--method", "temperature", code=2).output
    )
    assert (
        "is no method for predictions of classes"
        in run("fit", classes, "--method", "variance-binning", code=2).output
    )
    run("fit", numbers, "--method", "std", "-o", "m.calibrant")
    assert (
        "does not calibrate" in run("apply", "m.calibrant", classes, "-o", "o.npz", code=1).stderr
    )
    assert (
        "does not calibrate"
        in run("evaluate", classes, "--calibrator", "m.calibrant", code=1).stderr
    )
    write(tmp_path / "bad.npz", {"mean": mean, "std": -std, "y": y})
    said = run("evaluate", "bad.npz", code=1).stderr
    assert "--std must be finite and positive" in said
    assert said.endswith("in all); repair or drop these rows.\n")


def test_methods_lists_both_tasks(run):
    found = json.loads(run("methods", "--json").stdout)
    assert {"std", "interval", "conformal-intervals"} <= {
        row["name"] for row in found["regression"]["calibrators"]
    }
    assert {"temperature", "isotonic"} <= {
        row["name"] for row in found["classification"]["calibrators"]
    }
    named = {row["name"] for rows in found.values() for row in rows["metrics"]}
    assert {"log_loss", "expected_normalized_calibration_error"} <= named
    text = run("methods", "--task", "regression", "--all").output
    assert "quantile-recalibration" in text
    assert "temperature" not in text


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_times_and_groups_of_a_report(kind, run, forecasts, tmp_path):
    y, mean, std = forecasts
    when = [f"2026-01-{1 + i // 30:02d}" for i in range(300)]
    path = write(
        tmp_path / f"f.{kind}",
        {"mean": mean, "std": std, "y": y, "when": when, "plant": ["a", "b"] * 150},
    )
    options = ("--method", "forecast-identity", "-o", "r.json")
    found = json.loads(
        run(
            "report",
            path,
            *options,
            "--time",
            "when",
            "--groups",
            "plant",
            "--features",
            "plant,mean",
            "--json",
        ).stdout
    )
    found = found["outputs"][0]
    assert len(found["drift"]["before"]["time"]) == 10
    assert {row["feature"] for row in found["features"]} == {"plant", "mean"}
    assert {row["group"] for row in found["groups"]} == {"a", "b"}
    assert (
        "holds no 'then'"
        in run("report", path, *options, "--force", "--time", "then", code=1).stderr
    )
    assert (
        "holds no 'age'"
        in run("report", path, *options, "--force", "--features", "age", code=1).stderr
    )


#: Columns of files as forecasting libraries write them: library -> (arguments, {column: level}).
LIBRARIES = {
    "AutoGluon": ([], {"0.1": 0.1, "0.5": 0.5, "0.9": 0.9}),
    "Nixtla": ([], {"ETS-lo-90": 0.05, "ETS-lo-80": 0.1, "ETS-hi-80": 0.9, "ETS-hi-90": 0.95}),
    "Nixtla, a network": ([], {"NHITS-lo-80": 0.1, "NHITS-median": 0.5, "NHITS-hi-80": 0.9}),
    "Darts": ([], {"sales_q0.05": 0.05, "sales_q0.50": 0.5, "sales_q0.95": 0.95}),
    "Prophet": (
        ["--quantiles", "yhat_lower=0.1,yhat_upper=0.9"],
        {"yhat_lower": 0.1, "yhat_upper": 0.9},
    ),
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_of_forecasting_libraries_are_read(run, tmp_path, forecasts, library, kind):
    y, mean, std = forecasts
    arguments, levels = LIBRARIES[library]
    quantiles = {name: mean + std * stats.norm.ppf(level) for name, level in levels.items()}
    beside = {"ds": np.arange(len(y)), "y": y, "mean" if library == "AutoGluon" else "ETS": mean}
    path = write(tmp_path / f"f.{kind}", {**beside, **quantiles})
    result = json.loads(run("evaluate", path, *arguments, "--json").stdout)
    values = np.column_stack(list(quantiles.values()))
    same = cb.QuantileForecast(list(levels.values()), values)
    shown = by_key(result)["crps"]["before"]["value"]
    assert shown == pytest.approx(metrics.continuous_ranked_probability_score(y, same))
    # The calibrated quantiles stand in the same columns.
    run("fit", path, *arguments, "-o", tmp_path / "c.calibrant")
    run("apply", tmp_path / "c.calibrant", path, *arguments, "-o", tmp_path / f"out.{kind}")
    written = read(tmp_path / f"out.{kind}")
    assert set(written) >= {*beside, *quantiles}
    low, *_, high = (np.asarray(written[name], dtype=float) for name in levels)
    assert abs(high - low).mean() > 1.2 * abs(values[:, -1] - values[:, 0]).mean()


def test_one_of_several_series_must_be_named(run, tmp_path, forecasts):
    y, mean, std = forecasts
    shifts = {"lo": -std, "hi": std}
    ends = {f"{name}-{end}-90": mean + shifts[end] for name in ("ETS", "Naive") for end in shifts}
    path = write(tmp_path / "f.csv", {"y": y, **ends})
    said = run("evaluate", path, code=1).stderr
    assert "quantiles of 2 series, ETS, Naive; name one, as in --quantiles ETS" in said
    run("evaluate", path, "--quantiles", "Naive")


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("lower=0.1,upper=80", "a level between 0 and 1; got '80'"),
        ("lower=0.1,uper=0.9", "has no 'uper' but y, lower, upper"),
        (None, "--quantiles lower=0.1,upper=0.9 for intervals of 80 %"),
    ],
)
def test_ends_of_intervals_need_their_levels(run, tmp_path, forecasts, option, said):
    y, mean, std = forecasts
    path = write(tmp_path / "f.csv", {"y": y, "lower": mean - std, "upper": mean + std})
    arguments = [] if option is None else ["--quantiles", option]
    assert said in run("evaluate", path, *arguments, code=1).stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--quantiles", "q_*", "--mean", "m", "--std", "s"], "excludes --mean and --std"),
        (["--quantiles", "r_*"], "must name two columns of quantiles or more; 'r_*' names 0"),
        (["--quantiles", "e_*"], "above 0 and below 1; got the column 'e_0'"),
    ],
)
def test_quantiles_that_are_none_are_refused(run, tmp_path, forecasts, arguments, words):
    y, mean, std = forecasts
    levels = {"q_0.1": -1.0, "q_0.9": 1.0, "e_0": -2.0, "e_0.2": -0.5, "e_0.8": 0.5}
    table = {"y": y, "m": mean, "s": std, **{name: mean + std * z for name, z in levels.items()}}
    path = write(tmp_path / "f.csv", table)
    result = run("evaluate", path, *arguments, code=2 if "--mean" in arguments else 1)
    assert words in " ".join(result.stderr.split())


def test_one_of_several_series_is_sliced(run, tmp_path, forecasts):
    y, mean, std = forecasts
    shifts = {"lo": -std, "hi": std}
    ends = {f"{name}-{end}-90": mean + shifts[end] for name in ("ETS", "Naive") for end in shifts}
    path = write(tmp_path / "f.csv", {"store": ["a", "b", "c"] * 100, "y": y, **ends})
    assert "all " in run("evaluate", path, "--quantiles", "Naive", "--by", "store").stdout


@pytest.mark.parametrize("slices", [[], ["--by", "store"]])
def test_mean_and_std_are_read_beside_several_series(run, tmp_path, forecasts, slices):
    y, mean, std = forecasts
    ends = {f"{name}-{end}-90": mean for name in ("ETS", "Naive") for end in ("lo", "hi")}
    table = {"store": ["a", "b", "c"] * 100, "y": y, "mean": mean, "std": std, **ends}
    path = write(tmp_path / "f.csv", table)
    assert "300" in run("evaluate", path, *slices).stdout


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--classes", "a,b"),
        ("--probabilities", "p_*"),
        ("--positive", "a"),
        ("--logits", "l_*"),
        ("--inputs", "percent"),
    ],
)
def test_options_about_classes_are_refused_beside_forecasts(
    run, tmp_path, forecasts, option, value
):
    y, mean, std = forecasts
    table = {"y": y, "q_0.1": mean - std, "q_0.9": mean + std, "p_a": y, "p_b": y, "l_a": y}
    path = write(tmp_path / "f.csv", table)
    for command in (["evaluate"], ["fit", "-o", tmp_path / "m.calibrant"]):
        said = run(*command, path, "--quantiles", "q_*", option, value, code=2).stderr
        assert f"{option} has no effect on forecasts of a number" in " ".join(said.split())


def test_classes_beside_quantiles_are_refused_in_slices(run, tmp_path, forecasts):
    y, mean, std = forecasts
    path = write(tmp_path / "f.csv", {"y": y, "q_0.1": mean - std, "q_0.9": mean + std, "s": y > 0})
    arguments = (path, "--quantiles", "q_*", "--by", "s", "--classes", "a,b")
    said = " ".join(run("evaluate", *arguments, code=2).stderr.split())
    assert "--classes has no effect on forecasts of a number" in said


def test_mean_and_std_beside_quantiles_are_said_to_be_read(run, tmp_path, forecasts):
    y, mean, std = forecasts
    table = {"y": y, "mean": mean, "std": std, "q_0.1": mean - 9.0, "q_0.9": mean + 9.0}
    path = write(tmp_path / "f.csv", table)
    plain = run("evaluate", path, "--json")
    assert '--quantiles "q_*" reads these' in plain.stderr
    named = run("evaluate", path, "--mean", "mean", "--std", "std", "--json")
    assert "reads these" not in named.stderr
    assert by_key(json.loads(plain.stdout))["nll"] == by_key(json.loads(named.stdout))["nll"]
    other = run("evaluate", path, "--quantiles", "q_*", "--json")
    assert "reads these" not in other.stderr
    assert json.loads(other.stdout)["metrics"] != json.loads(plain.stdout)["metrics"]
