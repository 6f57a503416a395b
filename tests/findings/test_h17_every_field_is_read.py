"""H17: each field of a row of a log is used, or refused in a sentence; none is dropped without a
word.
"""

import json

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError

TWO, THREE = {"a": 0.7, "b": 0.3}, {"a": 0.5, "b": 0.3, "c": 0.2}


def outcomes(row, **options):
    return cb.read_questions([row], **options).outcomes()


@pytest.mark.parametrize(
    ("answer", "right", "wrong"),
    [
        ({"probs": TWO}, "a", "b"),
        ({"probs": {"b": 0.3, "a": 0.7}}, "a", "b"),
        ({"probs": THREE}, "a", None),
        ({"probs": 0.3}, "no", "yes"),
        ({"probs": {"yes": 0.7}}, "yes", "no"),
        ({"probs": [0.2, 0.8]}, "1", "0"),
        ({"logprobs": {"a": -3.0, "b": -0.1}}, "b", "a"),
        ({"samples": ["x", "y", "y"]}, "y", None),
        ({"samples": ["x", "x"]}, "x", "(other)"),
    ],
)
def test_correct_is_about_the_most_likely_answer(answer, right, wrong):
    for value, label in ((True, right), (False, wrong), (np.bool_(False), wrong)):
        if label is None:
            with pytest.raises(InputError, match="several other options could be right"):
                outcomes({**answer, "correct": value})
        else:
            assert outcomes({**answer, "correct": value}) == [label]
    assert outcomes({**answer, "label": right, "correct": True}) == [right]
    with pytest.raises(InputError, match="'correct' of row 0 must agree with 'label'"):
        outcomes({**answer, "label": right, "correct": False})


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ({"probs": {"a": 0.5, "b": 0.5}, "correct": True}, "one most likely answer, not 2"),
        ({"samples": ["x", "y"], "correct": True}, "one most likely answer, not 2"),
        ({"probs": {"0": 0.7, "1": 0.3}, "correct": 1}, "must be true or false where it is the"),
        ({"confidence": 0.9, "correct": True, "label": False}, "must agree with 'label', False"),
        ({"confidence": 0.9, "label": "Rome"}, "write in the field 'correct' whether it is, true"),
        ({"probs": TWO, "label": "a", "confidence": 85}, "'confidence' of row 0 must be from 0"),
        ({"probs": TWO, "label": "a", "confidence": "high"}, "'confidence' of row 0 must be a num"),
        ({"logprobs": TWO, "label": "a"}, "'logprobs' of row 0 must be logs, at most 0; got 0.7"),
        ({"probs": TWO, "label": "L" * 9000}, r"^.{0,300}$"),
        ({"probs": {"a" * 900: 0.5, "b": 0.5}, "label": "c"}, r"^.{0,300}$"),
        (
            {"decisions": {"a": {"probs": 0.3}}, "answers": [{"probs": 0.4}]},
            "some in 'decisions' and in 'answers'",
        ),
        (
            {"probs": TWO, "label": "a", "decisions": {"q": {"probs": 0.3}}},
            "some in 'decisions' and in 'probs'",
        ),
        (
            {"decisions": {"a": {"probs": 0.3}}, "labels": {"z": True}},
            "'labels' of row 0 must name questions",
        ),
        (
            {"decisions": {"a": {"probs": 0.3, "label": True}}, "labels": {"a": False}},
            "no outcome of their own",
        ),
        ({"decisions": {"a": {"probs": 0.3}}, "label": True}, "must be a mapping by question"),
    ],
)
def test_contradictions_are_refused(row, sentence):
    with pytest.raises(InputError, match=sentence):
        outcomes(row)


def test_outcomes_beside_the_questions_of_an_item_are_read():
    row = {"id": 1, "decisions": {"a": {"probs": 0.3}, "b": {"probs": 0.9}, "c": {"probs": 0.5}}}
    assert outcomes({**row, "labels": {"a": True, "b": False}}) == ["yes", "no", None]
    assert outcomes({**row, "label": {"c": True}}) == [None, None, "yes"]
    assert outcomes({**row, "correct": {"a": True, "b": True}}) == ["no", "yes", None]
    listed = [{"question": 7, "probs": TWO}, {"question": "8", "probs": TWO, "label": "a"}]
    assert outcomes({"answers": listed, "labels": {"7": "b"}}) == ["b", "a"]
    assert outcomes({"probs": TWO, "label": "a", "answers": ["texts", "of options"]}) == ["a"]


def test_labels_that_were_not_sampled_are_read_alike():
    rows = [{"samples": ["x", "x", "y"]}] * 3
    labels = ["z", "y", None]
    field = [{**row, "label": label} for row, label in zip(rows, labels, strict=True)]
    assert cb.read_questions(field).outcomes() == ["(other)", "y", None]
    assert cb.read_questions(rows, labels).outcomes() == ["(other)", "y", None]


def test_the_digest_does_not_depend_on_the_order_of_the_rows():
    rng = np.random.default_rng(0)
    log = [
        {
            "id": i // 2,
            "question": f"q{i % 3}",
            "probs": {"a": p, "b": 1 - p},
            "label": "ab"[i % 5 > 3],
        }
        for i, p in enumerate(rng.uniform(0.5, 1.0, 300).tolist())
    ]
    without = [{k: v for k, v in row.items() if k != "id"} for row in log]
    for rows in (log, without):
        order = rng.permutation(len(rows))
        digest = cb.read_questions(rows).digest
        assert cb.read_questions([rows[i] for i in order]).digest == digest
        changed = [{**rows[0], "label": "b"}, *rows[1:]]
        assert cb.read_questions(changed).digest != digest


def test_the_command_recognises_samples_and_names_lines(tmp_path, monkeypatch):
    pytest.importorskip("rich")
    runner = pytest.importorskip("click.testing").CliRunner()
    from calibrant.cli.group import group

    monkeypatch.chdir(tmp_path)
    good = {"id": 1, "samples": ["Rome", "Rome", "Bari"], "label": "Rome"}
    lines = [json.dumps({**good, "id": i, "label": "Bari" if i % 4 else "Rome"}) for i in range(80)]
    (tmp_path / "log.jsonl").write_text("\n".join(lines), encoding="utf-8")
    result = runner.invoke(group, ["evaluate", "log.jsonl"])
    assert result.exit_code == 0, result.output
    odd = json.dumps({**good, "samples": 3})
    (tmp_path / "log.jsonl").write_text("\n\n".join([*lines, odd]), encoding="utf-8")
    result = runner.invoke(group, ["evaluate", "log.jsonl"])
    assert "'samples' of line 161 must be a list" in result.output, result.output
