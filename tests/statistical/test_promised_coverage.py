"""What every method of intervals promises, simulated at length; the contract suite asks the same
of fewer runs.
"""

import pytest

from calibrant.testing import all_regression_calibrators
from calibrant.testing.check import check_guarantee
from calibrant.testing.forecast_checks import LEVELS, realised_coverage

METHODS = all_regression_calibrators()
PROMISING = [one for one in METHODS if realised_coverage(one, 0.8, 1, 40)[0] is not None]


def test_there_are_methods_that_promise_and_methods_that_do_not():
    names = {type(one).__name__ for one in PROMISING}
    assert {"ConformalIntervals", "MondrianIntervals", "IntervalCalibration"} <= names
    assert len(PROMISING) < len(METHODS)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("method", PROMISING, ids=repr)
def test_promises_are_kept_over_many_calibration_sets(method, level):
    in_the_limit = realised_coverage(method, level, 1, 40)[0].guarantee == "asymptotic"
    said, held = realised_coverage(method, level, *((60, 20_000) if in_the_limit else (3000, 23)))
    check_guarantee(said, held)


@pytest.mark.slow
@pytest.mark.parametrize(
    "method", [one for one in PROMISING if type(one).__name__ == "ConformalIntervals"], ids=repr
)
def test_split_conformal_is_not_wider_than_it_must_be(method):
    """No more than one rank above the level, two where each end has its own, of the rows that
    are scores.
    """
    said, held = realised_coverage(method, 0.8, 3000, 23)
    ends = 1 if method.symmetric else 2
    assert held.mean() <= 0.8 + ends / (said.n + 1.0) + 3.0 * held.std() / 3000**0.5
