"""The tests that concern a file are found, the nearest first, and the time they may take is
kept.
"""

import time

import pytest
from tools.near import ROOT, Clock, near


def test_the_nearest_come_first():
    found = [
        test.relative_to(ROOT).as_posix()
        for test in near(ROOT / "src" / "calibrant" / "reporting" / "miscalibration.py")
    ]
    assert found[0] == "tests/reporting/test_miscalibration.py"
    assert "tests/reporting/event/test_task.py" in found


def test_what_is_left_when_the_time_is_over_is_skipped():
    Clock(60.0).pytest_runtest_setup(None)
    late = Clock(0.0)
    late.pytest_runtest_setup(None)
    time.sleep(0.01)
    with pytest.raises(pytest.skip.Exception, match="out of time"):
        late.pytest_runtest_setup(None)
