"""The state that a report advises, for every combination of what was found."""

from itertools import product

import pytest

from calibrant.reporting.miscalibration import (
    CHECKS,
    REMAINS,
    STATES,
    Evidence,
    Miscalibration,
    Words,
    advised_state,
    in_words,
    points,
)

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


WORDS = Words(
    "risks",
    "The risks are too high.",
    "The risks match what happens.",
    "Calibration brings the mean gap from 5 to 1 points.",
    "40 events in 900 rows",
    900.0,
)
VETO = "The columns look exchanged: compare their order with that of the classes."


def every_combination():
    """Evidence of each combination of facts, what is better, and the facts."""
    for values in product((False, True), repeat=6):
        facts = dict(zip(FACTS, values, strict=True))
        before = found(
            facts["seen"], facts["within"], facts["shows"], 0.05 if facts["large"] else 0.001
        )
        for seen, within, shows, known in product((False, True), repeat=4):
            after = found(seen, within, shows) if known else None
            where = "education 6" if within else None
            veto = VETO if facts["vetoed"] else None
            yield Evidence(before, after, veto, (0.9, 0.7), where), facts


@pytest.mark.parametrize("calibrated", ["none", "unknown", "no clear gain", "use", "do not use"])
def test_every_combination_has_a_sentence_and_an_action_that_fit_its_state(calibrated):
    told = set()
    for evidence, facts in every_combination():
        state = evidence.state(facts["better"])
        sentence, action = in_words(state, WORDS, evidence, calibrated)
        told.add(state)
        for words in (sentence, action):
            assert words[0] == words[0].upper()
            assert words.endswith(".")
            assert not words.endswith("..")
            assert "  " not in words
            assert " ." not in words
        assert (sentence == VETO) == (state == STATES[0]) == facts["vetoed"]
        assert action.startswith(ACTIONS[state])
        assert (WORDS.fine in sentence) == (state == "fine as it is")
        assert (WORDS.rows in sentence) == (state == "too few rows to say")
        faulty = state in ("calibrate before use", "better, but still off", "off, no remedy shown")
        assert (WORDS.fault in sentence) == (faulty and evidence.before.seen)
    assert told == {*STATES}


@pytest.mark.parametrize("state", STATES)
def test_a_badge_is_not_contradicted_by_its_action(state):
    """What may be used is advised under no other badge, and what may not be is said to be so."""
    for evidence, facts in every_combination():
        if evidence.state(facts["better"]) == state:
            action = in_words(state, WORDS, evidence, "no clear gain")[1]
            assert ("Use the calibrated risks" in action) == (
                state in ("calibrate before use", "better, but still off")
            )
            assert ("Keep the risks" in action) == (state == "fine as it is")
            assert ("more rows" in action or "Collect rows" in action) == (
                state in ("off, no remedy shown", "too few rows to say")
            )


#: How the action of each state begins.
ACTIONS = {
    "check the data first": "Check the data before you use any number",
    "calibrate before use": "Use the calibrated risks.",
    "better, but still off": "Use the calibrated risks, ",
    "fine as it is": "Keep the risks as they are.",
    "off, no remedy shown": "Do not act on these risks yet.",
    "too few rows to say": "Collect rows until there are about ",
}


def test_what_remains_is_named_and_few_rows_are_said():
    still = found(True, False, True)
    off = "better, but still off"
    told, todo = in_words(off, WORDS, Evidence(still, still), "no clear gain")
    assert told.endswith(
        "Calibration helps, but they are still too extreme, or not extreme enough."
    )
    assert todo == "Use the calibrated risks, and look at where they are still off."
    few, sure = (Evidence(still, found(False, within, False)) for within in (False, True))
    use = "calibrate before use"
    assert in_words(use, WORDS, few, "no clear gain")[1] == (
        "Use the calibrated risks. Check them again on new rows."
    )
    assert in_words(use, WORDS, sure, "no clear gain")[1] == "Use the calibrated risks."
    lost = Evidence(found(False, False, False))
    told, todo = in_words("too few rows to say", WORDS, lost, "no clear gain")
    assert told.startswith("40 events in 900 rows are too few to tell whether the risks are right")
    assert "an error of 10 points could go unseen" in told
    assert todo == "Collect rows until there are about 22,000, then measure again."


def test_a_group_that_stays_off_is_not_to_be_used_for():
    still = found(True, False, True)
    grouped = Miscalibration(0.01, {"offset": 0.5, "group": 0.01}, 0.9, 0.05, {"group": 0.01}, 0.02)
    one = Evidence(still, grouped, where="education 6 and 2 other groups")
    told, todo = in_words("better, but still off", WORDS, one, "no clear gain")
    assert told.endswith("but they are still off for education 6 and 2 other groups.")
    assert todo.endswith("but not for education 6 and 2 other groups; calibrate by group.")
    every = in_words(
        "better, but still off", WORDS, Evidence(still, grouped, None, None, "all 4 groups"), "use"
    )
    assert every[1] == "Calibrate by group before use: the risks are right for none yet."
    for where in ("education 6 and 2 other groups", "all 8 groups"):
        tried = Evidence(still, grouped, where=where, by_group=True)
        todo = in_words("better, but still off", WORDS, tried, "use")[1]
        assert "calibrate by group" not in todo.lower()
    unnamed = in_words("better, but still off", WORDS, Evidence(still, grouped), "no clear gain")
    assert unnamed[0].endswith("but they are still off for a group.")
    assert "but not for" not in unnamed[1]


def test_what_no_row_shows_is_not_called_a_fault():
    """Better scores of rows where nothing is beyond chance before: the fault is not stated."""
    one = Evidence(found(False, False, False), found(False, False, False))
    told, todo = in_words("calibrate before use", WORDS, one, "no clear gain")
    assert WORDS.fault not in told
    assert told == f"As they are, the risks show no error beyond chance. {WORDS.gain}"
    assert todo.startswith("Use the calibrated risks.")


def test_an_error_below_the_margin_is_said_to_be_there():
    small = found(True, False, True, 0.001)
    told, _ = in_words("too few rows to say", WORDS, Evidence(small), "no clear gain")
    assert told == (
        "40 events in 900 rows are too few to tell whether the risks are off by more than 2 points."
    )


def test_no_remedy_names_what_was_tried():
    off = Evidence(found(True, False, True, 0.05))
    state = "off, no remedy shown"
    assert in_words(state, WORDS, off, "none") == (
        "The risks are too high.",
        "Do not act on these risks yet. Fit a calibrator, and measure it on rows that it has not"
        " seen.",
    )
    told, todo = in_words(state, WORDS, off, "no clear gain")
    assert (
        told == "The risks are too high. The calibration tried does not make them clearly better."
    )
    assert todo.endswith("Try another calibrator, more rows or other features.")


@pytest.mark.parametrize("name", [*CHECKS, "spread", "shape", "coverage", "std"])
def test_each_check_has_words_for_what_remains(name):
    still = Miscalibration(0.01, {name: 0.01, "other": 0.5}, 0.9, 0.05, {"offset": 0.01}, 0.02)
    told, _ = in_words("better, but still off", WORDS, Evidence(still, still), "no clear gain")
    assert f"Calibration helps, but {REMAINS[name]}." in told


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0.25, "25 points"),
        (0.02, "2 points"),
        (0.01, "1 point"),
        (0.0124, "1.2 points"),
        (0.00042, "0.042 points"),
        (0.0, "0 points"),
    ],
)
def test_points(size, words):
    assert points(size) == words


def test_rows_calibrated_on_say_nothing_of_what_is_left():
    assert (
        advised_state(False, True, found(True, False, True, 0.05), None) == "off, no remedy shown"
    )
