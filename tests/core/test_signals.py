"""Every exported signal keeps the contract of a signal."""

import pytest

from calibrant.testing import all_signals, parameters, signal_checks


@pytest.mark.parametrize(
    "check", parameters(c for example in all_signals() for c in signal_checks(example))
)
def test_signal_keeps_the_contract(check):
    check()
