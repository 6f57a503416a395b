"""Commands on the pages print what the pages show, run in order as a reader types them."""

import doctest
import re
import shlex
import textwrap
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGES = ("tutorials/score_log",)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
BLOCK = re.compile(r"code-block:: (python|console)\n\n((?:(?: {3}.*)?\n)+)")


def blocks(page):
    """The kind and the text of each block of code of a page."""
    return [(kind, textwrap.dedent(text)) for kind, text in BLOCK.findall(page)]


def commands(text):
    """Each line of a block that is typed after ``$``, and what the page shows below it."""
    return re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", text, flags=re.MULTILINE)


def test_commands_are_read_with_what_they_print():
    page = "Text.\n\n.. code-block:: console\n\n   $ a b\n   one\n   $ c\n\nMore.\n"
    ((kind, text),) = blocks(page)
    assert kind == "console"
    assert [(line, shown.strip()) for line, shown in commands(text)] == [("a b", "one"), ("c", "")]


@pytest.mark.parametrize("name", PAGES)
def test_the_commands_of_a_page_print_what_it_shows(name, tmp_path, monkeypatch):
    for library in ("pandas", "rich", "matplotlib"):
        pytest.importorskip(library)
    runner = pytest.importorskip("click.testing").CliRunner()
    from calibrant.cli.group import group

    monkeypatch.chdir(tmp_path)
    page = (DOCS / f"{name}.rst").read_text(encoding="utf-8")
    for kind, text in blocks(page):
        if kind == "python":
            exec(compile(text, name, "exec"), {})
        for line, shown in commands(text):
            program, *arguments = shlex.split(line)
            result = runner.invoke(group, arguments)
            assert (program, result.exit_code) == ("calibrant", 0), result.output
            if shown.strip():
                assert doctest.OutputChecker().check_output(shown, result.output, FLAGS), (
                    f"{line}\n{result.output}"
                )


def test_the_readme_has_the_command_of_the_page_about_a_csv_file():
    command = "calibrant report log.csv --risk score --label outcome"
    page = (DOCS / "tutorials" / "score_log.rst").read_text(encoding="utf-8")
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert f"   $ {command}\n" in page
    assert f"(docs/tutorials/score_log.rst) | `{command}` |" in readme
