"""The page of coverage takes new rows and keeps those of other metrics."""

from benchmarks.metrics.coverage import PAGE, chosen
from benchmarks.metrics.coverage_page import page

ROW = {
    "metric": "aurc",
    "model": "sharp",
    "n": 50,
    "drawn": 10,
    "repeats": 10,
    "truth": 0.5,
    "coverage": 0.2,
    "error": 0.1,
    "too low": 0.8,
    "too high": 0.0,
    "width": 0.25,
    "seed": 7,
}


def test_without_rows_the_page_stays():
    told = PAGE.read_text(encoding="utf-8")
    assert page([], chosen(), told) == told


def test_the_rows_of_a_metric_take_the_place_of_its_old_ones_in_every_table():
    told = PAGE.read_text(encoding="utf-8")
    new = page([ROW], chosen(), told).splitlines()
    line = (
        '   "aurc", "sharp", "50", "0.5", "20.0 %", "10.0", "80.0, 0.0", "0.25", "", "", "10", "7"'
    )
    # Among the simulations, and among those below 93 %.
    assert [one for one in new if one.startswith('   "aurc"') and "area in" not in one] == [
        line,
        line,
    ]
    other = [one for one in told.splitlines() if not one.startswith('   "aurc"')]
    assert [one for one in new if not one.startswith('   "aurc"')] == other


def test_a_hard_table_takes_the_place_of_its_old_one():
    told = PAGE.read_text(encoding="utf-8")
    now, before = (
        {"separated": {"a law, n = 9: holds": [0.5, ".95", 8]}},
        {"separated": {"a law, n = 9: holds": [0.25, ".95", 8]}},
    )
    new = page([], chosen(), told, (now, before)).splitlines()
    line = '   "separated", "a law, n = 9: holds", ".95", "0.250", "0.500", "8"'
    assert [one for one in new if one.startswith('   "separated"')] == [line]
    assert [one for one in new if one != line] == [
        one for one in told.splitlines() if not one.startswith('   "separated"')
    ]
