import json
import re

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.cli.gate import Gate, known, metric_key


@pytest.fixture
def npz(predictions, tmp_path):
    P, y, names = predictions
    np.savez(
        tmp_path / "f.npz",
        probabilities=P,
        labels=np.array(names)[y],
        classes=names,
        note=np.array([1, 2, 3]),
    )
    return tmp_path / "f.npz"


def test_help_shows_examples(run):
    assert "calibrant report log.csv" in run("--help").output
    for command in ("demo", "evaluate", "report", "fit", "apply", "monitor"):
        assert "Examples:" in run(command, "--help").output


def test_evaluate_prints_the_numbers_of_the_metrics(run, npz, predictions):
    P, y, _ = predictions
    output = run("evaluate", npz).output
    for metric in (
        metrics.accuracy,
        metrics.log_loss,
        metrics.brier_score,
        metrics.expected_calibration_error,
    ):
        interval = metric.interval(y, P)
        assert f"{metric(y, P):.4f} [{interval.low:.4f}, {interval.high:.4f}]" in output
    assert "The model is too sure" in output


def test_evaluate_json(run, npz, predictions):
    P, y, _ = predictions
    found = json.loads(run("evaluate", npz, "--json", "--method", "temperature").stdout)
    assert found["calibrator"]["evaluation"] == "out-of-fold"
    rows = {row["key"]: row for row in found["metrics"]}
    assert rows["log_loss"]["before"]["value"] == pytest.approx(metrics.log_loss(y, P))
    assert rows["log_loss"]["after"]["value"] < rows["log_loss"]["before"]["value"]


def test_fit_apply_evaluate(run, npz, predictions, tmp_path):
    P, y, names = predictions
    assert (
        "temperature scaling fitted on 400 rows, 3 classes"
        in run("fit", npz, "--method", "temperature", "-o", "m.calibrant").output
    )
    fitted = cb.load(tmp_path / "m.calibrant")
    expected = cb.TemperatureScaling(classes=names).fit(P, np.array(names)[y])
    assert fitted.temperature_ == expected.temperature_
    run("apply", "m.calibrant", npz, "-o", "out.npz")
    with np.load(tmp_path / "out.npz") as out:
        np.testing.assert_array_equal(out["probabilities"], expected.predict_proba(P))
        np.testing.assert_array_equal(out["confidence"], expected.predict_confidence(P))
        assert out["note"].tolist() == [1, 2, 3]
        assert out["labels"].tolist() == np.array(names)[y].tolist()
    found = json.loads(run("evaluate", npz, "--calibrator", "m.calibrant", "--json").stdout)
    assert found["calibrator"]["evaluation"] == "in-sample"


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_apply_leaves_other_columns_untouched(kind, run, predictions, tmp_path):
    P, y, names = predictions
    odd = ["007", "1.10", "", 'a,"b"', "ü"] * 80
    cal = cb.TemperatureScaling(classes=names).fit(P, np.array(names)[y])
    cal.save(tmp_path / "m.calibrant")
    shuffled = [2, 0, 1]
    table = {"id": odd, **{f"p_{names[j]}": P[:, j] for j in shuffled}, "day": ["2026-01-05"] * 400}
    if kind == "csv":
        import csv

        with open(tmp_path / "new.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(table)
            writer.writerows(zip(*table.values(), strict=True))
        run("apply", "m.calibrant", "new.csv", "-o", "out.csv")
        with open(tmp_path / "out.csv", newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        out = dict(zip(header, zip(*rows, strict=True), strict=True))
    else:
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        pq.write_table(
            pa.table({k: list(v) for k, v in table.items()}, metadata={"made": "by hand"}),
            tmp_path / "new.parquet",
        )
        run("apply", "m.calibrant", "new.parquet", "-o", "out.parquet")
        written = pq.read_table(tmp_path / "out.parquet")
        assert written.schema.metadata[b"made"] == b"by hand"
        out = written.to_pydict()
    assert list(out) == [*table, "confidence"]
    assert list(out["id"]) == odd
    assert set(out["day"]) == {"2026-01-05"}
    Q = np.column_stack([np.array(out[f"p_{name}"], dtype=float) for name in names])
    np.testing.assert_array_equal(Q, cal.predict_proba(P))


def test_logits_become_probabilities(run, predictions, tmp_path):
    P, y, _ = predictions
    np.savez(tmp_path / "l.npz", logits=np.log(P), labels=y)
    run("fit", "l.npz", "-o", "m.calibrant")
    assert cb.load(tmp_path / "m.calibrant").inputs == "logit"
    run("apply", "m.calibrant", "l.npz", "-o", "out.npz")
    with np.load(tmp_path / "out.npz") as out:
        assert "logits" not in out
        np.testing.assert_allclose(out["probabilities"].sum(axis=1), 1.0, atol=1e-9)
    np.savez(tmp_path / "p.npz", probabilities=P)
    assert (
        "was fitted on logits" in run("apply", "m.calibrant", "p.npz", "-o", "o.npz", code=1).output
    )


def test_report(run, npz, tmp_path):
    output = run("report", npz, "-o", "r.html").output
    page = (tmp_path / "r.html").read_text("utf-8")
    state, sentence, action, *cautions, _, title, command = output.splitlines()
    assert (title, command.split()[:2]) == ("Next:", ["calibrant", "fit"])
    assert all(part.removeprefix("→ ") in page for part in (state, sentence, action))
    assert cautions
    assert all(caution.startswith("! ") and caution[2:] in page for caution in cautions)
    assert "out-of-fold" in page
    assert "<title>f.npz</title>" in page


def test_report_on_a_test_file_with_columns_in_another_order(run, npz, predictions, tmp_path):
    P, y, names = predictions
    np.savez(
        tmp_path / "t.npz", probabilities=P[:, ::-1], labels=np.array(names)[y], classes=names[::-1]
    )
    found = json.loads(
        run("report", npz, "--test", "t.npz", "--method", "temperature", "--json").stdout
    )
    assert found["calibrator"]["evaluation"] == "held-out"
    fitted = cb.TemperatureScaling().fit(P, y)
    after = next(row["after"]["value"] for row in found["metrics"] if row["key"] == "log_loss")
    assert after == pytest.approx(metrics.log_loss(y, fitted.predict_proba(P)))


@pytest.mark.parametrize(
    ("gate", "code"),
    [
        ("ece>0.02", 3),
        ("ece < 0.02", 0),
        ("after.ece>0.1", 0),
        ("accuracy<=0.99", 3),
        ("brier_score>=5", 0),
    ],
)
def test_gates(run, npz, gate, code):
    result = run("report", npz, "--fail-if", gate, code=code)
    assert ("Failed: " in result.stderr) == (code == 3)
    if code:
        assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("gate", ["ec>0.02", "ece=0.02", "ece>x", "ece", "__import__>1"])
def test_unreadable_gates_are_wrong_usage(run, npz, gate):
    assert "a gate must " in run("report", npz, "--fail-if", gate, code=2).output


def test_a_metric_has_one_word_everywhere():
    """A gate and ``--metric`` take the key, which JSON prints, or the name in Python; Python says
    its name where it is asked for the key.
    """
    public = {name: getattr(metrics, name) for name in metrics.__all__}
    keys = {name: metric.key for name, metric in public.items() if hasattr(metric, "key")}
    assert len(keys) > 60
    gates = {key for of in known().values() for key in of}
    for name, key in keys.items():
        assert metric_key(name) == metric_key(key) == key
        if key in gates:
            assert Gate.parse(f"{name}>1") == Gate.parse(f"{key}>1")
        if key not in public:
            with pytest.raises(AttributeError, match=rf"did you mean cb\.metrics\.{name}\?"):
                getattr(cb.metrics, key)
    with pytest.raises(ValueError, match=r"did you mean event_auroc\?"):
        Gate.parse("AUROC > .8")


def test_every_key_can_be_asked_for():
    keys = [key for of in known().values() for key in of]
    assert {"event_ece", "ece", "crps", "group_gap", "alarms"} <= set(keys)
    assert [Gate.parse(f"after.{key} > 1").metric for key in keys] == keys


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (
            ["report", "--fail-if", "after.Brier score > 0.1"],
            "did you mean brier_score?",
        ),
        (["report", "--fail-if", "RMSE>2"], "did you mean rmse?"),
        (["evaluate", "--fail-if", "O/E>2"], "did you mean observed_expected_ratio?"),
        (["report", "--calibrator", "isotonic"], "write --method isotonic."),
    ],
    ids=["shown", "shown of forecasts", "evaluate", "method"],
)
def test_what_stands_in_the_wrong_place_gets_a_hint(run, npz, arguments, hint):
    assert hint in run(*arguments, npz, code=2).stderr


def test_a_gate_on_what_was_not_measured(run, npz):
    assert "does not have" in run("report", npz, "--fail-if", "event_ece>0.1", code=1).output


def test_nothing_is_overwritten_without_force(run, npz, tmp_path):
    for command in (["report", npz, "-o", "x"], ["fit", npz, "-o", "x"], ["demo", "-o", "x"]):
        (tmp_path / "x").write_text("precious", encoding="utf-8")
        result = run(*command, code=1)
        assert re.fullmatch(
            r"Error: x exists and is not overwritten; pass --force or another -o\.\n", result.stderr
        )
        assert (tmp_path / "x").read_text(encoding="utf-8") == "precious"
    run("fit", npz, "-o", "x", "--force")
    assert isinstance(cb.load(tmp_path / "x"), cb.AutoCalibrator)
    np.savez(tmp_path / "out.npz", a=1)
    run("apply", "x", npz, "-o", "out.npz", code=1)
    run("apply", "x", npz, "-o", "out.npz", "--force")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["f.npz", "out.npz", "x"]


def test_user_errors_are_one_line(run, npz, tmp_path):
    np.savez(tmp_path / "bad.npz", probabilities=[[0.5, 0.6]], labels=[0])
    (tmp_path / "foreign").write_text("x", encoding="utf-8")
    for arguments, words in [
        (("evaluate", "bad.npz"), "rows of the predictions must sum to 1"),
        (("fit", "bad.npz"), "rows of the predictions must sum to 1"),
        (("apply", "foreign", npz, "-o", "o.npz"), "not a calibrant file"),
        (("report", npz, "-o", "missing/r.html"), "the folder"),
    ]:
        result = run(*arguments, code=1)
        assert words in result.stderr
        assert result.stderr.startswith("Error: ")
        assert len(result.stderr.strip().splitlines()) == 1


def test_wrong_usage(run, npz):
    assert "choose from: " in run("fit", npz, "--method", "magic", code=2).output
    assert (
        "exclude each other"
        in run("evaluate", npz, "--method", "beta", "--calibrator", npz, code=2).output
    )
    assert "must be a .npz file" in run("apply", _saved(npz), npz, "-o", "o.csv", code=2).output
    run("evaluate", "nothing.npz", code=2)


def _saved(npz):
    path = npz.parent / "m.calibrant"
    cb.calibrators.Identity().fit([[0.5, 0.5]], [0]).save(path)
    return path


def test_target_says_what_a_map_is_fitted_to(run, npz, tmp_path):
    run("fit", npz, "--method", "platt", "--target", "answer", "-o", "answer.calibrant")
    assert isinstance(cb.load(tmp_path / "answer.calibrant"), cb.ConfidenceCalibrator)
    run("fit", npz, "--method", "platt", "--target", "classes", "-o", "classes.calibrant")
    assert isinstance(cb.load(tmp_path / "classes.calibrant"), cb.OneVsRest)
    for target in ("event", "dog"):
        assert (
            "--risk NAME --positive"
            in run("fit", npz, "--method", "platt", "--target", target, code=2).output
        )
    assert "one of the classes cat, dog, eel" in run("fit", npz, "--target", "fox", code=2).output
    assert "--method isotonic" in run("fit", npz, "--target", "answer", code=2).output
    assert (
        "ECE"
        in run("evaluate", npz, "--target", "answer", "--calibrator", "answer.calibrant").output
    )


def test_several_methods_are_compared(run, npz, predictions, tmp_path):
    P, y, _ = predictions
    out = str(tmp_path / "r.json")
    methods = "temperature,category-temperature,isotonic-by-class"
    found = run("report", str(npz), "--method", methods, "-o", out)
    assert found.exit_code == 0
    made = json.loads((tmp_path / "r.json").read_text())
    names = [row["name"] for row in made["alternatives"]]
    by_isotonic = "confidence by isotonic regression, by class"
    assert sorted(names) == sorted(["temperature scaling", "category temperature", by_isotonic])
    assert made["target"] == "answer"
    assert made["by_class"]["sentence"] in found.stdout
    given = [
        cb.TemperatureScaling(),
        cb.calibrators.CategoryTemperature(),
        cb.ConfidenceCalibrator(map=cb.Isotonic(), per_class=True),
    ]
    same = cb.report(y, P, calibrator=given, target="answer").to_dict()["by_class"]
    assert made["by_class"]["macro"] == pytest.approx(same["macro"])


def test_by_class_stands_for_the_methods_of_single_classes(run, npz):
    found = run("evaluate", str(npz), "--method", "by-class")
    assert found.exit_code == 0
    assert "Log loss by predicted class" in found.stdout
    assert "For the confidence in a predicted class use" in found.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["report", "--method", "temperature,magic"], "'magic' is not a method"),
        (["report", "--method", "temperature,"], "'' is not a method"),
        (["fit", "--method", "temperature,beta"], "--method temperature,beta is no method for"),
    ],
)
def test_unknown_names_in_a_list_are_wrong_usage(run, npz, tmp_path, arguments, words):
    output = ["-o", str(tmp_path / "out.html")]
    assert words in run(arguments[0], str(npz), *arguments[1:], *output, code=2).stderr
