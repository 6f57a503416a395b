"""The groups that a page draws: all levels of every column, and of their crossings those that are
off.
"""

import re

import numpy as np
import pandas as pd
import pytest

import calibrant as cb
from calibrant.reporting.figures import MARGIN, WIDTH, dots, gap_words
from calibrant.reporting.judge import CALIBRATED


def world(n=12_000, n_levels=4, off=True):
    """Risks that are right but in the west, and in a crossing of young and north."""
    rng = np.random.default_rng(0)
    region = rng.integers(n_levels, size=n)
    age = np.array(["young", "old"])[rng.integers(2, size=n)]
    z = rng.normal(0.0, 1.2, n)
    wrong = 0.9 * (region == 3) - 1.2 * ((region == 0) & (age == "young")) if off else 0.0
    y = (rng.random(n) < 1.0 / (1.0 + np.exp(-z - wrong))).astype(int)
    frame = pd.DataFrame({"region": region.astype(str), "age": age})
    return y, 1.0 / (1.0 + np.exp(-z)), frame


@pytest.fixture(scope="module")
def found():
    y, p, frame = world()
    return cb.report(y, p, groups=frame, calibrator=cb.Platt(), n_resamples=0)


def levels_of(frame):
    return [f"{name} {level}" for name in frame for level in sorted(set(frame[name]))]


def test_all_levels_of_every_column_are_drawn_column_by_column(found):
    y, p, frame = world()
    drawn = found.to_dict()["audit"]["drawn"]
    names = [row["group"] for row in drawn["levels"]]
    assert sorted(names) == sorted(levels_of(frame))
    columns = [name.split()[0] for name in names]
    assert columns in (["region"] * 4 + ["age"] * 2, ["age"] * 2 + ["region"] * 4)
    for row in drawn["levels"]:
        column, level = row["group"].split()
        inside = (frame[column] == level).to_numpy()
        assert row["n"] == inside.sum()
        assert row["before"]["said"] == pytest.approx(p[inside].mean())
        assert row["before"]["came"] == pytest.approx(y[inside].mean())
        assert row["before"]["gap"] == pytest.approx(p[inside].mean() - y[inside].mean())
        for when in ("before", "after"):
            assert row[when]["low"] <= row[when]["gap"] <= row[when]["high"]


def test_of_the_crossings_only_those_off_are_drawn(found):
    audit = found.to_dict()["audit"]
    drawn = audit["drawn"]
    crossings = {row["group"]: row for row in drawn["crossings"]}
    assert any("region 0" in name and "age young" in name for name in crossings)
    for row in crossings.values():
        assert "off" in (row["before"]["outcome"], row["after"]["outcome"])
    every = 4 + 2 + 8
    assert audit["before"]["n_groups"] == every
    assert drawn["others"] == every - len(drawn["levels"]) - len(crossings)
    off = {*audit["before"]["off"], *audit["after"]["off"]}
    assert off <= {row["group"] for row in (*drawn["levels"], *drawn["crossings"])}


def test_right_risks_draw_no_crossing_and_fold_nothing_that_is_off():
    y, p, frame = world(off=False)
    report = cb.report(y, p, groups=frame, calibrator=cb.calibrators.Identity(), n_resamples=0)
    drawn = report.to_dict()["audit"]["drawn"]
    assert drawn["crossings"] == []
    assert len(drawn["levels"]) == 6
    assert {row["after"] for row in drawn["levels"]} == {None}
    assert {row["before"]["outcome"] for row in drawn["levels"]} == {"holds"}
    pytest.importorskip("jinja2")
    page = report.to_html()
    assert "0 of 14 groups are off." in page
    assert "Crossings of two columns" not in page
    assert drawn["few"] == 1
    assert "8 other groups are not drawn (1 has too few rows to tell);" in page


def test_at_most_twenty_levels_are_drawn_those_off_among_them():
    y, p, frame = world(30_000, n_levels=25)
    drawn = cb.report(
        y, p, groups=frame, calibrator=cb.calibrators.Identity(), n_resamples=0
    ).to_dict()
    audit, drawn = drawn["audit"], drawn["audit"]["drawn"]
    names = [row["group"] for row in drawn["levels"]]
    assert len(names) == len(set(names)) == 20
    assert "region 3" in names
    assert set(audit["before"]["off"]) & set(levels_of(frame)) <= set(names)
    columns = [name.split()[0] for name in names]
    assert columns == sorted(columns, reverse=columns[0] == "region")
    assert len(drawn["crossings"]) <= 12
    assert drawn["others"] == audit["before"]["n_groups"] - 20 - len(drawn["crossings"])


def test_groups_of_few_rows_are_counted_not_judged():
    y, p, frame = world(2_000)
    frame.loc[:4, "region"] = "tiny"
    found = cb.report(
        y, p, groups=frame, calibrator=cb.calibrators.Identity(), n_resamples=0
    ).to_dict()
    drawn = found["audit"]["drawn"]
    tiny = next(row for row in drawn["levels"] if row["group"] == "region tiny")
    assert tiny["n"] == 5
    assert gap_words(tiny["before"]) == "too few rows"
    assert 2 <= drawn["few"] <= drawn["others"]


def test_each_line_of_the_page_says_the_numbers_of_its_group(found):
    pytest.importorskip("jinja2")
    page = found.to_html()
    band = page[page.index('<h2 id="wrong">') : page.index('<h2 id="metrics">')]
    lines = dict(re.findall(r'<tr data-group="([^"]*)">(.*?)</tr>', band, re.DOTALL))
    drawn = found.to_dict()["audit"]["drawn"]
    rows = [*drawn["levels"], *drawn["crossings"]]
    assert len(lines) == len(rows)
    for row in rows:
        line, last = lines[row["group"]], row["after"]
        assert f"{100 * last['said']:.1f} %" in line
        assert f"{100 * last['came']:.1f} %" in line
        assert f"{100 * last['gap']:+.1f}".replace("-", "−") in line
        assert f">{gap_words(last)}</span>" in line
        assert line.count("<circle") == line.count('<path class="whisker"') == 2
    audit = found.to_dict()["audit"]
    n_off = {when: audit[when]["n_off"] for when in ("before", "after")}
    told = f"{n_off['after']} of 14 groups are off after calibration ({n_off['before']} before)"
    assert told in band
    moved = found.to_dict()["verdict"]["state"] in CALIBRATED
    shown = f"{n_off['before']} → {n_off['after']}" if moved else f"{n_off['before']}"
    assert f"<dd>{shown} <small>of 14 groups" in page


def row(name, gap, low, high, outcome):
    one = {"said": 0.5, "came": 0.5 - gap, "gap": gap, "low": low, "high": high}
    return {"group": name, "n": 100.0, "before": {**one, "outcome": outcome}, "after": None}


def drawn_of(*levels):
    return dots(levels=list(levels), crossings=[])


def test_places_lie_on_one_scale_around_the_middle():
    found = drawn_of(
        row("a", 0.1, 0.05, 0.15, "off"),
        row("b", -0.1, -0.15, -0.05, "off"),
        row("c", 0.0, -0.05, 0.05, "holds"),
    )
    a, b, c = (one["places"]["before"] for one in found["levels"])
    assert c["gap"] == WIDTH / 2
    assert a["gap"] + b["gap"] == pytest.approx(WIDTH, abs=0.1)
    assert a["high"] == WIDTH - MARGIN
    assert b["low"] == MARGIN
    assert [one["words"] for one in found["levels"]] == ["too high", "too low", "right"]
    assert found["half"] == 0.15


def test_an_interval_of_few_rows_is_cut_and_does_not_press_the_others_together():
    wide = row("wide", 0.0, -0.9, 0.9, "not enough data")
    found = drawn_of(row("a", 0.1, 0.05, 0.15, "off"), wide)
    assert found["half"] == 0.25
    places = found["levels"][1]["places"]["before"]
    assert 0.0 < places["low"] < MARGIN
    assert WIDTH - MARGIN < places["high"] < WIDTH
    assert found["levels"][1]["words"] == "too few rows"
    assert drawn_of(row("zero", 0.0, 0.0, 0.0, "holds"))["levels"][0]["places"]["before"] == {
        "gap": WIDTH / 2,
        "low": WIDTH / 2,
        "high": WIDTH / 2,
    }
