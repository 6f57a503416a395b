"""Every exported calibrator, of any kind of prediction, keeps the contract."""

import pytest

from calibrant.testing import calibrator_checks, every_calibrator, parameters


@pytest.mark.parametrize(
    "check", parameters(c for example in every_calibrator() for c in calibrator_checks(example))
)
def test_calibrator_keeps_the_contract(check):
    check()
