"""Everything that makes prediction sets keeps its contract, the promise among the rest."""

import pytest

from calibrant import ConformalSets
from calibrant.decisions import ConditionalSets
from calibrant.testing import all_sets, parameters, set_checks

#: Ways of working that the examples leave out: they need groups, or many classes.
MORE = [
    ConformalSets(by="groups"),
    ConformalSets("aps", by="overlapping", never_empty=True),
    ConformalSets(by="class", never_empty=True),
    ConformalSets("margin", by="similar_classes"),
    ConformalSets("ordered", by="groups"),
    ConformalSets("ordered", by="overlapping", randomised=False, never_empty=True),
    ConditionalSets("ordered"),
]


@pytest.mark.parametrize(
    "check", parameters(c for example in [*all_sets(), *MORE] for c in set_checks(example))
)
def test_sets_keep_the_contract(check):
    check()
