"""The command that redoes the papers' tables: what it runs, and what it says where data lack."""

import importlib.util
import subprocess

import pytest
from benchmarks.data.table import data_sets
from benchmarks.papers.__main__ import STEPS, main
from benchmarks.papers.stored import PAPERS


@pytest.fixture
def ran(monkeypatch):
    """The commands that would have been run, each with success."""
    commands = []

    def run(command, **options):
        commands.append(command[2:])
        return subprocess.CompletedProcess(command, len(commands) == 3)

    monkeypatch.setattr("benchmarks.papers.__main__.subprocess.run", run)
    return commands


def test_steps_are_modules_and_data_sets_that_exist():
    assert set(STEPS) == set(PAPERS)
    for step in (step for steps in STEPS.values() for step in steps):
        assert importlib.util.find_spec(f"benchmarks.papers.{step.module}"), step.module
        assert set(step.data) <= set(data_sets())
    assert all(any(step.quick is not None for step in steps) for steps in STEPS.values())


def test_every_size_runs_its_own_arguments(ran, monkeypatch, tmp_path):
    monkeypatch.setenv("CALIBRANT_DATA", str(tmp_path))
    assert main(["regression", "--quick"]) == 0
    assert main(["regression"]) == 1
    assert main(["regression", "--full"]) == 0
    every = [[f"benchmarks.papers.regression.{name}"] for name in ("tables", "figures", "joint")]
    assert ran == [[*every[0], "--seeds", "1"], *every, *every]


def test_what_lacks_data_is_left_out_with_a_command_to_fetch(ran, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("CALIBRANT_DATA", str(tmp_path))
    assert main(["hoki"]) == 0
    # What needs no data runs.
    assert ran == [["benchmarks.papers.hoki.cost"]]
    said = capsys.readouterr().out
    assert "-m benchmarks.data fetch 'network_outputs/*'` first" in said
    assert "[3/5] hoki.others" in said


def test_what_trains_networks_says_that_it_needs_pytorch(ran, monkeypatch, tmp_path, capsys):
    for step in (step for steps in STEPS.values() for step in steps):
        for name in step.data:
            (tmp_path / f"{name}.npz").parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / f"{name}.npz").touch()
    monkeypatch.setenv("CALIBRANT_DATA", str(tmp_path))
    monkeypatch.setattr("benchmarks.papers.__main__.find_spec", lambda name: None)
    # The third command fails here.
    assert main(["hoki"]) == 1
    assert len(ran) == 4
    assert "lenet-5-mnist" not in " ".join(ran[0])
    assert capsys.readouterr().out.count("-m pip install torch` first") == 1


def test_a_paper_of_another_name_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["platt"])
    assert "no paper is named 'platt'" in capsys.readouterr().err
