"""One method, one file, one test file of the same name. Exceptions are named in pyproject.toml, each with where its tests are."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "calibrant"
HABITS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["calibrant"]["habits"]
MIRRORED = (
    "audits",
    "confidence",
    "maps",
    "metrics",
    "monitoring",
    "regression",
    "scalings",
    "select",
    "signals",
    "wrap",
    "pools",
    "folds",
    "models",
    "plan",
    "validation",
    "decisions",
    "export",
    "adapters",
)


def _name(path):
    return path.relative_to(PACKAGE).as_posix()


def _methods():
    for folder in MIRRORED:
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            if not path.name.startswith("_"):
                yield path


@pytest.mark.parametrize("path", list(_methods()), ids=_name)
def test_every_method_has_its_test_file(path):
    relative = path.relative_to(PACKAGE)
    test = ROOT / "tests" / relative.parent / f"test_{relative.name}"
    if _name(path) in HABITS["tested_elsewhere"]:
        assert not test.exists(), "the exception is no longer needed"
        assert (ROOT / HABITS["tested_elsewhere"][_name(path)]).exists()
        return
    assert test.exists(), f"write {test.relative_to(ROOT)}"
    assert "def test_" in test.read_text(encoding="utf-8")
