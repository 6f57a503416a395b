"""H10: an option of ``decide`` that has no effect is refused, not ignored."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from calibrant.cli.group import group


@pytest.fixture
def files(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    p = rng.beta(20.0, 1.0, 400)
    hit = rng.random(400) < p
    rows = [
        {
            "id": i // 2,
            "question": "ab"[i % 2],
            "probs": {"x": a, "y": 1 - a},
            "label": "yx"[int(h)],
        }
        for i, (a, h) in enumerate(zip(p.tolist(), hit.tolist(), strict=True))
    ]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, rows)))
    lines = [f"{a},{int(h)}" for a, h in zip(p, hit, strict=True)]
    (tmp_path / "table.csv").write_text("\n".join(["p,label", *lines]))
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(group, ["decide", *map(str, arguments), "--force"])


@pytest.mark.parametrize(
    ("file", "options"),
    [
        ("table.csv", ("--unit", "log")),
        ("table.csv", ("--level", "0.8")),
        ("table.csv", ("--sets", "--max-error", "0.2")),
        ("table.csv", ("--sets", "--when-uncertain", "accept-none")),
        ("log.jsonl", ("--cluster", "id")),
        ("log.jsonl", ("--sets",)),
        ("log.jsonl", ("--level", "0.8")),
    ],
)
def test_an_option_without_effect_is_refused(files, file, options):
    found = run(file, *options)
    assert found.exit_code != 0
    assert "has no effect on" in found.output


def test_a_decided_log_takes_no_promise(files):
    assert run("log.jsonl", "--max-error", "0.15", "-o", "lock.json").exit_code == 0
    found = run("lock.json", "log.jsonl", "--max-error", "0.01")
    assert found.exit_code != 0
    assert "--max-error has no effect on a lock and NEW" in found.output


def test_the_promise_of_a_log_is_about_rows_or_items(files):
    told = {
        over: run("log.jsonl", "--max-error", "0.15", "--unit", "log", "--over", over).output
        for over in ("rows", "items")
    }
    assert "accepted new rows" in told["rows"]
    assert "accepted new clusters" in told["items"]
