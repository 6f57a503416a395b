"""The tools that guard a change of the house: what they count, and what they call a difference."""

import ast
import json

from tools.compare_numbers import MAP, compare, without_words
from tools.measure import places_that_ask_for_the_kind


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


def test_a_place_that_asks_for_the_kind_is_counted_however_it_asks():
    code = (
        'a.task\n"regression"\nisinstance(a, Forecast)\nstd is not'
        " None\nis_forecast(a)\nstd\nisinstance(a, str)\na.domain is REGRESSION\n"
    )
    assert places_that_ask_for_the_kind(ast.parse(code)) == 6
