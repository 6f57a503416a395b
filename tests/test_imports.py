"""The arrows between folders point one way, and the check that says so can fail."""

from pathlib import Path

import pytest
from tools.check_imports import check_package, main

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "calibrant"


def _plant(folder, text, tmp_path):
    file = tmp_path / "calibrant" / folder / "planted.py"
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    return check_package(tmp_path / "calibrant")


BROKEN = {
    "backwards": ("metrics", "from calibrant.audits.audit import audit", "comes after it"),
    "later folder": (
        "metrics",
        "from calibrant.calibrators.multiclass import PerClass",
        "comes after it",
    ),
    "relative": ("calibrators", "from ..cli.main import main", "comes after it"),
    "module by name": ("predictions_", "from calibrant import errors", "has no place in the order"),
    "inside a function": (
        "core",
        "def f():\n    from calibrant.calibrators.auto import AutoCalibrator",
        "comes after it",
    ),
    "numerics and the door": (
        "_numerics",
        "from calibrant.errors import InputError",
        "takes arrays and sees NumPy and SciPy only",
    ),
    "numerics and scikit-learn": (
        "_numerics",
        "import sklearn.isotonic",
        "sees NumPy and SciPy only",
    ),
    "top of the package": ("monitoring", "import calibrant as cb", "imports the top"),
    "top by name": ("monitoring", "from calibrant import Isotonic", "imports the top"),
    "matplotlib elsewhere": (
        "reporting",
        "def f():\n    import matplotlib.pyplot",
        "only displays/ may know",
    ),
    "matplotlib as an extra elsewhere": (
        "metrics",
        "x = import_extra('matplotlib', 'plots', 'plot')",
        "only displays/ may know",
    ),
    "matplotlib at the top": ("displays", "import matplotlib", "inside the function"),
    "click elsewhere": ("datasets", "import click", "only cli and questions/ may know"),
    "pandas directly": ("metrics", "def f():\n    import pandas", "import_extra"),
    "torch directly": ("tables", "def f():\n    from torch import nn", "import_extra"),
    "import_module": ("metrics", "def f():\n    importlib.import_module('polars')", "import_extra"),
    "private name": (
        "metrics",
        "from sklearn.utils._param_validation import Interval",
        "is private",
    ),
    "private object": ("metrics", "from scipy.stats import _continuous_distns", "is private"),
    "nested in a class": (
        "metrics",
        "class A:\n    if True:\n        import calibrant.displays.reliability",
        "comes after it",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_planted_violation_is_found(case, tmp_path):
    folder, text, message = BROKEN[case]
    found = _plant(folder, text, tmp_path)
    assert len(found) == 1
    assert message in found[0].message
    assert main([str(tmp_path / "calibrant")]) == 1


@pytest.mark.parametrize("how", ["", "def f():\n    ", "if TYPE_CHECKING:\n    "])
def test_a_circle_of_modules_is_found_wherever_it_closes(how, tmp_path):
    folder = tmp_path / "calibrant" / "calibrators"
    folder.mkdir(parents=True)
    (folder / "first.py").write_text("from calibrant.calibrators.second import a", encoding="utf-8")
    (folder / "second.py").write_text("import calibrant.calibrators.third", encoding="utf-8")
    (folder / "third.py").write_text("import numpy", encoding="utf-8")
    assert check_package(tmp_path / "calibrant") == []
    (folder / "third.py").write_text(
        f"{how}from calibrant.calibrators import first", encoding="utf-8"
    )
    (found,) = check_package(tmp_path / "calibrant")
    assert "is a circle of imports" in found.message
    assert all(
        f"calibrant.calibrators.{name}" in found.message for name in ("first", "second", "third")
    )


ALLOWED = {
    "earlier folder": ("decisions", "from calibrant.calibrators.maps.isotonic import Isotonic"),
    "same folder": ("calibrators", "from calibrant.calibrators.maps.sigmoids import Platt"),
    "core": (
        "metrics",
        "import numpy as np\nfrom scipy import special\nfrom sklearn.base import clone",
    ),
    "extra": ("core", "def f():\n    pandas = import_extra('pandas', 'frame()', 'frames')"),
    "typing": ("metrics", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pandas"),
    "matplotlib in a function": ("displays", "def f():\n    import matplotlib.pyplot as plt"),
    "click": ("cli", "import click\nimport calibrant as cb"),
    "door as a module": ("core", "from calibrant import errors"),
    "by name, at run time": (
        "decisions",
        "def f():\n    importlib.import_module('calibrant.calibrators.auto')",
    ),
}


@pytest.mark.parametrize("case", ALLOWED)
def test_what_is_allowed_passes(case, tmp_path):
    assert _plant(*ALLOWED[case], tmp_path) == []


def test_the_command_passes_on_the_package(capsys):
    assert main([str(PACKAGE)]) == 0
    assert main([str(PACKAGE / "nowhere")]) == 2
    assert "pass the package's folder" in capsys.readouterr().out
