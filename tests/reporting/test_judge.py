"""The state that a report advises, for every combination of what was found, and its words."""

from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import pytest

from calibrant.reporting.compared_scores import Gain, gain_of
from calibrant.reporting.judge import (
    CALIBRATED,
    REMAINS,
    STATES,
    Changed,
    Evidence,
    Words,
    advised_state,
    judged,
)
from calibrant.reporting.miscalibration import CHECKS, Miscalibration, points

MARGIN = 0.02
WORDS = Words(
    "overestimates",
    "risks",
    "a risk",
    "The risks are too high.",
    "30 % predicted on average, 29 % observed",
    "40 events in 900 rows",
)
VETO = "The columns look exchanged: compare their order with that of the classes."
CHANGED = Changed("2024-06", 0.3, 0.45, 1234.0, "re-fit")


def measured(low: float = 0.0, high: float = 0.05, seen: bool = False, **more) -> Miscalibration:
    return Miscalibration(
        0.01 if seen else 0.6,
        {"offset": 0.5, "slope": 0.01 if seen else 0.4},
        0.7,
        MARGIN,
        5600.0,
        900.0,
        900.0,
        low,
        high,
        **more,
    )


def gain(nats: float, share: float = 0.02) -> Gain:
    return Gain(nats, share, "the log loss falls by 2 %")


#: The first that holds: what is so, and the state.
TABLE = [
    ({"vetoed": True}, "check the data first"),
    ({"few": True}, "too few rows"),
    ({"changed": True}, "it has changed"),
    ({"helps": True, "by_group": True, "repaired": True}, "calibrate by group"),
    ({"helps": True}, "calibrate"),
    ({"off": True, "tried": True}, "off, and nothing tried helps"),
    ({"off": True}, "off, and no calibrator was tried"),
    ({}, "use as they are"),
]
FACTS = ("vetoed", "few", "changed", "helps", "by_group", "repaired", "off", "tried")


def every_combination():
    """The evidence of each combination of facts, and the facts."""
    for values in product((False, True), repeat=len(FACTS)):
        facts = dict(zip(FACTS, values, strict=True))
        if facts["helps"] and not facts["tried"]:
            continue
        yield (
            Evidence(
                measured(0.03 if facts["off"] else 0.0, seen=facts["off"]),
                measured() if facts["tried"] else None,
                VETO if facts["vetoed"] else None,
                "about 10 events" if facts["few"] else None,
                (0.9, 0.7),
                gain(9.0 if facts["helps"] else 1.0) if facts["tried"] else None,
                CHANGED if facts["changed"] else None,
                None,
                "for site 3, where 30 % is predicted and 40 % observed"
                if facts["repaired"]
                else "",
                0.0,
                facts["repaired"],
                facts["by_group"],
            ),
            facts,
        )


def test_every_combination_of_facts_has_the_first_state_of_the_table():
    states = set()
    for evidence, facts in every_combination():
        wanted = next(s for row, s in TABLE if all(facts[name] for name in row))
        assert advised_state(evidence) == wanted, facts
        states.add(wanted)
    assert states == {*STATES}


def test_every_combination_has_a_sentence_and_an_action_that_fit_its_state():
    for evidence, _ in every_combination():
        found = judged(evidence, WORDS, "none")
        for words in (found.sentence, found.action):
            assert words[0] == words[0].upper()
            assert words.endswith(".")
            assert not words.endswith("..")
            assert "  " not in words
            assert " ." not in words
        assert (found.sentence == VETO) == (found.state == "check the data first")
        assert ("Use the risks as they are" in found.action) == (found.state == "use as they are")
        assert ("calibrated" in found.action) == (found.state in CALIBRATED)
        assert ("Do not act" in found.action) == found.state.startswith("off")
        told = f"at most {points(0.05)}" in found.sentence or " to 5 points" in found.sentence
        assert told == (found.state not in ("check the data first", "too few rows", CHANGED_STATE))
        assert found.off_by["before"][1] == pytest.approx(5.0)


CHANGED_STATE = "it has changed"


@pytest.mark.parametrize(
    ("nats", "share", "state"),
    [
        (2.9, 0.02, "use as they are"),
        (3.1, 0.02, "calibrate"),
        (30.0, 0.002, "use as they are"),
        (-5.0, -0.02, "use as they are"),
    ],
)
def test_a_calibration_is_advised_from_three_nats_on(nats, share, state):
    found = Evidence(measured(), measured(), gain=gain(nats, share))
    assert advised_state(found) == state
    told = judged(found, WORDS, "")
    assert ("probably helps" in told.sentence) == (state == "calibrate")


def test_a_clear_gain_needs_no_second_look():
    few, many = (
        judged(Evidence(measured(0.03, seen=True), measured(high=0.04), gain=gain(n)), WORDS, "")
        for n in (4.0, 9.0)
    )
    assert few.sentence == (
        "The risks are too high. Over all rows a risk is typically off by 3 to 5 points."
        " Calibration probably helps: a risk is then typically within 4 points, and the log loss"
        " falls by 2 %."
    )
    assert few.action == "Use the calibrated risks. Check them again on new rows."
    assert "clearly helps" in many.sentence
    assert many.action == "Use the calibrated risks."


def test_what_nothing_shows_is_used_and_says_how_many_rows_would_show_it():
    found = judged(Evidence(measured()), WORDS, "none")
    assert found.sentence == (
        "40 events in 900 rows show nothing wrong: 30 % predicted on average, 29 % observed; a risk"
        " is typically off by at most 5 points."
    )
    assert found.action == (
        "Use the risks as they are. No calibrator was tried; a report tries one by default."
        " About 5,600 rows in all would show whether they are within 2 points."
    )
    tried = judged(Evidence(measured(), measured(), gain=gain(1.0)), WORDS, "none")
    assert tried.action == (
        "Use the risks as they are. About 5,600 rows in all would show whether they are within 2"
        " points."
    )
    sure = judged(Evidence(measured(0.0, 0.01)), WORDS, "none")
    assert sure.action == "Use the risks as they are."


def test_what_is_shown_to_be_right_everywhere_says_how_far_each_part_can_be_off():
    tails = {"highest 1 %": (-0.03, 0.09), "highest 5 %": (-0.01, 0.04)}
    sure = replace(measured(0.0, 0.01, tails=tails), equivalence=0.01)
    found = judged(Evidence(sure), WORDS, "none")
    assert found.sentence.endswith(
        "a risk is typically off by at most 1 point. They are within 2 points in every fifth of the"
        " rows, the highest 1 % within 9 points, the highest 5 % within 4 points."
    )


def test_a_gain_without_a_fault_says_what_was_predicted_and_observed():
    found = judged(Evidence(measured(), measured(high=0.07), gain=gain(4.0)), WORDS, "use")
    assert found.sentence == (
        "30 % predicted on average, 29 % observed. Over all rows a risk is typically off by at most"
        " 5 points. Calibration probably helps: the log loss falls by 2 %."
    )


def test_a_tail_that_is_surely_off_forbids_their_use():
    tails = {"highest 1 %": (-0.30, -0.20), "lowest 5 %": (-0.01, 0.04)}
    found = judged(Evidence(measured(tails=tails)), WORDS, "none")
    assert found.state == "off, and no calibrator was tried"
    assert "The highest 1 % of the risks are too high by at least 20 points." in found.sentence
    near = measured(tails={"highest 1 %": (-0.30, -0.01)})
    assert advised_state(Evidence(near)) == "use as they are"


def test_a_tail_that_is_off_by_more_than_the_rest_leads():
    tails = {"highest 1 %": (-0.30, -0.20)}
    some = measured(0.01, high=0.05, seen=True, tails=tails)
    found = judged(Evidence(some, measured(high=0.03), gain=gain(9.0)), WORDS, "use")
    assert found.sentence.startswith(
        "The risks are too high. The highest 1 % of the risks are too high by at least 20 points."
    )
    off = measured(0.01, high=0.03, seen=True, tails=tails)
    found = judged(Evidence(off, measured(high=0.03), gain=gain(9.0)), WORDS, "use")
    assert found.sentence.startswith(
        "The highest 1 % of the risks are too high by at least 20 points. Over all rows a risk is"
    )
    mild = measured(0.01, seen=True, tails={"highest 1 %": (0.03, 0.20)})
    found = judged(Evidence(mild, measured(high=0.03), gain=gain(9.0)), WORDS, "use")
    assert found.sentence.startswith("The risks are too high. Over all rows a risk is")


@pytest.mark.parametrize(("nats", "words"), [(1.0, "gains too little"), (-5.0, "makes them worse")])
def test_what_does_not_help_says_whether_it_harms(nats, words):
    found = judged(Evidence(measured(0.03, seen=True), measured(), gain=gain(nats)), WORDS, "")
    assert found.state == "off, and nothing tried helps"
    assert found.sentence.endswith(f"The calibration tried {words}.")


def test_a_group_that_is_surely_off_is_named():
    group = Evidence(measured(), where="site 3", surely=0.04)
    found = judged(group, WORDS, "none")
    assert found.state == "off, and no calibrator was tried"
    assert "They are off for site 3." in found.sentence
    tried = replace(group, after=measured(), gain=gain(9.0), untried=True)
    told = judged(tried, WORDS, "use").action
    assert told.startswith("Use the calibrated risks, but they are still off for site 3")
    assert "calibration by group is tried" in told
    told = judged(replace(tried, by_group=True, untried=False), WORDS, "use").action
    assert told == "Use the calibrated risks, but they are still off for site 3."


@pytest.mark.parametrize(
    ("remedy", "words"),
    [
        (
            "re-offset",
            "Fit a calibrator on the 1,234 rows since 2024-06; one shift of all risks would do"
            " too.",
        ),
        ("re-fit", "Fit a calibrator on the 1,234 rows since 2024-06."),
        ("wait", "Collect more rows after 2024-06, then fit the calibrator on them."),
    ],
)
def test_a_change_is_dated_and_has_its_remedy(remedy, words):
    found = judged(Evidence(measured(), changed=replace(CHANGED, remedy=remedy)), WORDS, "none")
    assert found.state == "it has changed"
    assert found.sentence == (
        "The risks have changed since 2024-06: 30.0 % predicted, 45.0 % observed in 1,234 rows."
    )
    assert found.action == words


@pytest.mark.parametrize("name", [*CHECKS, "spread", "shape", "coverage", "std"])
def test_each_check_has_words_for_what_remains(name):
    after = Miscalibration(
        0.01,
        {name: 0.01, "other": 0.5},
        0.9,
        0.02,
        5600.0,
        900.0,
        900.0,
        0.03,
        0.06,
    )
    found = judged(Evidence(measured(), after, gain=gain(9.0)), WORDS, "use")
    assert found.action == f"Use the calibrated risks, but {REMAINS[name]}."


def score(before, after):
    return SimpleNamespace(
        name="log loss",
        before=SimpleNamespace(value=before),
        after=None if after is None else SimpleNamespace(value=after),
    )


def test_the_gain_is_of_all_rows():
    found = gain_of(score(0.5, 0.49), 1000.0, relative=True)
    assert found.nats == pytest.approx(10.0)
    assert found.share == pytest.approx(0.02)
    assert found.words == "the log loss falls by 2.0 %"
    bars = gain_of(score(-0.5, -0.6), 100.0, relative=False)
    assert (bars.nats, bars.share) == (pytest.approx(10.0), pytest.approx(0.1))
    assert gain_of(score(0.5, None), 10.0, relative=True) is None
    assert gain_of(score(None, 0.3), 10.0, relative=True) is None


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
