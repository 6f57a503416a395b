"""A package installed beside calibrant is found by its entry point: by the command line, never
by ``load``.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

MODULE = """
import calibrant as cb

@cb.core.register
class Halfway(cb.core.Calibrator):
    def _fit(self, record):
        self.rate_ = record.one_hot.mean(axis=0)

    def _predict_proba(self, record):
        return 0.5 * record.probabilities + 0.5 * self.rate_

@cb.core.register
class Flat(cb.core.Map):
    def _fit(self, score, correct, weight):
        self.rate_ = float(weight @ correct / weight.sum())

    def _predict(self, score):
        return 0.0 * score + self.rate_

@cb.core.register
class Wider(cb.core.RegressionCalibrator):
    def _fit_output(self, record):
        return {}

    def _predict_output(self, forecast):
        return forecast
"""


@pytest.fixture
def site(tmp_path):
    """A folder with an installed package, as pip leaves it: a module, and its metadata beside
    it.
    """
    folder = tmp_path / "site"
    info = folder / "half_calibrated-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "half_calibrated.py").write_text(MODULE, encoding="utf-8")
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: half-calibrated\nVersion: 1.0\n", encoding="utf-8"
    )
    (info / "entry_points.txt").write_text(
        "[calibrant]\nhalf = half_calibrated\n", encoding="utf-8"
    )
    return folder


@pytest.fixture
def python(site, tmp_path):
    """Run Python where that package is installed."""
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])

    def run(*arguments, code=0):
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done

    return run


def test_its_methods_are_listed(python):
    found = json.loads(python("-m", "calibrant", "methods", "--json").stdout)
    named = {task: {row["name"] for row in kinds["calibrators"]} for task, kinds in found.items()}
    assert {"half_calibrated:halfway", "half_calibrated:flat", "temperature"} <= named[
        "classification"
    ]
    assert {"half_calibrated:wider", "std"} <= named["regression"]


def test_it_is_fitted_by_name_saved_and_applied(python, tmp_path):
    P = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    np.savez(tmp_path / "p.npz", probabilities=P, labels=P.argmax(axis=1))
    python(
        "-m",
        "calibrant",
        "fit",
        "p.npz",
        "--method",
        "half_calibrated:halfway",
        "-o",
        "m.calibrant",
    )
    python("-m", "calibrant", "apply", "m.calibrant", "p.npz", "-o", "q.npz")
    rate = np.bincount(P.argmax(axis=1), minlength=3) / 60
    with np.load(tmp_path / "q.npz") as found:
        assert np.allclose(found["probabilities"], 0.5 * P + 0.5 * rate)
    said = python("-c", "import calibrant as cb; cb.load('m.calibrant')", code=1).stderr
    assert "import half_calibrated, which registers it" in said
    assert (
        python(
            "-c",
            "import half_calibrated, calibrant as cb; print(type(cb.load('m.calibrant')).__name__)",
        ).stdout
        == "Halfway\n"
    )


def test_one_that_cannot_be_imported_is_one_sentence_and_the_command_goes_on(site, python):
    (site / "half_calibrated.py").write_text("import a_library_that_is_missing", encoding="utf-8")
    done = python("-m", "calibrant", "methods", "--json")
    assert "temperature" in done.stdout
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stderr.startswith(
        "Warning: the extension 'half_calibrated' of the package 'half-calibrated' is left out"
    )
    assert "No module named 'a_library_that_is_missing'" in done.stderr
    assert python("-c", "import calibrant").stderr == ""


def test_the_contract_suite_finds_what_is_registered_when_asked(python):
    program = (
        "import half_calibrated; from calibrant import testing as t; names = lambda found:"
        " {type(one).__name__ for one in found}; assert {'Halfway'} =="
        " names(t.all_calibrators(extensions=True)) - names(t.all_calibrators()); assert {'Flat'}"
        " == names(t.all_maps(extensions=True)) - names(t.all_maps()); assert {'Wider'} =="
        " names(t.all_regression_calibrators(extensions=True)) -"
        " names(t.all_regression_calibrators()); assert names(t.all_signals(extensions=True)) =="
        " names(t.all_signals())"
    )
    python("-c", program)
