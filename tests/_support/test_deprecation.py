"""Old names work for one version, and say what to write instead, at the user's line."""

from pathlib import Path

import pytest
from sklearn.base import BaseEstimator, clone

import calibrant as cb
from calibrant._support.deprecation import RenamedAttribute, renamed_arguments, renamed_value, warn_renamed
from calibrant.errors import CalibrationWarning, InputError, OldNameWarning


class Part(BaseEstimator):
    loss = RenamedAttribute("objective", since="0.1")

    @renamed_arguments("0.1", loss="objective")
    def __init__(self, *, objective="log_loss"):
        self.objective = objective


def test_the_warning_says_what_to_write_since_when_and_until_when_and_is_of_both_kinds():
    with pytest.warns(OldNameWarning) as caught:
        warn_renamed("a", "b", "0.9")
    assert str(caught[0].message) == "a is called b since version 0.9 and goes in 0.10; write b."
    assert issubclass(OldNameWarning, CalibrationWarning)
    assert issubclass(OldNameWarning, DeprecationWarning)


def test_an_old_argument_is_taken_as_the_new_one():
    with pytest.warns(OldNameWarning, match="loss= is called objective=") as caught:
        part = Part(loss="brier")
    assert caught[0].filename == __file__
    assert part.objective == "brier"
    with pytest.raises(TypeError, match="both objective= and its old name loss="):
        Part(loss="brier", objective="brier")
    with pytest.raises(TypeError):
        Part(looss="brier")


def test_scikit_learn_sees_the_new_names_alone():
    assert Part(objective="brier").get_params() == {"objective": "brier"}
    assert clone(Part(objective="brier")).objective == "brier"
    assert repr(Part(objective="brier")) == "Part(objective='brier')"


def test_an_old_attribute_gives_the_new_one_of_instance_and_class():
    with pytest.warns(OldNameWarning, match=r"Part\.loss is called Part\.objective"):
        assert Part(objective="brier").loss == "brier"


@pytest.mark.parametrize(("value", "now"), [("log", "log_loss"), ("log_loss", "log_loss"), ("else", "else"), (3, 3), (None, None)])
def test_values(value, now, recwarn):
    assert renamed_value("objective", value, {"log": "log_loss"}, since="0.1") == now
    assert [str(w.message).split(" is called ")[0] for w in recwarn] == (['objective="log"'] if value == "log" else [])


def test_as_errors_old_names_stop_a_test_run():
    with pytest.raises(OldNameWarning):
        Part(loss="brier")
    assert not issubclass(OldNameWarning, InputError)


@pytest.mark.parametrize(
    ("cls", "old"), [(cb.CategoryTemperature, "log"), (cb.AwardTemperature, "log"), (cb.TemperatureScaling, "nll"), (cb.VennAbers, "log")]
)
def test_loss_is_an_old_name_of_the_objective(cls, old):
    with pytest.warns(OldNameWarning, match="loss= is called objective= since version 0.2"):
        part = cls(loss=old)
    with pytest.warns(OldNameWarning, match=f'objective="{old}" is called objective="log_loss"'):
        part.fit([0.1, 0.4, 0.8, 0.6] * 10, [0, 1, 1, 0] * 10)
    assert "loss" not in vars(part)


def test_a_file_written_before_a_rename_is_read_under_the_new_names():
    cal = cb.load(Path(__file__).parent.parent / "golden" / "temperature-v1.calibrant")
    assert (cal.objective, "loss" in vars(cal)) == ("log_loss", False)
    assert cal.get_params()["objective"] == "log_loss"
