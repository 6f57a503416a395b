"""Help, errors and results fit a terminal of 80 columns, and name the command to run next."""

import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
from click.testing import CliRunner

from calibrant.cli import wording
from calibrant.cli.group import COMMANDS, FEW, SECTIONS, group

WIDTH = 80


def run(*arguments):
    return CliRunner().invoke(group, arguments, terminal_width=WIDTH)


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_no_line_of_help_is_longer_than_the_terminal(command):
    lines = run(*filter(None, [command]), "--help").output.splitlines()
    assert len(lines) > 5
    assert [line for line in lines if len(line) > WIDTH] == []


@pytest.mark.parametrize("command", ["report", "fit", "evaluate", "decide", "monitor", "compare"])
def test_long_help_has_sections_with_every_option_once(command):
    text = "".join(run(command, "--help").output.partition("\nTable:")[1:])
    titles = re.findall(r"^(\w+):$", text, flags=re.MULTILINE)
    assert [one for one in titles if one in SECTIONS] == [one for one in SECTIONS if one in titles]
    assert {"Options", "Table", "Output"} <= set(titles)
    options = re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, flags=re.MULTILINE)
    assert len(options) == len(set(options)) > FEW
    assert text.index("--risk") > text.index("\nTable:")
    assert text.index("--force") > text.index("\nOutput:")


def test_short_help_has_one_section():
    assert re.findall(r"^(\w+):$", run("plan", "--help").output, re.MULTILINE) == ["Options"]


def test_sections_name_options_that_exist():
    names = {one.name for name in COMMANDS for one in group.get_command(None, name).params}
    assert {one for names_of in SECTIONS.values() for one in names_of} <= names


def test_examples_of_several_lines_are_one_command_of_the_shell():
    text = run("report", "--help").output
    (example,) = re.findall(r"calibrant report loans.csv --groups(?:.*\\\n)+.*", text)
    words = shlex.split(example.replace("\\\n", " "))
    assert words[-2:] == ["--fail-if", "after.group_gap>0.05"]


def test_a_wrong_use_is_broken_between_words_on_a_terminal(monkeypatch):
    class Terminal:
        def isatty(self):
            return True

    monkeypatch.setattr(wording, "get_terminal_size", lambda: type("Size", (), {"columns": WIDTH}))
    long = run("fit", __file__, "--method", "unknown").output.splitlines()[-1]
    assert len(long) > 5 * WIDTH
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", Terminal())
        lines = wording.on_lines(long, err=True).splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert " ".join(lines) == long


@pytest.fixture
def log(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    p = rng.random(600)
    y = (rng.random(600) < p**2).astype(int)
    rows = "\n".join(f"{a:.4f},{b}" for a, b in zip(p, y, strict=True))
    monkeypatch.chdir(tmp_path)
    Path("a log.csv").write_text(f"said risk,happened\n{rows}\n", encoding="utf-8")
    return "a log.csv"


COLUMNS = ("--risk", "said risk", "--label", "happened")


def after(output):
    """Return the words of the command to run next: the last line."""
    *_, title, line = output.rstrip("\n").split("\n")
    assert title == "Next:"
    name, *words = shlex.split(line)
    assert name == "calibrant"
    return words


def test_each_command_names_the_next_until_the_end(log):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    found = run("report", log, *COLUMNS, "--method", "platt")
    assert found.exit_code == 0, found.output
    words = after(found.output)
    assert words[:2] == ["fit", log]
    found = run(*words, "--method", "platt")
    assert found.exit_code == 0, found.output
    words = after(found.output)
    assert words[:2] == ["apply", "model.calibrant"]
    Path("new.csv").write_text(Path(log).read_text(encoding="utf-8"), encoding="utf-8")
    found = run(*words)
    assert found.exit_code == 0, found.output
    assert "Next:" not in found.output
    assert len(Path("calibrated.csv").read_text(encoding="utf-8").splitlines()) == 601


def test_a_rule_names_the_command_that_applies_it(log):
    pytest.importorskip("pandas")
    found = run("decide", log, *COLUMNS, "--max-error", "0.35")
    assert found.exit_code == 0, found.output
    Path("new.csv").write_text(Path(log).read_text(encoding="utf-8"), encoding="utf-8")
    assert run(*after(found.output)).exit_code == 0
    assert "accept" in Path("decided.csv").read_text(encoding="utf-8").splitlines()[0]


def test_json_is_json_alone(log):
    pytest.importorskip("matplotlib")
    found = run("report", log, *COLUMNS, "--method", "platt", "--json")
    assert "Next:" not in found.output
