"""What may come of a case of the grid, and what is counted as a failure."""

import warnings

import numpy as np
import pytest
from tools import contract_grid

from calibrant.errors import CalibrationWarning, InputError
from calibrant.testing.check import Case, require_good, settle
from calibrant.testing.containers import CONTAINERS, contents, present

REFUSAL = "P must be finite; row 1 is nan; drop it."


def _raises(error):
    def call():
        raise error

    return call


def _warns(category):
    return lambda: warnings.warn("odd", category, stacklevel=2)


def _right(answer):
    assert answer == 1, f"it is {answer}"


def case(call, **options):
    return Case("made", "a case", "P", call, _right, **options)


@pytest.mark.parametrize(
    ("tried", "kind"),
    [
        (case(lambda: 1), "right"),
        (case(lambda: 2), "wrong"),
        (case(lambda: 1, answered=False), "wrong"),
        (case(_raises(InputError(REFUSAL))), "clear error"),
        (case(_raises(InputError(REFUSAL)), refused=False), "wrong"),
        (case(_raises(InputError("y must be finite; row 1 is nan."))), "obscure"),
        (case(_raises(InputError("P is bad"))), "obscure"),
        (case(_raises(InputError(REFUSAL + "\n"))), "obscure"),
        (case(_raises(InputError(REFUSAL + 1000 * "."))), "obscure"),
        (case(_raises(ValueError(REFUSAL))), "obscure"),
        (case(_warns(RuntimeWarning)), "obscure"),
        (case(_warns(CalibrationWarning)), "wrong"),
    ],
)
def test_outcomes(tried, kind):
    assert settle(tried).kind == kind


def test_every_bad_case_is_named():
    require_good([case(lambda: 1)])
    with pytest.raises(AssertionError, match="1 of 2 cases: a case: wrong, it is 2"):
        require_good([case(lambda: 1), case(lambda: 2)])
    with pytest.raises(AssertionError, match="no case was run"):
        require_good([])


@pytest.mark.parametrize("container", CONTAINERS, ids=lambda c: c.name)
def test_a_change_of_what_a_container_holds_is_seen(container):
    if not present(container.needs):
        pytest.skip(f"{container.needs} is not installed")
    for values in (np.arange(6.0), np.arange(6.0).reshape(3, 2)):
        if container.holds(values):
            assert contents(container(values)) == contents(container(values))
            assert contents(container(values)) != contents(container(values + 1.0))


def test_the_tool_counts_and_fails_on_what_is_bad(capsys, monkeypatch):
    monkeypatch.setattr(contract_grid, "PARTS", {"thing": lambda: [1, 2]})
    monkeypatch.setattr(contract_grid, "GRIDS", ({"thing": lambda part: [case(lambda: part)]},))
    assert contract_grid.main(["--show"]) == 1
    out = capsys.readouterr().out
    assert "2, a case: wrong: it is 2" in out
    assert out.splitlines()[-1].split()[:6] == ["all", "2", "1", "0", "1", "0"]
