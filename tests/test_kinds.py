"""A kind of prediction is one folder: without it, all else works and offers none of its names."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from calibrant.core.exports import KINDS

ROOT = Path(__file__).resolve().parent.parent
AREAS = ("reporting", "tables", "audits", "monitoring", "cli")
#: Files that together enter every area, and take seconds.
SOME = (
    *("reporting/test_one_door.py", "tables/test_table_rows.py", "audits/test_result.py"),
    *("monitoring/test_advice.py", "cli/test_check.py", "core/test_domain.py"),
)
WITHOUT = """
import importlib, pkgutil, sys
import calibrant as cb
from calibrant.cli.main import main
from calibrant.core.domain import domains
from calibrant.core.exports import PACKAGE, classes, of_kinds

modules = [one.name for one in pkgutil.walk_packages(cb.__path__, "calibrant.")]
for name in modules:
    if not name.endswith("__main__"):
        importlib.import_module(name)
lines = (PACKAGE / "__init__.pyi").read_text().splitlines()
named = {line.split()[-1] for line in lines if " KIND" in line or ".KIND" in line}
offered = {*dir(cb), *classes(), *(one.name for one in domains())}
assert named and "report" in offered and not named & offered, named & offered
assert not of_kinds("domain")
assert not [name for name in sys.modules if name.startswith("calibrant.KIND")]
sys.argv = ["calibrant", *sys.argv[1:]]
main()
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The repository without the folders of further kinds and their tests."""
    root = tmp_path_factory.mktemp("copy")
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for kind in KINDS:
        shutil.rmtree(root / "src" / "calibrant" / kind)
        shutil.rmtree(root / "tests" / kind)
    for name in ("conftest.py", "pyproject.toml", "docs", "tools", "benchmarks", "README.md"):
        (root / name).symlink_to(ROOT / name)
    return root


def run(copy, *command):
    path = os.pathsep.join([str(copy / "src"), str(copy)])
    made = subprocess.run(
        [sys.executable, *command],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, f"{made.stdout[-4000:]}{made.stderr[-2000:]}"
    return made.stdout


@pytest.mark.parametrize(
    "arguments", [("--help",), ("methods", "--all"), ("decide", "--help"), ("fit", "--help")]
)
def test_nothing_offers_what_an_absent_folder_had(copy, arguments):
    for kind in KINDS:
        said = run(copy, "-c", WITHOUT.replace("KIND", kind), *arguments)
        assert "calibrat" in said
        assert "judge" not in said
        assert kind not in said


def test_some_of_every_area_is_green_without_further_kinds(copy):
    files = [f"tests/{name}" for name in SOME]
    assert " passed" in run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files)


@pytest.mark.slow
@pytest.mark.parametrize("area", AREAS)
def test_an_area_is_green_without_further_kinds(copy, area):
    run(copy, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", f"tests/{area}")
