"""A plain log of one risk, or any score, and what happened: which label is the event, what the
column holds, whose question is asked.
"""

import json

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics

pytest.importorskip("click")
pytest.importorskip("rich")

LABELS = {
    "numbers": (0, 1),
    "booleans": (False, True),
    "texts": ("no", "yes"),
    "named": ("good", "bad"),
}


def write(path, **columns):
    rows = zip(*(np.asarray(values).tolist() for values in columns.values()), strict=True)
    path.write_text(
        "".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows),
        encoding="utf-8",
    )


@pytest.fixture
def answers(tmp_path):
    """5,000 answers of a language model, 1.9 % of them right, each with a confidence in words:
    the one it says is never the share.
    """
    rng = np.random.default_rng(5)
    said = rng.choice([0.05, 0.2, 0.5, 0.8, 0.95], 5000, p=[0.62, 0.25, 0.08, 0.03, 0.02])
    share = {0.05: 0.001, 0.2: 0.004, 0.5: 0.09, 0.8: 0.15, 0.95: 0.25}
    right = rng.random(5000) < np.array([share[p] for p in said])
    write(
        tmp_path / "log.jsonl",
        confidence=said,
        correct=right,
        model=np.array(["m", "n"])[rng.integers(2, size=5000)],
    )
    return said, right


def test_f01_a_log_of_confidences_is_fitted_applied_and_reported_right(run, answers, tmp_path):
    said, right = answers
    asked = "--risk", "confidence", "--label", "correct"
    assert right.mean() == pytest.approx(0.0185, abs=0.001)
    run("fit", "log.jsonl", *asked, "--method", "isotonic", "-o", "m")
    run("apply", "m", "log.jsonl", "--risk", "confidence", "-o", "out.jsonl")
    out = [
        json.loads(line)
        for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert set(out[0]) == {"confidence", "correct", "model"}
    risk = np.array([row["confidence"] for row in out])
    np.testing.assert_array_equal(risk, cb.Isotonic().fit(said, right).predict(said))
    assert risk.mean() == pytest.approx(right.mean())
    for level in (0.5, 0.95):
        assert risk[said == level] == pytest.approx(right[said == level].mean(), abs=0.02)
    found = json.loads(
        run(
            "report", "log.jsonl", *asked, "--method", "isotonic", "--groups", "model", "--json"
        ).stdout
    )
    rows = {row["key"]: row for row in found["metrics"]}
    assert rows["observed_expected_ratio"]["before"]["value"] == pytest.approx(
        right.mean() / said.mean()
    )
    assert rows["observed_expected_ratio"]["after"]["value"] == pytest.approx(1.0, abs=0.02)
    assert rows["log_loss"]["after"]["value"] < metrics.log_loss(right.astype(int), risk) + 0.002
    assert found["verdict"]["model"] != "underconfident"
    assert found["verdict"]["sentence"].startswith("The risks are too high: ")
    assert f"{100 * right.mean():.1f} % observed" in found["verdict"]["sentence"]


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_which_label_is_the_event(labels, run, tmp_path):
    rng = np.random.default_rng(0)
    p = rng.uniform(size=40)
    y = (rng.random(40) < p).astype(int)
    write(tmp_path / "f.jsonl", p=p, label=[labels[k] for k in y])
    arguments = "evaluate", "f.jsonl", "--json"
    if labels[1] == "bad":
        for command in (
            arguments,
            (*arguments, "--by", "label"),
            ("report", "f.jsonl"),
            ("fit", "f.jsonl"),
        ):
            assert "--positive LABEL" in run(*command, code=1).stderr
        assert "'worse'" in run(*arguments, "--positive", "worse", code=1).stderr
        arguments = *arguments, "--positive", "bad"
    rows = {
        row["key"]: row["before"]["value"] for row in json.loads(run(*arguments).stdout)["metrics"]
    }
    assert rows["log_loss"] == pytest.approx(metrics.log_loss(y, p))
    assert rows["observed_expected_ratio"] == pytest.approx(y.mean() / p.mean())
    slices = json.loads(run(*arguments, "--by", "label").stdout)["overall"]
    assert slices["observed_expected_ratio"] == pytest.approx(y.mean() / p.mean())
    assert slices["mean_risk"] == pytest.approx(p.mean())


def test_the_event_of_columns_of_two_and_three_classes(run, tmp_path):
    rng = np.random.default_rng(0)
    p = rng.uniform(size=40)
    y = (rng.random(40) < p).astype(int)
    write(tmp_path / "f.jsonl", p_bad=p, p_good=1 - p, label=np.array(["good", "bad"])[y])

    def ratio(*arguments):
        rows = json.loads(run("evaluate", "f.jsonl", "--json", *arguments).stdout)["metrics"]
        return {row["key"]: row["before"]["value"] for row in rows}.get("observed_expected_ratio")

    assert "--positive LABEL" in run("evaluate", "f.jsonl", code=1).stderr
    assert (
        ratio("--positive", "bad") == ratio("--target", "bad") == pytest.approx(y.mean() / p.mean())
    )
    assert ratio("--positive", "good") == pytest.approx((1 - y).mean() / (1 - p).mean())
    assert ratio("--target", "answer") is None
    assert "--positive" in run("evaluate", "f.jsonl", "--positive", "worse", code=1).stderr
    write(
        tmp_path / "f.jsonl", p_bad=p, p_good=1 - p, p_so=0 * p, label=np.array(["good", "bad"])[y]
    )
    assert ratio() is None
    assert ratio("--target", "bad") == pytest.approx(y.mean() / p.mean())
    assert "two classes" in run("evaluate", "f.jsonl", "--target", "event", code=2).stderr


def test_what_a_column_holds_is_said_and_never_guessed(run, tmp_path):
    rng = np.random.default_rng(0)
    logit = rng.normal(size=60)
    p = 1.0 / (1.0 + np.exp(-logit))
    y = (rng.random(60) < p).astype(int)
    held = {"probability": p, "percent": 100 * p, "log_probability": np.log(p), "logit": logit}
    write(tmp_path / "f.jsonl", label=y, **held)
    for inputs, values in held.items():
        found = run("evaluate", "f.jsonl", "--json", "--risk", inputs, "--inputs", inputs)
        rows = {row["key"]: row["before"]["value"] for row in json.loads(found.stdout)["metrics"]}
        assert rows["log_loss"] == pytest.approx(metrics.log_loss(y, p))
        if not ((values >= 0) & (values <= 1)).all():
            for command in ("evaluate", "report", "fit"):
                assert (
                    "set its unit with --inputs"
                    in run(command, "f.jsonl", "--risk", inputs, code=1).stderr
                )
        run(
            "fit",
            "f.jsonl",
            "--risk",
            inputs,
            "--inputs",
            inputs,
            "--method",
            "platt",
            "-o",
            f"{inputs}.calibrant",
        )
        run(
            "apply",
            f"{inputs}.calibrant",
            "f.jsonl",
            "--risk",
            inputs,
            "--inputs",
            inputs,
            "-o",
            f"{inputs}.jsonl",
        )
    out = [
        json.loads(line)
        for line in (tmp_path / "percent.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    want = cb.OneVsRest(cb.Platt()).fit(p, y).predict_proba(p)[:, 1]
    np.testing.assert_allclose([row["risk"] for row in out], want, atol=1e-9)
    np.testing.assert_allclose([row["percent"] for row in out], 100 * p)


def test_a_score_is_mapped_to_the_risk(run, tmp_path):
    rng = np.random.default_rng(0)
    margin = 50 * rng.normal(size=300)
    y = (rng.random(300) < 1.0 / (1.0 + np.exp(-margin / 25))).astype(int)
    write(tmp_path / "f.jsonl", margin=margin, correct=y)
    asked = "--risk", "margin", "--inputs", "score", "--label", "correct"
    run("fit", "f.jsonl", *asked, "--method", "isotonic", "-o", "m")
    run("apply", "m", "f.jsonl", *asked[:4], "-o", "out.jsonl")
    out = [
        json.loads(line)
        for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    np.testing.assert_array_equal([row["margin"] for row in out], margin)
    np.testing.assert_array_equal(
        [row["risk"] for row in out], cb.Isotonic().fit(margin, y).predict(margin)
    )
    result = run("evaluate", "f.jsonl", *asked, "--json")
    rows = {row["key"]: row["before"]["value"] for row in json.loads(result.stdout)["metrics"]}
    assert rows["observed_expected_ratio"] == pytest.approx(1.0, abs=0.05)
    order = margin.argsort().argsort() / 300
    assert f"AUROC of {metrics.event_auroc(y, order):.4f}" in result.stderr
    assert "out of fold" in result.stderr
    run("report", "f.jsonl", *asked, "--test", "f.jsonl", "-o", "r.json")
    run("evaluate", "f.jsonl", *asked, "--calibrator", "m")
    assert (
        "fitted on scores"
        in run("apply", "m", "f.jsonl", "--risk", "correct", "-o", "o.jsonl", code=1).stderr
    )
    assert "choose from" in run("fit", "f.jsonl", *asked, "--method", "temperature", code=2).stderr
    assert "--inputs" in run("fit", "f.jsonl", *asked[:2], *asked[4:], code=1).stderr


def test_gates_speak_of_the_event(run, answers):
    asked = "--risk", "confidence", "--label", "correct", "--method", "platt"
    result = run(
        "report",
        "log.jsonl",
        *asked,
        "--fail-if",
        "observed_expected_ratio<0.8",
        "--fail-if",
        "after.event_ece>0.5",
        code=3,
    )
    assert "O/E before calibration" in result.stderr


WRONG = [
    (("--risk", "p", "--probabilities", "p"), "--risk and --probabilities exclude"),
    (("--positive", "1", "--classes", "0,1"), "--positive and --classes"),
    (("--target", "nothing"), "--target must be event, answer, classes"),
    (("--risk", "p", "--confidence", "p"), "--risk and --confidence exclude"),
    (("--risk", "p", "--by", "y", "--inputs", "score"), "slices need probabilities"),
    (
        ("--risk", "p", "--predicted", "y"),
        "--predicted needs the column of confidences of its answers",
    ),
    (
        ("--confidence", "p", "--predicted", "y", "--by", "y", "--target", "event"),
        "--confidence is the probability that the answer is right",
    ),
]


@pytest.mark.parametrize(("arguments", "words"), WRONG)
def test_wrong_usage(arguments, words, run, tmp_path):
    write(tmp_path / "f.jsonl", p=[0.25, 0.5, 0.75], y=[0, 1, 1])
    assert words in run("evaluate", "f.jsonl", *arguments, code=2).stderr


def test_slices_of_the_answer_take_text_labels(run, tmp_path):
    rng = np.random.default_rng(0)
    p = rng.uniform(size=60)
    y = (rng.random(60) < p).astype(int)
    want = metrics.log_loss(y, p), metrics.accuracy(y, p)
    for labels in LABELS.values():
        write(tmp_path / "f.jsonl", p=p, label=[labels[k] for k in y], site=np.tile(["u", "v"], 30))
        asked = "evaluate", "f.jsonl", "--by", "site", "--target", "answer", "--json"
        if labels[1] == "bad":
            assert "pass --classes with the label of the event last" in run(*asked, code=1).stderr
            assert "--classes OTHER,bad" in run(*asked, "--positive", "bad", code=2).stderr
            asked = *asked, "--classes", "good,bad"
        found = json.loads(run(*asked).stdout)["overall"]
        assert (found["log_loss"], found["accuracy"]) == pytest.approx(want)


def test_what_the_labels_and_risks_hold_beside_the_expected_is_said(run, tmp_path):
    y = np.resize(["bad", "Bad", "good", "unknown"], 60)
    write(tmp_path / "f.jsonl", p=np.linspace(0.1, 0.9, 60), y=y)
    asked = "--risk", "p", "--label", "y", "--positive", "bad"
    said = run("evaluate", "f.jsonl", *asked).stderr
    assert (
        "f.jsonl has 3 labels other than 'bad', which all count as no event: Bad, good,"
        " unknown." in said
    )
    write(tmp_path / "f.jsonl", p=np.linspace(0.1, 0.9, 60), y=np.where(y == "bad", "bad", "good"))
    assert run("evaluate", "f.jsonl", *asked).stderr == ""
    write(tmp_path / "f.jsonl", p=[0.5, None, 0.7], y=["bad", "good", "bad"])
    said = run("evaluate", "f.jsonl", *asked, code=1).stderr
    assert "f.jsonl: 'p' must hold a number in every row; row 1 is missing (1 in all)" in said


def test_a_class_of_several_is_asked_for_by_target(run, tmp_path):
    np.savez(tmp_path / "f.npz", probabilities=np.full((6, 3), 1 / 3), labels=np.tile([0, 1, 2], 2))
    assert "--target LABEL" in run("evaluate", "f.npz", "--positive", "2", code=1).stderr
    assert "3 classes" in run("evaluate", "f.npz", "--target", "2").stdout


def test_a_warning_is_said_once(run, tmp_path):
    rng = np.random.default_rng(0)
    p = (rng.random(80) < 0.5).astype(int)
    write(tmp_path / "f.jsonl", p=p, y=np.where(rng.random(80) < 0.8, p, 1 - p))
    lines = run(
        "report", "f.jsonl", "--risk", "p", "--label", "y", "--method", "identity"
    ).stderr.splitlines()
    assert len(set(lines)) == len(lines)


COMMANDS_OF_A_TABLE: list[tuple[str, ...]] = [
    ("audit", "log.jsonl", "--groups", "note"),
    ("evaluate", "log.jsonl"),
    ("evaluate", "log.jsonl", "--by", "note"),
    ("fit", "log.jsonl", "--method", "isotonic", "-o", "made"),
    ("apply", "saved", "log.jsonl", "-o", "made.jsonl"),
    ("report", "log.jsonl", "-o", "made.json"),
    ("compare", "log.jsonl", "log.jsonl"),
    ("monitor", "log.jsonl", "--time", "when"),
    ("decide", "log.jsonl", "-o", "made"),
]


@pytest.mark.parametrize(
    ("command", "classes"),
    [
        *((command, "x") for command in COMMANDS_OF_A_TABLE),
        *((("evaluate", "log.jsonl"), other) for other in (",", "x,", "x,x")),
    ],
)
def test_fewer_than_two_classes_are_wrong_usage(run, tmp_path, command, classes):
    (tmp_path / "saved").write_bytes(b"")
    write(
        tmp_path / "log.jsonl",
        risk=[0.2, 0.7, 0.4, 0.6],
        label=[0, 1, 0, 1],
        note=["a", "b", "a", "b"],
    )
    options = () if command[0] == "compare" else ("--risk", "risk")
    said = run(*command, *options, f"--classes={classes}", code=2).output
    assert "--classes must name two classes or more" in " ".join(said.split())


def test_slices_say_that_no_row_has_the_last_of_classes(run, tmp_path):
    write(
        tmp_path / "log.jsonl",
        risk=[0.2, 0.7, 0.4, 0.6],
        label=["a", "c", "a", "c"],
        note=["a", "b", "a", "b"],
    )
    asked = "evaluate", "log.jsonl", "--by", "note", "--risk", "risk", "--classes"
    assert (
        "no row of log.jsonl has the label 'b', which --classes names as the event"
        in run(*asked, "a,b").output
    )
    assert "Warning" not in run(*asked, "a,c").output
