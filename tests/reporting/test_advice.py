"""The state that a report advises, for every combination of what was found."""

from itertools import product

import pytest

from calibrant.reporting.advice import STATES, Evidence, advised_state
from calibrant.reporting.miscalibration import Miscalibration

MARGIN = 0.02


def found(seen: bool, within: bool, shows: bool, excess: float = 0.0) -> Miscalibration:
    detectable = {"offset": 0.01 if shows else 0.1, "slope": 0.015, "group": 0.02}
    checks = {"offset": 0.5, "slope": 0.01 if seen else 0.4}
    return Miscalibration(
        0.01 if seen else 0.6, checks, 0.01 if within else 0.7, excess, detectable, MARGIN
    )


#: (vetoed, better, before, after) -> state; None stands for either.
TABLE = [
    ({"vetoed": True}, "check the data first"),
    ({"vetoed": False, "better": True, "after": (False, False)}, "calibrate before use"),
    ({"vetoed": False, "better": True, "after": (False, True)}, "calibrate before use"),
    ({"vetoed": False, "better": True, "after": (True, True)}, "calibrate before use"),
    ({"vetoed": False, "better": True, "after": (True, False)}, "better, but still off"),
    ({"vetoed": False, "better": False, "within": True}, "fine as it is"),
    (
        {"vetoed": False, "better": False, "within": False, "seen": False, "shows": True},
        "fine as it is",
    ),
    (
        {"vetoed": False, "better": False, "within": False, "seen": True, "large": True},
        "off, no remedy shown",
    ),
    (
        {"vetoed": False, "better": False, "within": False, "seen": True, "large": False},
        "too few rows to say",
    ),
    (
        {"vetoed": False, "better": False, "within": False, "seen": False, "shows": False},
        "too few rows to say",
    ),
]
FACTS = ("vetoed", "better", "seen", "within", "shows", "large")


def test_every_combination_of_facts_has_the_state_of_the_table():
    for values in product((False, True), repeat=6):
        for after in product((False, True), repeat=2):
            facts = {**dict(zip(FACTS, values, strict=True)), "after": after}
            wanted = [
                state
                for row, state in TABLE
                if all(facts[name] == value for name, value in row.items())
            ]
            assert len(wanted) == 1, facts
            before = found(
                facts["seen"], facts["within"], facts["shows"], 0.05 if facts["large"] else 0.001
            )
            assert (
                advised_state(facts["vetoed"], facts["better"], before, found(*after, shows=True))
                == wanted[0]
            )


@pytest.mark.parametrize(("row", "state"), TABLE)
def test_the_words_of_a_state_begin_with_it(row, state):
    before = found(
        row.get("seen", False),
        row.get("within", False),
        row.get("shows", False),
        0.05 if row.get("large") else 0.001,
    )
    after = found(*row["after"], shows=False) if "after" in row else None
    veto = "The columns look exchanged." if row["vetoed"] else None
    told, sentence = Evidence(before, after, veto).advice(row.get("better", False))
    assert told == state
    assert told in STATES
    assert sentence.lower().startswith(state.split(",")[0])
    assert sentence.endswith(".")


def test_what_remains_is_named_and_few_rows_are_said():
    still = found(True, False, True)
    assert (
        Evidence(still, still).advice(True)[1]
        == "Better, but still off: it is still too sure, or not sure enough."
    )
    assert "few rows to confirm" in Evidence(still, found(False, False, False)).advice(True)[1]
    assert Evidence(still, found(False, True, False)).advice(True)[1] == "Calibrate before use."
    assert (
        "about 25 times as many would show an error of 2 points"
        in Evidence(found(False, False, False)).advice(False)[1]
    )


def test_rows_calibrated_on_say_nothing_of_what_is_left():
    assert (
        advised_state(False, True, found(True, False, True, 0.05), None) == "off, no remedy shown"
    )
