"""Every exported map keeps the contract of a map."""

import pytest

from calibrant.testing import all_maps, map_checks, parameters


@pytest.mark.parametrize(
    "check", parameters(c for example in all_maps() for c in map_checks(example))
)
def test_map_keeps_the_contract(check):
    check()
