"""Run the contract checks of calibrant on the extensions of this package."""

import pytest
from towards_rates import Lead, Rate, TowardsRates, absolute_score

from calibrant.testing import (
    calibrator_checks,
    check_map,
    check_metric,
    check_signal,
    check_state,
    parameters,
)


@pytest.mark.parametrize("check", parameters(calibrator_checks(TowardsRates())))
def test_calibrator(check):
    check()


def test_the_others():
    check_map(Rate())
    check_signal(Lead())
    check_metric(absolute_score)
    check_state(absolute_score)
