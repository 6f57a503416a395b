"""The tools that guard a change of the house: what they count, and what they call a difference."""

import ast
import json
import sys
from types import ModuleType

import pytest
from tools.compare_numbers import MAP, compare, without_words
from tools.measure import places_that_ask_for_the_kind
from tools.numbers_program import named

from calibrant.calibrators import TemperatureScaling


def test_names_may_be_renamed_and_words_may_change_but_no_number_may():
    before = {"old/sentence": "12 rows said .5", "old/value": (0.5).hex()}
    now = {"new/sentence": "predicted .5 on 12 rows", "new/value": (0.5).hex()}
    assert compare(
        without_words(before, ["/sentence$"], {"^old/": "new/"}), without_words(now, ["/sentence$"])
    ) == ["differs new/sentence: 2 numbers -> 2 numbers"]
    assert compare({**now, "metric/gone": "1"}, now, ["^metric/"]) == []
    assert compare(now, {}, ["^metric/"]) == ["gone new/sentence", "gone new/value"]
    same = {**now, "new/sentence": "12 rows, predicted .5"}
    assert (
        compare(
            without_words(before, ["/sentence$"], {"^old/": "new/"}),
            without_words(same, ["/sentence$"]),
        )
        == []
    )
    assert compare(same, {**same, "new/value": (0.25).hex()}) == ["differs new/value: 0.5 -> 0.25"]
    assert compare(same, {}) == ["gone new/sentence", "gone new/value"]


def test_the_committed_map_can_be_read():
    assert json.loads(MAP.read_text("utf-8")).keys() == {"gone", "renamed", "texts"}


def test_a_name_is_looked_up_in_the_folders_of_either_house(monkeypatch):
    area = ModuleType("calibrant.calibrators")
    area.MovedScaling, area.replay = TemperatureScaling, ModuleType("calibrant.calibrators.replay")
    later = ModuleType("calibrant.tables")
    later.replay = print
    monkeypatch.setitem(sys.modules, area.__name__, area)
    monkeypatch.setitem(sys.modules, later.__name__, later)
    assert named("TemperatureScaling") is named("MovedScaling") is TemperatureScaling
    assert named("replay") is print
    with pytest.raises(AttributeError, match="Departed"):
        named("Departed")


def test_a_place_that_asks_for_the_kind_is_counted_however_it_asks():
    code = (
        'a.task\n"regression"\nisinstance(a, Forecast)\nstd is not'
        " None\nis_forecast(a)\nstd\nisinstance(a, str)\na.domain is REGRESSION\n"
    )
    assert places_that_ask_for_the_kind(ast.parse(code)) == 6
