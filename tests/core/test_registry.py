import importlib
import pkgutil
import subprocess
import sys

import pytest

import calibrant as cb
from calibrant.core.estimators import class_named, key_of, register, registered
from calibrant.core.saving import Saved
from calibrant.errors import InputError, SavedFileError


def _all_saved(base):
    for cls in base.__subclasses__():
        if cls.__module__.startswith("calibrant."):
            yield cls
        yield from _all_saved(cls)


def test_every_class_that_is_saved_is_found_in_a_fresh_process():
    for module in pkgutil.walk_packages(cb.__path__, "calibrant."):
        if "engines" not in module.name and not module.name.startswith("calibrant.cli"):
            importlib.import_module(module.name)
    # Parts of others are imported with their owner.
    parts = {"FeatureSpace", "Separation", "SignalCurve", "StoredPoints"}
    templates = {"Calibrator", "Map", "RegressionCalibrator", "Signal"}
    names = sorted({cls.__name__ for cls in _all_saved(Saved)} - parts - templates)
    assert len(names) > 60
    program = (
        f"from calibrant.core.estimators import class_named; print([n for n in {names} if"
        " class_named(n) is None])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def _foreign(name="Halfway", module="elsewhere.parts"):
    def fit(self, record):
        self.rate_ = record.one_hot.mean(axis=0)

    def predict(self, record):
        return 0.5 * record.probabilities + 0.5 * self.rate_

    return type(
        name,
        (cb.core.Calibrator,),
        {"_fit": fit, "_predict_proba": predict, "__module__": module, "__qualname__": name},
    )


def test_a_registered_part_of_others_is_saved_and_loaded_alone_and_inside_ours(tmp_path):
    cls = register(_foreign())
    assert key_of(cls) == "elsewhere:Halfway"
    assert class_named("elsewhere:Halfway") is cls
    assert cls in registered(cb.core.Calibrator)
    P, y = [[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]], [0, 1, 1, 0]
    fitted = cls().fit(P, y)
    again = cb.load(fitted.save(tmp_path / "a.calibrant"))
    assert again.predict_proba(P).tolist() == fitted.predict_proba(P).tolist()
    inside = cb.calibrators.PerClass(cls()).fit(P * 20, y * 20)
    again = cb.load(inside.save(tmp_path / "b.calibrant"))
    assert again.predict_proba(P).tolist() == inside.predict_proba(P).tolist()


def test_another_class_of_the_same_name_is_refused_and_the_same_one_run_again_is_not():
    register(_foreign("Twice"))
    register(_foreign("Twice"))
    with pytest.raises(InputError, match="registered already"):
        register(_foreign("Twice", "elsewhere.more"))


@pytest.mark.parametrize("what", [int, "Halfway", cb.TemperatureScaling()])
def test_what_is_no_part_is_refused(what):
    with pytest.raises(InputError, match="register takes"):
        register(what)


def test_a_file_of_a_part_that_is_not_registered_says_what_to_import(tmp_path):
    file = (
        register(_foreign("Gone", "faraway.parts"))()
        .fit([[0.9, 0.1], [0.4, 0.6]], [0, 1])
        .save(tmp_path / "a.calibrant")
    )
    program = f"import calibrant as cb; cb.load({str(file)!r})"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert "import faraway, which registers it" in done.stderr
    assert SavedFileError.__name__ in done.stderr


def test_a_part_of_others_that_is_not_registered_is_not_saved(tmp_path):
    with pytest.raises(InputError, match="register"):
        _foreign("Unknown")().fit([[0.9, 0.1], [0.4, 0.6]], [0, 1]).save(tmp_path / "a.calibrant")
