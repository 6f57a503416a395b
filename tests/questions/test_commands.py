"""The commands on logs of answers to questions: fit, apply, decide, check, and rate."""

import json

import numpy as np
import pytest

import calibrant as cb
from calibrant.monitoring import read_lock
from calibrant.questions import estimate_rate, read_questions

pytest.importorskip("click")
pytest.importorskip("rich")


def rows_of(n, seed, *, model="v1", labels=True, wrong=0.0):
    """Answers whose yes/no scores are calibrated, and whose choices are overconfident."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        p = rng.beta(9.0, 1.0)
        hit = rng.random() < (1.0 - wrong) * p
        sure = {"id": i, "question": "safe", "probs": {"yes": p, "no": 1.0 - p}, "model": model}
        truth = rng.dirichlet(np.full(4, 0.4))
        said = np.maximum(truth, 1e-9) ** 2 / (np.maximum(truth, 1e-9) ** 2).sum()
        probs = dict(zip([f"{i}-{k}" for k in range(4)], said.tolist(), strict=True))
        pick = {"id": i, "question": "topic", "probs": probs, "model": model}
        if labels:
            sure["label"], pick["label"] = bool(hit), f"{i}-{rng.choice(4, p=truth)}"
        yield sure
        yield pick


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "log.jsonl", rows_of(400, 0))
    write(tmp_path / "new.jsonl", rows_of(50, 1, labels=False))
    return tmp_path


def test_a_calibrator_is_fitted_and_applied_in_the_form_of_the_log(run, folder):
    said = run("fit", "log.jsonl", "--method", "question", "-o", "m.calibrant").output
    assert "pooled temperatures fitted on 800 rows (converged)" in said
    assert "100 rows calibrated" in run("apply", "m.calibrant", "new.jsonl", "-o", "o.jsonl").output
    expected = cb.load(folder / "m.calibrant").predict(read_questions(folder / "new.jsonl"))
    for before, after, own in zip(
        read(folder / "new.jsonl"), read(folder / "o.jsonl"), expected.answers(), strict=True
    ):
        assert after["probs"] == pytest.approx(own)
        assert {**after, "probs": 0} == {**before, "probs": 0}
    assert cb.load(folder / "m.calibrant").temperatures_["topic"] > 1.5


def test_every_form_of_an_answer_keeps_it(run, folder):
    run("fit", "log.jsonl", "--method", "question", "-o", "m.calibrant")
    lines = [
        {"id": 1, "decisions": {"safe": {"probs": 0.8}, "topic": {"probs": [0.9, 0.1]}}},
        {"id": 2, "answers": [{"question": "safe", "probs": 0.7}]},
        {"id": 2, "answers": []},
        {"id": 3, "question": "topic", "logprobs": {"a": -0.1, "b": -3.0, "c": -4.0}},
        {"id": 4, "question": "topic", "samples": ["a", "a", "b"]},
        {"id": 5, "question": "safe", "said": 3},
    ]
    write(folder / "forms.jsonl", lines)
    said = run("apply", "m.calibrant", "forms.jsonl", "-o", "o.jsonl", code=1).output
    assert "1 of 6 rows have none" in said
    assert "pass --skip-missing" in said
    said = run("apply", "m.calibrant", "forms.jsonl", "-o", "o.jsonl", "--skip-missing").output
    assert "4 rows calibrated" not in said
    first, second, _, third, fourth, fifth = read(folder / "o.jsonl")
    expected = cb.load(folder / "m.calibrant").predict(read_questions(lines[:5])).answers()
    assert first["decisions"]["safe"] == {"probs": pytest.approx(expected[0]["yes"])}
    assert first["decisions"]["topic"]["probs"] == pytest.approx(list(expected[1].values()))
    assert second["answers"][0]["probs"] == pytest.approx(expected[2]["yes"])
    assert third["probs"] == pytest.approx(expected[3])
    assert fourth["probs"] == pytest.approx(expected[4])
    assert fifth == lines[5]
    # Calibrated forms are read again as they were written.
    again = read_questions(read(folder / "o.jsonl")[:5])
    assert np.allclose(again.probability, [p for own in expected for p in own.values()])


def test_a_lock_decides_and_is_bound_to_a_version(run, folder):
    said = run("decide", "log.jsonl", "--max-error", "0.15", "-o", "lock.json").output
    assert "safe: Accepts" in said
    assert "The guarantee holds if new items come from the population" in said
    lock = read_lock(folder / "lock.json")
    assert (lock.fitted.risk, lock.fitted.confidence, lock.models) == (0.15, 0.95, ["v1"])
    expected = lock.decide(read_questions(folder / "new.jsonl")).tolist()
    said = run("decide", "lock.json", "new.jsonl").output
    assert f"{expected.count('answer')} answer" in said
    assert [row["decision"] for row in read(folder / "new.decided.jsonl")] == expected
    run("apply", "lock.json", "new.jsonl", "-o", "same.jsonl")
    assert read(folder / "same.jsonl") == read(folder / "new.decided.jsonl")
    write(folder / "v2.jsonl", rows_of(20, 2, model="v2", labels=False))
    said = run("decide", "lock.json", "v2.jsonl", code=1).output
    assert "must come from the model ['v1'] of the lock; got ['v2']" in said
    assert "pass --allow-other-version" in said
    run("decide", "lock.json", "v2.jsonl", "--allow-other-version")
    run("apply", "lock.json", "v2.jsonl", "--model-version", "v1", "-o", "named.jsonl")


def test_one_command_calibrates_and_certifies(run, folder):
    command = ("fit", "log.jsonl", "--method", "question", "--max-error", "0.2")
    said = run(*command, "--certainty", "0.9", "-o", "lock.json").output
    assert "with confidence 90 %" in " ".join(said.split())
    rules = read_lock(folder / "lock.json").fitted
    assert (rules.risk, rules.confidence) == (0.2, 0.9)
    assert rules.fitted_.temperatures_["topic"] > 1.5
    assert sum(one.n for one in rules.certificates_.values()) <= 400


def test_a_swap_of_the_model_is_a_gate(run, folder):
    run("decide", "log.jsonl", "--max-error", "0.2", "--unit", "log", "-o", "lock.json")
    write(folder / "same.jsonl", rows_of(1500, 3, model="v2", wrong=-0.05))
    write(folder / "worse.jsonl", rows_of(1500, 4, model="v3", wrong=0.4))
    assert run("check", "lock.json", "same.jsonl").output.startswith("Kept: at most 0.2 wrong")
    said = run("check", "lock.json", "worse.jsonl", "--swap", "2", code=1).output
    assert said.startswith(
        "Not kept: at most 0.2 wrong among answered rows: 'all questions' broken"
    )
    assert "fit and certify it again on labels of this version" in said
    write(folder / "few.jsonl", rows_of(20, 5, model="v2"))
    said = run("check", "lock.json", "few.jsonl", code=1).output
    assert "'all questions' cannot tell" in said
    assert "labels at this error rate certify it again" in said
    said = run("check", "lock.json", "new.jsonl", code=1).output
    assert "new.jsonl must hold the outcome of some rows in 'label'" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("decide", "log.jsonl", "--max-error", "0.001"),
            "a risk of 0.001 at a confidence of 0.95 needs",
        ),
        (("fit", "new.jsonl"), "name the field with --label"),
        (("apply", "table.csv", "new.jsonl", "-o", "o.jsonl"), "table.csv"),
        (
            ("apply", "lock.json", "table.csv", "-o", "o.csv"),
            "a saved Lock does not decide",
        ),
        (("check", "table.csv", "log.jsonl"), "table.csv is not a lock file"),
        (
            ("evaluate", "table.csv", "--task", "questions"),
            "a table with a column 'confidence'; table.csv has p, label",
        ),
        (("decide", "damaged.json", "new.jsonl"), "damaged.json is not a lock file"),
        (("decide", "lock.json", "new.jsonl", "-o", "lock.json"), "pass --force or another -o"),
    ],
)
def test_errors_are_one_sentence_without_a_traceback(run, folder, arguments, words):
    run("decide", "log.jsonl", "--max-error", "0.15", "-o", "lock.json")
    (folder / "table.csv").write_text("p,label\n0.2,0\n0.9,1\n", encoding="utf-8")
    (folder / "damaged.json").write_text("{}", encoding="utf-8")
    said = run(*arguments, code=1).output
    assert words in said
    assert "Traceback" not in said
    assert "bug" not in said


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"probs": {"a": "x", "b": 0.5}}, "'probs' of line 1 must be a number; got 'x'"),
        ({"probs": {"a": 0.5, "b": 0.7}}, "must sum to 1"),
        ({"probs": {"a": 1.0}}, "two options or more"),
        (
            {"decisions": [{"logprobs": 1}], "label": None},
            "'logprobs' of line 1 must be a mapping or a list; got 1",
        ),
        ({"logprobs": {"a": None, "b": -1}}, "'logprobs' of line 1 must be a number; got None"),
        ({"id": [1], "probs": {"a": 0.5, "b": 0.5}}, "'id' of line 1 must be a text or a number"),
    ],
)
def test_damaged_rows_are_refused_in_one_sentence(run, tmp_path, row, words):
    write(tmp_path / "bad.jsonl", [{"label": "a"} | row])
    said = run("fit", "bad.jsonl", code=1).output
    assert said.startswith("Error: bad.jsonl: ")
    assert words in said
    assert "bug" not in said


def test_a_report_is_that_of_the_library(run, folder):
    pytest.importorskip("jinja2")
    run("report", "log.jsonl", "--method", "question", "-o", "r.json")
    found = json.loads((folder / "r.json").read_text(encoding="utf-8"))
    own = cb.report(
        read_questions(folder / "log.jsonl"), calibrator=cb.questions.QuestionCalibrator()
    ).to_dict()
    assert found["task"] == "questions"
    assert found["metrics"] == own["metrics"]
    assert found["verdict"]["sentence"] == own["verdict"]["sentence"]
    gate = ("--method", "question", "-o", "r.json", "--force", "--fail-if")
    run("report", "log.jsonl", *gate, "question_accuracy<0.99", code=3)
    run("report", "log.jsonl", *gate, "question_accuracy<0.1")
    run("fit", "log.jsonl", "--method", "question", "-o", "m.calibrant")
    run("apply", "m.calibrant", "log.jsonl", "-o", "calibrated.jsonl")
    (row, *_) = json.loads(run("compare", "log.jsonl", "calibrated.jsonl", "--json").output)["rows"]
    assert (row["metric"], row["meaning"]) == ("question_log_loss", "better")


def test_options_that_name_columns_still_read_json_lines_as_before(run, folder):
    rows = [{"probs": {"a": p, "b": 1 - p}, "label": "ab"[p < 0.5]} for p in (0.9, 0.2, 0.6)]
    write(folder / "classes.jsonl", rows)
    options = ("--probabilities", "probs.*", "--target", "classes")
    assert "3 rows, 2 classes" in run("evaluate", "classes.jsonl", *options).output
    # Lists of texts under the names of nested logs are other fields.
    rows = [
        {"p_a": p, "p_b": 1 - p, "answers": ["x"], "samples": [1], "label": "a"} for p in (0.9, 0.2)
    ]
    write(folder / "flat.jsonl", [*rows, {**rows[0], "label": "b"}])
    said = run("evaluate", "flat.jsonl", "--target", "classes").output
    assert "3 rows, 2 classes" in said


def test_a_rate_is_that_of_the_library(run, tmp_path):
    rng = np.random.default_rng(0)
    judge = rng.random((400, 2)).round(6)
    label = (rng.random(400) < judge[:, 0]).astype(float)
    label[60:] = np.nan
    item = np.arange(400) // 2
    lines = [
        f"{a},{b},{'' if np.isnan(y) else int(y)},{i}"
        for (a, b), y, i in zip(judge, label, item, strict=True)
    ]
    text = "\n".join(["judge,other,label,item", *lines]) + "\n"
    (tmp_path / "scores.csv").write_text(text, encoding="utf-8")
    expected = estimate_rate(judge=judge[:, 0], labels=label)
    said = run("rate", "scores.csv", "--width", "0.1").output
    assert str(expected) in said
    assert "An interval of width 0.1 takes about" in said
    options = ("--judge", "judge,other", "--cluster", "item", "--level", "0.9", "--json")
    found = json.loads(run("rate", "scores.csv", *options).output)
    expected = estimate_rate(judge=judge, labels=label, cluster=item.astype(str), level=0.9)
    assert (found["value"], found["low"]) == (expected.value, expected.low)
    longer = run("rate", "scores.csv", "--length", "other").output
    assert str(estimate_rate(judge=judge[:, 0], labels=label, length=judge[:, 1])) in longer
    assert "holds no 'human'" in run("rate", "scores.csv", "--label", "human", code=1).output
    few = "\n".join(["judge,label", *(f"{p},1" for p in judge[:5, 0])])
    (tmp_path / "few.csv").write_text(few, encoding="utf-8")
    assert "labels must hold 10 labels" in run("rate", "few.csv", code=1).output


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("evaluate", "log.jsonl", "--weight", "TYPO"), 1, "weight must be a field of some row"),
        (("evaluate", "log.jsonl", "--label", "TYPO"), 1, "label must be a field of some row"),
        (
            ("audit", "log.jsonl", "--groups", "question", "--label", "TYPO"),
            1,
            "label must be a field of some row",
        ),
        (("decide", "log.jsonl", "--label", "TYPO"), 1, "label must be a field of some row"),
        (("evaluate", "log.jsonl", "--positive", "a"), 2, "--positive has no effect on a log"),
        (("evaluate", "log.jsonl", "--mean", "a"), 2, "--mean has no effect on a log"),
        (("evaluate", "log.jsonl", "--classes", "a,b"), 2, "--classes has no effect on a log"),
        (("audit", "log.jsonl", "--groups", "question", "--target", "a"), 2, "--target needs"),
        (("decide", "log.jsonl", "-o", "l.json", "--model-version", "v9"), 1, "v1; got 'v9'"),
        (("estimate", "log.jsonl", "--reference", "log.jsonl"), 2, "holds answers to questions"),
    ],
)
def test_what_a_log_does_not_use_is_refused(run, tmp_path, arguments, code, words):
    write(tmp_path / "log.jsonl", rows_of(60, 0))
    assert words in run(*arguments, code=code).output


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", "s.csv", "--risk", ""),
        ("evaluate", "s.csv", "--by", " "),
        ("evaluate", "s.csv", "--confidence", ""),
        ("compare", "s.csv", "--risk", "p", "--risk", ""),
        ("rate", "s.csv", "--judge", ""),
    ],
)
def test_an_empty_name_is_refused(run, tmp_path, arguments):
    (tmp_path / "s.csv").write_text("p,y\n0.2,0\n0.8,1\n", encoding="utf-8")
    assert "must not be empty" in run(*arguments, code=2).output


def test_no_name_between_commas_is_refused(run, tmp_path):
    (tmp_path / "s.csv").write_text("p,y\n0.2,0\n0.8,1\n", encoding="utf-8")
    refused = run("rate", "s.csv", "--judge", ",", "--label", "y", code=1)
    assert "',' names no column of s.csv" in refused.output


def test_samples_of_lm_eval_are_read_as_they_are(run, folder):
    rng = np.random.default_rng(2)
    logits = 2.0 * rng.normal(size=(300, 4))
    logs = logits - 3.0 - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    right = [rng.choice(4, p=(q := np.exp(row / 2.0)) / q.sum()) for row in logits]
    name = "samples_arc_easy_2026-11-01T10-00-00.123456.jsonl"
    samples = [
        {
            "doc_id": i,
            "target": str(right[i]),
            "filtered_resps": [[str(value), "False"] for value in row],
        }
        for i, row in enumerate(logs.tolist())
    ]
    write(folder / name, samples)
    found = json.loads(run("evaluate", name, "--json").stdout)
    P = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
    shown = {row["key"]: row["before"]["value"] for row in found["metrics"]}
    assert shown["question_accuracy"] == pytest.approx(np.mean(P.argmax(axis=1) == right))
    assert shown["question_log_loss"] == pytest.approx(cb.metrics.log_loss(right, P))
    run("fit", name, "-o", "m.calibrant")
    run("apply", "m.calibrant", name, "-o", "out.jsonl")
    first = read(folder / "out.jsonl")[0]
    assert {**first, "probs": None} == {**samples[0], "probs": None}
    assert list(first["probs"]) == ["0", "1", "2", "3"]
    assert sum(first["probs"].values()) == pytest.approx(1.0)
    assert max(first["probs"].values()) < P[0].max()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_table_of_questions_is_read(run, folder, kind):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    confidence, question = rng.random(600), np.where(rng.random(600) < 0.5, "spam", "urgent")
    right = rng.random(600) < confidence**2
    table = pd.DataFrame({"question": question, "confidence": confidence, "correct": right})
    name, out = f"q.{kind}", f"out.{kind}"
    (table.to_csv if kind == "csv" else table.to_parquet)(folder / name, index=False)
    found = json.loads(run("evaluate", name, "--json").stdout)
    shown = {row["key"]: row["before"]["value"] for row in found["metrics"]}
    assert shown["question_accuracy"] == pytest.approx(right.mean())
    assert shown["question_log_loss"] == pytest.approx(cb.metrics.log_loss(right, confidence))
    run("fit", name, "-o", "m.calibrant")
    run("apply", "m.calibrant", name, "-o", out)
    after = (pd.read_csv if kind == "csv" else pd.read_parquet)(folder / out)
    assert list(after.columns) == list(table.columns)
    assert after["question"].equals(table["question"])
    direct = cb.load(folder / "m.calibrant").predict(read_questions(table)).answers()
    np.testing.assert_allclose(after["confidence"], [answer["confidence"] for answer in direct])
    run("decide", name, "--max-error", "0.5", "-o", "lock.json")
    run("decide", "lock.json", name, "-o", out, "--force")
    decided = (pd.read_csv if kind == "csv" else pd.read_parquet)(folder / out)
    assert set(decided["decision"]) <= {"answer", "ask", "escalate"}


def generated(n, answers, **beside):
    """Samples of lm-eval of generated text, one list of ``answers`` each."""
    return [
        {"doc_id": i, "target": "7", "resps": [[f"It is {one}." for one in answers]], **beside}
        for i in range(n)
    ]


def test_generated_text_of_lm_eval_is_read_as_its_filter_left_it(run, folder):
    write(
        folder / "samples_gsm_2026-11-01.jsonl", generated(60, "7737", filtered_resps=[[*"7737"]])
    )
    found = json.loads(run("evaluate", "samples_gsm_2026-11-01.jsonl", "--json").stdout)
    shown = {row["key"]: row["before"]["value"] for row in found["metrics"]}
    assert shown["question_accuracy"] == 1.0
    write(folder / "samples_one.jsonl", generated(60, "7737", filtered_resps=["7"]))
    said = run("evaluate", "samples_one.jsonl", code=1).stderr
    assert "its filter leaves out answers" in said


def test_each_file_of_lm_eval_is_a_task(run, folder):
    (folder / "logs").mkdir()
    for task in ("aa", "bb"):
        write(folder / "logs" / f"samples_{task}.jsonl", generated(9, "7", filtered_resps=["7"]))
    said = run("evaluate", "logs", code=1).stderr
    assert "logs must be one file of lm-eval, because each is one task" in said


def test_calibrated_samples_of_lm_eval_are_read_with_their_new_probabilities(run, folder):
    rng = np.random.default_rng(5)
    pairs = np.log(rng.dirichlet(np.full(3, 0.5), 300)).round(6).tolist()
    samples = [
        {
            "doc_id": i,
            "target": str(rng.integers(3)),
            "filtered_resps": [[value, False] for value in row],
            "resps": [],
        }
        for i, row in enumerate(pairs)
    ]
    write(folder / "samples_q.jsonl", samples)
    run("fit", "samples_q.jsonl", "-o", "q.calibrant")
    run("apply", "q.calibrant", "samples_q.jsonl", "-o", "samples_q2.jsonl")
    loss = {}
    for name in ("samples_q.jsonl", "samples_q2.jsonl"):
        rows = json.loads(run("evaluate", name, "--json").stdout)["metrics"]
        loss[name] = next(
            row["before"]["value"] for row in rows if row["key"] == "question_log_loss"
        )
    assert loss["samples_q2.jsonl"] < 0.9 * loss["samples_q.jsonl"]


def test_samples_of_lm_eval_without_a_log_probability_are_skipped(run, folder):
    rng = np.random.default_rng(6)
    pairs = np.log(rng.dirichlet(np.ones(3), 60)).tolist()
    samples = [
        {"doc_id": i, "target": "1", "filtered_resps": [[p, False] for p in row], "resps": []}
        for i, row in enumerate(pairs)
    ]
    samples[2]["filtered_resps"] = [[None, False]] * 3
    samples[4]["filtered_resps"] = []
    write(folder / "samples_q.jsonl", samples)
    said = run("evaluate", "samples_q.jsonl", code=1).stderr
    assert "2 of 60 rows have none, the first is line 3; pass --skip-missing" in said
    found = run("evaluate", "samples_q.jsonl", "--skip-missing", "--json")
    assert "2 of 60 rows are left out" in found.stderr
    rows = json.loads(found.stdout)["metrics"]
    loss = next(row["before"]["value"] for row in rows if row["key"] == "question_log_loss")
    kept = [row[1] for i, row in enumerate(pairs) if i not in (2, 4)]
    assert loss == pytest.approx(-np.mean(kept))


def test_a_confidence_by_name_says_that_questions_are_not_read(run, folder):
    rng = np.random.default_rng(7)
    p = rng.random(80).round(3).tolist()
    lines = [f"{'ab'[i % 2]},{q},{str(rng.random() < q).lower()}" for i, q in enumerate(p)]
    text = "\n".join(["question,sure,correct", *lines])
    (folder / "q.csv").write_text(text, encoding="utf-8")
    named = ("evaluate", "q.csv", "--confidence", "sure", "--label", "correct")
    said = run(*named).stderr
    assert "q.csv is read without its questions" in said
    assert "--task questions reads them" in said
    found = run(*named[:4], "--task", "questions", "--json")
    assert "without its questions" not in found.stderr
    assert json.loads(found.stdout)["metrics"][0]["key"] == "question_accuracy"
    assert "without its questions" not in run(*named, "--task", "classification").stderr


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("words", [("true", "false"), ("yes", "no"), ("1", "0")])
def test_a_label_that_contradicts_correct_is_refused_with_its_row(run, folder, kind, words):
    pd = pytest.importorskip("pandas")
    right = np.random.default_rng(8).random(50) < 0.6
    labels = np.where(right, *words)
    labels[3] = words[int(right[3])]
    plain = {"question": "a", "confidence": 0.6, "correct": right}
    for own, code in ((labels, 1), (np.where(right, "Rome", "Bari"), 0)):
        table = pd.DataFrame({**plain, "label": own})
        (table.to_csv if kind == "csv" else table.to_parquet)(folder / f"q.{kind}", index=False)
        said = run("evaluate", f"q.{kind}", code=code).output
        refused = "'correct' of row 3 must agree with 'label'" in said
        assert refused is (code == 1)
