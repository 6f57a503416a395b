"""A budget drops the dearest candidates first."""

from types import SimpleNamespace

import pytest

from calibrant.calibrators.candidates import affordable

CANDIDATES = [SimpleNamespace(cost=c) for c in (3.0, 0.0, 10.0, 1.0)]


@pytest.mark.parametrize(
    ("max_cost", "kept"),
    [(None, [0, 1, 3, 10]), (14.0, [0, 1, 3, 10]), (13.9, [0, 1, 3]), (0.5, [0]), (-1.0, [0])],
)
def test_the_dearest_go_first_and_the_cheapest_stays(max_cost, kept):
    assert [c.cost for c in affordable(CANDIDATES, max_cost)] == kept
    assert len(CANDIDATES) == 4
