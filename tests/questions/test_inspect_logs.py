"""Logs of Inspect on the command: .eval archives, their JSON, and folders of them."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

import calibrant as cb
from calibrant.questions import inspect_samples, read_questions
from calibrant.questions.formats import open_inspect

pytest.importorskip("click")
pytest.importorskip("rich")

EPOCHS = 4


def samples_of(seed, n=120):
    """Samples of four answers each, most often of the target of a question of three."""
    rng = np.random.default_rng(seed)
    for i, ease in enumerate(rng.random(n).tolist()):
        target = "ABC"[i % 3]
        for epoch in range(1, EPOCHS + 1):
            answer = target if rng.random() < ease else str(rng.choice([*"ABC"]))
            score = {"value": "C" if answer == target else "I", "answer": answer}
            yield {
                "id": i + 1,
                "epoch": epoch,
                "input": "Which?",
                "target": [target],
                "messages": [{"role": "user", "content": "Which?"}],
                "scores": {"choice": score, "other": {"value": 0.5}},
            }


def log_of(seed, model="openai/m1", task="quiz"):
    """The JSON of a log, with the fields of its header."""
    head = {"version": 2, "status": "success", "eval": {"task": task, "model": model}}
    return {**head, "samples": list(samples_of(seed))}


def archive(path, log, *, head="header.json"):
    """Write a log as Inspect does: the samples in the order in which they ended, then its head."""
    order = np.random.default_rng(len(path.name)).permutation(len(log["samples"]))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for i in order.tolist():
            one = log["samples"][i]
            name = f"samples/{one['id']}_epoch_{one['epoch']}.json"
            file.writestr(name, json.dumps(one))
        file.writestr(head, json.dumps({k: v for k, v in log.items() if k != "samples"}))


def numbers(run, *arguments):
    """The values of ``evaluate`` by their keys."""
    found = json.loads(run("evaluate", *arguments, "--json").stdout)
    return {row["key"]: row["before"]["value"] for row in found["metrics"]}


@pytest.fixture
def folder(tmp_path):
    log = log_of(0)
    archive(tmp_path / "log.eval", log)
    (tmp_path / "log.json").write_text(json.dumps(log), encoding="utf-8")
    return tmp_path


def test_an_archive_and_its_json_are_the_rows_of_the_library(run, folder):
    log = log_of(0)
    record = read_questions(inspect_samples(log))
    shown = numbers(run, "log.eval")
    assert shown == numbers(run, "log.json")
    # By hand: half a vote for each answer that was sampled, and for all others together.
    votes = {}
    for one in log["samples"]:
        own = votes.setdefault(one["id"], (one["target"][0], []))[1]
        own.append(one["scores"]["choice"]["answer"])
    p = [(own.count(y) + 0.5) / (EPOCHS + 0.5 * (len({*own}) + 1)) for y, own in votes.values()]
    assert shown["question_log_loss"] == pytest.approx(-np.log(p).mean())
    assert record.of_right.tolist() == pytest.approx(p)
    for path in (folder / "log.eval", str(folder / "log.json")):
        assert read_questions(inspect_samples(path)).of_right.tolist() == pytest.approx(p)
        assert open_inspect(Path(path), None).objects == list(inspect_samples(path))


@pytest.mark.parametrize("indent", [None, 2])
def test_standard_input_is_a_log_by_its_first_bytes(run, folder, indent):
    from click.testing import CliRunner

    from calibrant.cli.group import group

    log = log_of(0)
    (folder / "log.json").write_text(json.dumps(log, indent=indent), encoding="utf-8")
    shown = numbers(run, "log.eval")
    for name in ("log.eval", "log.json"):
        piped = CliRunner().invoke(
            group, ["evaluate", "-", "--json"], input=(folder / name).read_bytes()
        )
        found = json.loads(piped.stdout)["metrics"]
        assert {row["key"]: row["before"]["value"] for row in found} == shown


def test_a_log_is_reported_fitted_applied_and_decided(run, folder):
    said = run("fit", "log.eval", "-o", "m.calibrant").output
    assert "new.eval -o calibrated.jsonl" in said
    run("apply", "m.calibrant", "log.eval", "-o", "out.jsonl")
    rows = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    expected = cb.load(folder / "m.calibrant").predict(
        read_questions(inspect_samples(folder / "log.eval"))
    )
    for row, own in zip(rows, expected.answers(), strict=True):
        assert row["probs"] == pytest.approx(own)
    said = run("apply", "m.calibrant", "log.eval", "-o", "out.eval", code=2).output
    assert "the output must be a .jsonl file, and not compressed; got out.eval" in said
    run("decide", "log.eval", "--max-error", "0.6", "--unit", "log", "-o", "lock.json")
    run("decide", "lock.json", "log.json")
    decided = (folder / "log.decided.jsonl").read_text().splitlines()
    assert {json.loads(line)["decision"] for line in decided} <= {"answer", "ask", "escalate"}
    pytest.importorskip("jinja2")
    run("report", "log.eval", "-o", "page.json")
    page = json.loads((folder / "page.json").read_text(encoding="utf-8"))
    assert (page["task"], page["data"]["n"]) == ("questions", 120)


def test_a_folder_of_logs_is_one_log(run, folder):
    (folder / "logs").mkdir()
    archive(folder / "logs" / "a.eval", log_of(1))
    # A run that was stopped has only the head of its journal.
    archive(folder / "logs" / "b.eval", log_of(2, task="exam"), head="_journal/start.json")
    (folder / "logs" / "logs.json").write_text("{}", encoding="utf-8")
    both = [*inspect_samples(log_of(1)), *inspect_samples(log_of(2, task="exam"))]
    expected = -np.log(read_questions(both).of_right).mean()
    assert numbers(run, "logs")["question_log_loss"] == pytest.approx(expected)
    found = json.loads(run("evaluate", "logs", "--json").stdout)
    assert (found["data"]["n"], found["data"]["clusters"]) == (240, 120)


def test_two_models_are_compared_on_the_same_samples(run, folder):
    archive(folder / "other.eval", log_of(5, model="openai/m2"))
    rows = json.loads(run("compare", "log.eval", "other.eval", "--json").output)["rows"]
    losses = [
        -np.log(read_questions(inspect_samples(log_of(seed))).of_right).mean() for seed in (0, 5)
    ]
    loss = next(row for row in rows if row["metric"] == "question_log_loss")
    assert abs(loss["difference"]) == pytest.approx(abs(losses[0] - losses[1]))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            '{"rows": []}',
            "must be a log of Inspect, with the fields eval and samples; it holds rows;",
        ),
        ("[1, 2]", "it holds a list"),
        ("p,y\n0.2,1\n", "config.json is damaged or not a log of Inspect"),
        (
            json.dumps({**log_of(0), "samples": [{"id": 1, "target": "A", "scores": {}}]}),
            "must have samples with an answer of the first scorer; it has none",
        ),
        (
            json.dumps({**log_of(0), "samples": [{"id": 1, "scores": {"s": {"answer": "A"}}}]}),
            "sample 0 of config.json must be one of an EvalLog; it is not (no 'target')",
        ),
    ],
)
def test_json_of_another_kind_is_refused_by_name(run, folder, content, words):
    (folder / "config.json").write_text(content, encoding="utf-8")
    said = run("report", "config.json", code=1).output
    assert "config.json" in said
    assert words in said
    assert "bug" not in said


def test_a_damaged_archive_is_refused(run, folder):
    data = bytearray((folder / "log.eval").read_bytes())
    data[200:4000] = bytes(3800)
    (folder / "bad.eval").write_bytes(bytes(data))
    said = run("evaluate", "bad.eval", code=1).output
    assert "bad.eval is damaged or not a log of Inspect" in said
    assert "inspect log convert --to json" in said
