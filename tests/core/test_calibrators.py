"""Every exported calibrator, of classes, forecasts and questions, keeps the contract."""

import pytest

from calibrant.testing import (
    all_calibrators,
    all_question_calibrators,
    all_regression_calibrators,
    calibrator_checks,
    parameters,
)

EXAMPLES = [*all_calibrators(), *all_regression_calibrators(), *all_question_calibrators()]


@pytest.mark.parametrize(
    "check", parameters(c for example in EXAMPLES for c in calibrator_checks(example))
)
def test_calibrator_keeps_the_contract(check):
    check()
