"""A run that is killed goes on where it was, and ends with the same numbers."""

import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from tests.tables.modes import MODES, assert_same

import calibrant as cb

#: The module: the package offers its function by this name.
checkpoint = importlib.import_module("calibrant.tables.evaluate")

#: The command, a little slower, so that it can be caught in the middle.
SLOW = """
import sys, time
import importlib
checkpoint = importlib.import_module("calibrant.tables.evaluate")
from calibrant.cli.main import main
fold = checkpoint.fold
checkpoint.fold = lambda *args: (time.sleep(0.05), fold(*args))[1]
main(sys.argv[1:])
"""
ASKED = ["--probabilities", "p_*", "--by", "model,region", "--time", "ts"]


#: How a process that was killed ends: TerminateProcess says 1.
KILLED = 1 if os.name == "nt" else -signal.SIGKILL


@pytest.fixture
def killed(logs, tmp_path):
    """What is left of a command that was killed outright once it had counted five of 21 files."""
    kept = tmp_path / "sums.calibrant"
    command = [
        sys.executable,
        "-c",
        SLOW,
        "evaluate",
        logs,
        *ASKED,
        "--resume",
        str(kept),
        "--json",
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while not kept.exists() or len(cb.load(kept).done) < 5:
            assert process.poll() is None, "it ended before it could be killed"
            time.sleep(0.01)
        process.kill()
    assert process.returncode == KILLED
    return kept


def test_nothing_is_lost_when_the_process_is_killed(killed, logs, tmp_path, monkeypatch):
    from click.testing import CliRunner

    from calibrant.cli.group import group

    counted = len(cb.load(killed).done)
    assert 5 <= counted < 21
    again = shutil.copy(killed, tmp_path / "again.calibrant")
    expected = cb.evaluate(logs, **MODES["sliced"])
    read, fold = [], checkpoint.fold
    monkeypatch.setattr(checkpoint, "fold", lambda *args: read.append(1) or fold(*args))
    found = cb.evaluate(logs, checkpoint=killed, **MODES["sliced"])
    assert len(read) == 21 - counted
    assert_same(found, expected)
    printed = json.loads(
        CliRunner()
        .invoke(group, ["evaluate", logs, *ASKED, "--resume", str(again), "--json"])
        .stdout
    )
    assert len(read) == 2 * (21 - counted)
    for row, wanted in zip(printed["slices"], expected.to_dict()["slices"], strict=True):
        assert row == pytest.approx(wanted, abs=1e-9)


def test_one_table_has_one_name(tmp_path, monkeypatch, run):
    """Relative, absolute and by a link: a file is counted once; a checkpoint is no other file."""
    frame = pytest.importorskip("pandas").DataFrame({"p": [0.2, 0.7], "label": [0, 1]})
    (tmp_path / "days").mkdir()
    for day in "ab":
        frame.to_parquet(tmp_path / f"days/{day}.parquet")
    kept, read = tmp_path / "s.json", []
    fold = checkpoint.fold
    monkeypatch.setattr(checkpoint, "fold", lambda *args: read.append(1) or fold(*args))
    for path in ("days", tmp_path / "days", "days/../days", "days/*.parquet"):
        found = cb.evaluate(path, probabilities="p", checkpoint=kept)
        assert (found.overall()["n"], len(read)) == (4, 2)
    before, words = kept.read_bytes(), ("evaluate", "days", "--by", "label", "--resume")
    for output in ("s.json", tmp_path / "s.json"):
        error = run(*words, kept, "-o", output, "--force", code=1).stderr
        assert "is read, and would be lost; pass another -o" in error
    assert kept.read_bytes() == before
    fresh = run(*words, "new.json", "-o", "days/../new.json", code=1).stderr
    assert "is read, and would be lost" in fresh
    assert not (tmp_path / "new.json").exists()
    kept.write_bytes(before[:-9])
    error = run(*words, kept, code=1).stderr
    assert "s.json is damaged or not a calibrant file" in error
    assert "delete this one to count every file again" in error
    assert "calibrator" not in error
    table = tmp_path / "days/a.parquet"
    before = table.read_bytes()
    assert "would be lost" in run(*words, table, code=1).stderr
    assert table.read_bytes() == before
