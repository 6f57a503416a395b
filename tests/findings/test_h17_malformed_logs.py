"""H17: a malformed log ends in one sentence with the row or line, the field, and what it holds;
never in another error of Python, and never in a record that is not valid.
"""

import copy
import datetime
import decimal
import json
import re

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError
from calibrant.questions import decision_answers, inspect_samples, lm_eval_samples, pydantic_cases

#: A value that leaves the field out.
ABSENT = object()
ODD = {
    "absent": ABSENT,
    "None": None,
    "nan": float("nan"),
    "inf": float("inf"),
    "-inf": float("-inf"),
    "empty text": "",
    "text": "abc",
    "number as a text": "0.5",
    "empty list": [],
    "list": [1, 2],
    "nested list": [[0.5, 0.5]],
    "list of None": [None],
    "empty dict": {},
    "dict": {"a": 1},
    "nested dict": {"a": {"b": 0.5}},
    "dict of None": {"a": None, "b": 0.5},
    "keys of a number": {1: 0.5, "1": 0.5},
    "True": True,
    "False": False,
    "huge": 10**400,
    "large": 1e300,
    "negative": -1,
    "two": 2,
    "percent": 85,
    "bytes": b"abc",
    "set": {1},
    "complex": 1j,
    "object": object(),
    "decimal": decimal.Decimal("0.5"),
    "signalling": decimal.Decimal("sNaN"),
    "date": datetime.date(2026, 1, 1),
    "array": np.array([0.5, 0.5]),
    "array of texts": np.array(["a"]),
    "not a time": np.datetime64("NaT"),
    "surrogate": "\ud800",
}
FORMS = {
    "choice": {"probs": {"a": 0.7, "b": 0.3}, "label": "a"},
    "list": {"probs": [0.7, 0.2, 0.1], "label": 1},
    "event": {"probs": 0.7, "label": True},
    "single": {"probs": {"yes": 0.7}, "label": "no"},
    "typed": {"probs": {"yes": 0.7, "no": 0.3}, "type": "binary", "label": "no"},
    "score": {"probs": {"1": 0.7, "2": 0.2, "3": 0.1}, "type": "score", "label": 3},
    "free": {"confidence": 0.3, "correct": False},
    "logs": {"logprobs": {"a": -0.1, "b": -2.0}, "label": "b"},
    "listed logs": {"logprobs": [-0.1, -2.0], "label": 0},
    "samples": {"samples": ["x", "x", "y"], "label": "x"},
    "shares": {"probs": {"a": 0.7, "b": 0.3}, "label": {"a": 2, "b": 1}},
    "nested": {"decisions": {"q": {"probs": {"a": 0.7, "b": 0.3}, "label": "a"}}},
    "nested list": {"answers": [{"question": "q", "confidence": 0.5, "correct": True}]},
}
FIELDS = ("id", "question", "type", "model", "weight", "label", "correct", "confidence")
GOOD = {"id": 0, "question": "g", "probs": {"a": 0.6, "b": 0.4}, "label": "b", "weight": 1.0}


def mutants():
    """(name, row) with one field, or one value inside it, replaced."""
    for form, parts in FORMS.items():
        row = {"id": 3, "question": "g", "model": "m", "weight": 1.0, **parts}
        paths = [(name,) for name in dict.fromkeys((*row, *FIELDS, "probs", "samples", "logprobs"))]
        paths += [
            (name, key)
            for name, held in parts.items()
            if isinstance(held, dict | list)
            for key in (held if isinstance(held, dict) else range(len(held)))
        ]
        if form == "nested":
            paths += [("decisions", "q", key) for key in ("probs", "label", "type", "question")]
        for path in paths:
            for name, value in ODD.items():
                changed = copy.deepcopy(row)
                inner = changed
                for key in path[:-1]:
                    inner = inner[key]
                if value is not ABSENT:
                    inner[path[-1]] = value
                elif isinstance(inner, list) or path[-1] in inner:
                    del inner[path[-1]]
                yield f"{form}: {'.'.join(map(str, path))} = {name}", changed


def problem_of(read, rows):
    """What is wrong with the answer to some rows, or ""."""
    try:
        record = read(rows)
    except InputError as error:
        text = str(error)
        named = "row 1" in text or "1 of 2 rows" in text or "sample_weight must add up" in text
        if not named:
            return f"the row is not named: {text}"
        if not re.search(r"[.;] ?[a-z].*\.$|\.$", text):
            return f"no sentence: {text}"
        return "" if len(text) < 500 else f"long: {text}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    sums = np.add.reduceat(record.probability, record.start[:-1])
    valid = np.isfinite(record.probability).all() and (record.probability >= 0.0).all()
    valid &= np.allclose(sums, 1.0) and (record.right < record.size).all()
    valid &= np.isfinite(record.confidence).all() and (record.weights > 0.0).all()
    valid &= all(isinstance(name, str) for name in record.item.names)
    return "" if valid else f"not valid: {record.answers()}"


def test_every_field_with_every_odd_value():
    found = {}
    for name, row in mutants():
        problem = problem_of(cb.read_questions, [GOOD, row])
        if problem:
            found[name] = problem
    assert not found, (len(found), dict(list(found.items())[:15]))


def test_signals_with_every_odd_value():
    row = {"id": 1, "signals": {"s": 0.5, "t": -1.0}, "correct": True}
    found = {}
    for name, value in ODD.items():
        for changed in (
            {**row, "signals": value},
            {**row, "signals": {"s": value, "t": 0.5}},
            {**row, "s": value, "signals": None},
        ):
            rows = [row, {k: v for k, v in changed.items() if v is not ABSENT}]
            problem = problem_of(lambda rows: cb.read_questions(rows, signals=["s", "t"]), rows)
            if problem:
                found[name] = problem
    assert not found, found


@pytest.mark.parametrize(
    "row", [None, 3, "text", [1], b"x", True, 0.5, (), object()], ids=lambda one: repr(one)[:12]
)
def test_rows_that_are_no_mappings(row):
    with pytest.raises(InputError, match=r"every row must be a mapping such as .*; row 1 is "):
        cb.read_questions([GOOD, row])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"probs": {"a": 0.5, "b": "x"}}', "'probs' of line 3 must be a number; got 'x'"),
        ('{"probs": {"a": NaN, "b": 0.5}}', "'probs' of line 3 must be finite"),
        ('{"probs": {"a": 0.5, "b": 0.4}, "label": [1]}', "'label' of line 3 must be a text"),
        ('{"probs": {"a": 0.5, "b": 0.2}}', "those of line 3 sum to 0.7"),
        ('{"probs": {"a": 0.5, "b": 0.5}, "label": "c"}', "label 'c' of line 3 must be one of"),
        ('{"confidence": 85}', "'confidence' of line 3 must be from 0 to 1; got 85"),
        ('{"confidence": 0.5, "type": "binary", "correct": true}', "line 3 has both"),
        ("[1, 2]", "line 3 is "),
        ("{", "line 3 is not JSON"),
        ("[" * 100_000, "line 3 is not JSON"),
        ("{}", "the first is line 3"),
    ],
)
def test_files_name_the_line(text, words, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"probs": {"a": 0.5, "b": 0.5}}\n\n' + text + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(words)):
        cb.read_questions(path)


def test_damaged_files(tmp_path):
    for name, content in {
        "a.jsonl": b"\xff\xfe\x00",
        "b.jsonl.gz": b"no gzip",
        "c.json": b"[1, 2",
        "d.jsonl": b"",
    }.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError):
            cb.read_questions(tmp_path / name)


@pytest.mark.parametrize("value", [3, None, [1], {"a": 1}, b"x", 0.5])
@pytest.mark.parametrize("name", ["id", "question", "label", "type", "model", "weight"])
def test_names_of_fields(name, value):
    with pytest.raises(InputError, match=f"{name} must be the name of a field"):
        cb.read_questions([GOOD], **{name: value})


def test_frames_with_odd_values():
    pandas = pytest.importorskip("pandas")
    found = {}
    for name, value in ODD.items():
        for column in ("id", "question", "probs", "label", "type", "model", "weight"):
            rows = [GOOD | {"type": "choice", "model": "m"}] * 2
            frame = pandas.DataFrame(rows).astype(object)
            if value is ABSENT:
                frame = frame.drop(columns=column)
            else:
                frame.at[1, column] = value
            problem = problem_of(cb.read_questions, frame)
            if problem and not (value is ABSENT and column == "probs"):
                found[f"{column} = {name}"] = problem
    assert not found, found


def test_adapters_name_the_row():
    samples = {"doc_id": 0, "target": "1", "filtered_resps": [["-4.1", "False"], ["-0.1", "True"]]}
    case = {"name": "a", "output": {"confidence": 0.8}, "assertions": {"ok": {"value": True}}}
    line = {"id": 7, "response": {"model": "v", "answers": {"u": {"type": "noul", "noul": 0.9}}}}
    sample = {"id": 1, "target": "A", "scores": {"choice": {"value": "C", "answer": "A"}}}
    doors = {
        "lm": (samples, lambda row: lm_eval_samples([samples, row])),
        "cases": (case, lambda row: pydantic_cases({"name": "n", "cases": [case, row]})),
        "decisions": (line, lambda row: decision_answers([line, row])),
        "inspect": (
            sample,
            lambda row: inspect_samples(
                {"eval": {"task": "t", "model": "m"}, "samples": [sample, row]}
            ),
        ),
    }
    found = {}
    for door, (row, read) in doors.items():
        for field in row:
            for name, value in ODD.items():
                changed = {k: v for k, v in {**row, field: value}.items() if v is not ABSENT}
                try:
                    cb.read_questions(list(read(changed)), missing="skip")
                except (InputError, cb.errors.CalibrationWarning):
                    continue
                except Exception as error:
                    found[f"{door}: {field} = {name}"] = f"{type(error).__name__}: {error}"
    assert not found, (len(found), dict(list(found.items())[:20]))


def test_the_command_ends_in_one_sentence(tmp_path, monkeypatch):
    pytest.importorskip("rich")
    runner = pytest.importorskip("click.testing").CliRunner()
    from calibrant.cli.group import group

    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": [1]},
        {"probs": {"a": "x", "b": 0.5}},
        {"probs": "abc"},
        {"label": {"a": "x"}},
        {"label": {"a": -1.0}},
        {"weight": "heavy"},
        {"weight": -1},
        {"confidence": "high", "probs": None},
        {"samples": "abc", "probs": None},
        {"logprobs": 3, "probs": None},
        {"decisions": {"q": 3}, "probs": None},
        {"type": "score", "probs": {"low": 0.5, "high": 0.5}},
    ]
    for row in rows:
        changed = {k: v for k, v in {**GOOD, **row}.items() if v is not None}
        lines = "\n".join(map(json.dumps, [GOOD, changed]))
        (tmp_path / "log.jsonl").write_text(lines + "\n", encoding="utf-8")
        result = runner.invoke(group, ["evaluate", "log.jsonl"])
        assert result.exit_code in (1, 2), (row, result.output)
        assert isinstance(result.exception, SystemExit), row
        assert result.output.startswith("Error: log.jsonl: "), result.output
        assert "line 2" in result.output, result.output
        assert "Traceback" not in result.output
