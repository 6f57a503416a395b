"""H12: a certified question that the new log lacks cannot be told, and is no success."""

import json
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from calibrant.cli.group import group
from calibrant.monitoring import Lock
from calibrant.questions import QuestionRules


def log(seed: int, questions: str = "ab", model: str = "v1") -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(400):
        for name in questions:
            p = float(rng.beta(20.0, 1.0))
            label = "x" if rng.random() < p else "y"
            probs = {"x": p, "y": 1.0 - p}
            rows.append({"id": i, "question": name, "probs": probs, "label": label, "model": model})
    return rows


@pytest.mark.parametrize("unit", ["question", "log", "item"])
def test_a_question_that_is_missing_cannot_be_told(unit):
    lock = Lock.of(QuestionRules(risk=0.15, unit=unit).fit(log(0)))
    whole = {one.name: one.state for one in lock.check(log(1))}
    assert set(whole.values()) == {"holds"}
    part = {one.name: one.state for one in lock.check(log(1, "a"))}
    assert part.get("b") == "cannot tell"
    unlabelled = [
        {k: v for k, v in row.items() if k != "label" or row["question"] == "a"} for row in log(1)
    ]
    assert {one.name: one.state for one in lock.check(unlabelled)}.get("b") == "cannot tell"


def test_the_command_names_it_and_does_not_succeed(tmp_path):
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    for path, rows in ((old, log(0)), (new, log(1, "a", "v2"))):
        path.write_text("\n".join(map(json.dumps, rows)))
    lock = str(tmp_path / "lock.json")
    made = CliRunner().invoke(group, ["decide", str(old), "--max-error", "0.15", "-o", lock])
    assert made.exit_code == 0, made.output
    found = CliRunner().invoke(group, ["check", lock, str(new)])
    assert found.exit_code == 1
    assert "'b' cannot tell" in found.output
    assert "no labelled row is of it; about " in found.output
