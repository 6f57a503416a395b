import os
import subprocess
import sys
from pathlib import Path

import pytest

import calibrant

BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("click", "rich"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocked())
from calibrant.cli.main import main
main(["--version"])
"""


def python(*arguments):
    path = str(Path(calibrant.__file__).parent.parent)
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )


def test_without_its_libraries_it_says_how_to_get_them():
    result = python("-c", BLOCKED)
    assert result.returncode == 1
    assert (
        result.stderr
        == "the calibrant command needs click, which is not installed; run: pip install"
        " 'calibrant[cli]'\n"
    )


def test_runs_as_a_module():
    result = python("-m", "calibrant", "--version")
    assert result.returncode == 0
    assert calibrant.__version__ in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["evalute"], "No such command 'evalute'. Did you mean 'evaluate'?"),
        (["zzz"], "No such command 'zzz'. There are demo, "),
        (["fit", "--method", "tempreature"], "is not a method; did you mean temperature?"),
        (["fit", "--method", "zzz"], "is not a method; choose from: auto, "),
    ],
)
def test_a_word_that_is_misspelt_gets_the_one_that_is_near(run, tmp_path, arguments, words):
    (tmp_path / "a.csv").write_text("y,p\n0,0.1\n", encoding="utf-8")
    assert words in " ".join(run(*arguments, tmp_path / "a.csv", code=2).stderr.split())
