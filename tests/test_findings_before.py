"""``tools/findings_before.py`` counts a failure only where it is about the finding."""

import pytest
from tools.findings_before import is_own, outcomes

TEST = """
import pytest
import calibrant

def test_passes():
    pass

def test_wrong_number():
    assert 1 + 1 == 3

def test_not_raised():
    with pytest.raises(ValueError):
        pass

def test_another_name():
    calibrant.no_such_name()

@pytest.mark.xfail(strict=True, reason="issue 35")
def test_open():
    raise AssertionError("still wrong")
"""


@pytest.mark.parametrize(
    ("reason", "own"),
    [
        ("AssertionError: assert 0.5 < 0.1", True),
        ("Failed: DID NOT RAISE <class 'ValueError'>", True),
        ("AttributeError: 'NoneType' object has no attribute 'nodes'", True),
        ("ImportError: cannot import name 'x' from 'calibrant'", False),
        ("TypeError: fit() got an unexpected keyword argument 'groups'", False),
        ("AttributeError: module 'calibrant' has no attribute 'x'", False),
        ("AssertionError: Error: No such option '--max-error'.", False),
    ],
)
def test_a_name_of_today_is_no_reason(reason, own):
    assert is_own(reason) == own


def test_outcomes_of_a_round(tmp_path):
    folder = tmp_path / "tests" / "findings"
    folder.mkdir(parents=True)
    (folder / "test_g01_made_up.py").write_text(TEST, encoding="utf-8")
    found = outcomes(tmp_path, "g", {"g01"}, marked=True)
    kinds = {name.split("::")[1]: (one.outcome, one.own) for name, one in found.items()}
    assert kinds == {
        "test_passes": ("passed", False),
        "test_wrong_number": ("failed", True),
        "test_not_raised": ("failed", True),
        "test_another_name": ("failed", False),
        "test_open": ("open", False),
    }
