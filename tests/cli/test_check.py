"""``calibrant check`` and ``apply`` of lock files of tables (of logs: test_questions)."""

import json

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")


def write(path, n, seed, lost=0.0):
    """Risks whose outcome is another one in a share ``lost`` of rows."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(0.0, 2.5, n)
    p = 1.0 / (1.0 + np.exp(-odds))
    y = rng.random(n) < p
    y = np.where(rng.random(n) < lost, ~y, y).astype(int)
    lines = [f"{a!r},{b}" for a, b in zip(p.tolist(), y, strict=True)]
    path.write_text("\n".join(["p,label", *lines]) + "\n", encoding="utf-8")


@pytest.fixture
def tables(tmp_path):
    write(tmp_path / "log.csv", 2000, 0)
    write(tmp_path / "same.csv", 4000, 1)
    write(tmp_path / "worse.csv", 2000, 2, lost=0.3)


@pytest.mark.parametrize(
    ("command", "broken"),
    [
        (("decide", "log.csv", "--max-error", "0.15"), "at most 0.15 wrong among answered rows"),
        (("fit", "log.csv", "--method", "temperature"), "a re-fit on 2,000 labels lowers"),
        (("decide", "log.csv", "--sets", "--level", "0.9"), "'ConformalSets' broken"),
    ],
)
def test_a_lock_of_a_table_is_bound_to_its_version_and_gates_the_next(
    run, tables, tmp_path, command, broken
):
    said = run(*command, "-o", "lock.json", code=1).output
    assert "name it with --model-version" in said
    run(*command, "-o", "lock.json", "--model-version", "v1")
    content = json.loads((tmp_path / "lock.json").read_text(encoding="utf-8"))
    assert (content["models"], len(content["calibration_rows"])) == (["v1"], 64)
    said = run("apply", "lock.json", "same.csv", "-o", "o.csv", code=1).output
    assert "must come from the model ['v1'] of the lock; got no version" in said
    said = run("apply", "lock.json", "same.csv", "-o", "o.csv", "--model-version", "v2", code=1)
    assert "got ['v2']; check the new version, or pass --allow-other-version" in said.output
    run("apply", "lock.json", "same.csv", "-o", "o.csv", "--model-version", "v1")
    run("apply", "lock.json", "same.csv", "-o", "p.csv", "--allow-other-version")
    text = [(tmp_path / name).read_text(encoding="utf-8") for name in ("o.csv", "p.csv")]
    assert text[0] == text[1]
    said = run("check", "lock.json", "worse.csv", code=1).output
    assert said.startswith("Not kept: ")
    assert broken in " ".join(said.split())
    if "--max-error" not in command:
        assert run("check", "lock.json", "same.csv").output.startswith("Kept: the promise, in ")


def test_a_lock_of_scores_is_checked_on_scores(run, tmp_path):
    rng = np.random.default_rng(1)
    for name, n, level in (("log", 1500, 2.0), ("same", 8000, 2.2), ("worse", 1500, 0.0)):
        score = rng.normal(size=n)
        right = rng.random(n) < 1.0 / (1.0 + np.exp(-level - 2.0 * score))
        rows = zip(score.tolist(), right.tolist(), strict=True)
        lines = [json.dumps({"margin": s, "correct": c}) for s, c in rows]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    options = ("--confidence", "margin", "--inputs", "score", "--label", "correct")
    run("decide", "log.jsonl", *options, "--model-version", "v1", "-o", "lock.json")
    assert "Kept" in run("check", "lock.json", "same.jsonl", *options).output
    assert "broken" in run("check", "lock.json", "worse.jsonl", *options, code=1).output


def test_weights_count_rows_and_none_is_no_row(run, tables, tmp_path):
    run("decide", "log.csv", "--max-error", "0.15", "--model-version", "v1", "-o", "lock.json")
    header, *lines = (tmp_path / "worse.csv").read_text(encoding="utf-8").split()
    times = np.arange(len(lines)) % 3 > 0
    weighted = [f"{header},times", *(f"{a},{w:d}" for a, w in zip(lines, times, strict=True))]
    counted = [header, *(a for a, w in zip(lines, times, strict=True) if w)]
    for name, rows in (("weighted.csv", weighted), ("counted.csv", counted)):
        (tmp_path / name).write_text("\n".join(rows) + "\n", encoding="utf-8")
    output = run("check", "lock.json", "counted.csv", "--swap", "1", code=1).output
    options = ("--swap", "1", "--weight", "times")
    assert run("check", "lock.json", "weighted.csv", *options, code=1).output == output


def test_a_file_that_is_no_lock_is_refused_in_words(run, tables, tmp_path):
    (tmp_path / "e.json").write_text("{}", encoding="utf-8")
    (tmp_path / "s.calibrant").write_bytes(b"\xfb\xfa")
    assert "(it has no 'format'); make one" in run("check", "e.json", "log.csv", code=1).output
    assert "(it is no text); make one" in run("check", "s.calibrant", "log.csv", code=1).output
    run("decide", "log.csv", "-o", "lock.json", "--model-version", "v1", "--max-error", "0.3")
    refused = run("check", "lock.json", "log.csv", "--positive", "0", code=1).output
    assert "the calibrator's is that of 1;" in refused
