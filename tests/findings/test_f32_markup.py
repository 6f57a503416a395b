"""Names of the user's are text: no colour, no order to the terminal, no symbol."""

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pyarrow")
from click.testing import CliRunner

from calibrant.cli.group import group

NAMES = ["[red]", "[/x]", "a\\", ":warning:", "\x1b[31mred", "[bold]b[/bold]", "\u202eback"]
SHOWN = ["[red]", "[/x]", "a\\", ":warning:", "\\x1b[31mred", "[bold]b[/bold]", "\\u202eback"]


@pytest.mark.parametrize("command", [("evaluate", "f.csv"), ("monitor", "f.csv", "--time", "when")])
def test_f32_slices_are_printed_as_they_are_called(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"0.{i},{i % 2},{name},2026-01-01\n" for name in NAMES for i in range(1, 10)]
    (tmp_path / "f.csv").write_text("p,label,[blue],when\n" + "".join(rows), encoding="utf-8")
    result = CliRunner().invoke(group, [*command, "--by", "[blue]"])
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.output
    assert "\u202e" not in result.output
    for name in [*SHOWN, "[blue]"]:
        assert name in result.output


def test_f32_so_are_outputs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    header = ",".join(
        f"{kind}_{name}" for name in ("[/x]", "\x1b[31m") for kind in ("mean", "std", "y")
    )
    (tmp_path / "f.csv").write_text(
        header + "\n" + "".join(f"{i},1,{i + (-1) ** i},0,2,{i}\n" for i in range(1, 8)),
        encoding="utf-8",
    )
    result = CliRunner().invoke(group, ["evaluate", "f.csv"])
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.output
    assert "7 rows, [/x]" in result.output
