"""The page of an audit: its state, all groups on one scale, and what the test promises."""

from dataclasses import replace

import numpy as np
import pytest

import calibrant as cb
from calibrant.audits.result import Audit, GroupGap

GROUP = GroupGap(
    where={"sex": "f"},
    question="",
    n=1200.0,
    events=300.0,
    said=0.2,
    came=0.25,
    gap=-0.05,
    low=-0.08,
    high=-0.02,
    ratio=1.25,
    error=0.06,
    error_by_chance=0.01,
    score_gap=0.002,
    shrunk=-0.04,
    p_value=0.01,
    outcome="off",
    found=False,
)
FEW = "not enough data"
LINE = '<tr data-group="'


def audit(*outcomes, **options):
    """An audit of one level a group with these outcomes."""
    groups = [
        replace(GROUP, where={"site": f"s{i}"}, outcome=outcome)
        for i, outcome in enumerate(outcomes)
    ]
    known = {"null": "strong", "level": 0.95, "tolerance": 0.05, "control": "any"}
    return Audit(groups, [GROUP], None, **{**known, "target": "event", **options})


@pytest.mark.parametrize(
    ("outcomes", "state"),
    [
        (["off"], "groups are off"),
        (["off", FEW, FEW, FEW], "groups are off"),
        (["off", "holds"], "groups are off"),
        (["holds"], "use as they are"),
        (["holds", FEW], "use as they are"),
        (["holds", FEW, FEW], "too few rows"),
        ([FEW], "too few rows"),
        ([], "use as they are"),
    ],
)
def test_every_combination_of_outcomes_has_its_state(outcomes, state):
    found = audit(*outcomes)
    summary = cb.report(found).to_dict()
    assert summary["verdict"]["state"] == found.state == state
    assert summary["verdict"]["action"] == found.action
    text = cb.report(found).to_markdown()
    assert text.index(f"**{state.capitalize()}.**") < text.index(f"→ {found.action}")
    assert text.index(found.action) < text.index("## For whom") < text.index("## What is promised")
    assert state.capitalize() in repr(cb.report(found))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "chance to find any of them off would be at most 5 %"),
        ({"level": 0.9}, "at most 10 %"),
        ({"control": "share"}, "At most 5 % of the groups found off are expected"),
        ({"null": "weak"}, "right on average"),
        ({"tolerance": 0.02}, "within 2 points of 0"),
        ({"tolerance": 0.02, "target": "forecast"}, "within 0.02 of 0"),
    ],
)
def test_its_promises_are_those_of_its_options(options, words):
    said = cb.report(audit("off", **options)).to_dict()["promises"]
    assert sum(words in line for line in said) == 1


@pytest.fixture(scope="module")
def found():
    """Women of the south are 20 points too low; one level is hostile, others have few rows."""
    rng = np.random.default_rng(0)
    p, n = rng.uniform(0.2, 0.6, 4000), 4000
    levels = {
        "sex": rng.choice(["f", "m"], n),
        "place": rng.choice(["<script>south</script>", "north", "island"], n, p=[0.5, 0.48, 0.02]),
    }
    off = 0.2 * ((levels["sex"] == "f") & (levels["place"] == "<script>south</script>"))
    return cb.audit((rng.random(n) < p + off).astype(int), p, levels)


def test_the_page_draws_every_level_and_the_crossings_that_are_off(found):
    pytest.importorskip("jinja2")
    report = cb.report(found, title="Loans <1>", model="m & n")
    page, drawn = report.to_html(), report.to_dict()["drawn"]
    assert len(drawn["levels"]) == 5
    assert [row["before"]["outcome"] for row in drawn["crossings"]] == ["off"]
    assert page.count(LINE) == len(found.groups) == 11
    assert "Crossings that are not shown to be off: 5" in page
    assert "Loans &lt;1&gt;" in page
    assert "m &amp; n" in page
    assert "<script>south" not in page
    gap = f"{100 * found.worst.gap:+.1f}".replace("-", "−")
    assert gap in page
    assert page.count("whatever their number") == 1


def test_a_thousand_groups_make_a_small_page():
    pytest.importorskip("jinja2")
    rng = np.random.default_rng(0)
    n = 20_000
    p = rng.uniform(0.2, 0.6, n)
    y = (rng.random(n) < p + 0.3 * (np.arange(n) % 2)).astype(int)
    levels = {"a": [f"a{i}" for i in rng.integers(0, 200, n)], "b": np.arange(n) % 6 // 2}
    found = cb.audit(y, p, levels, n_draws=100)
    assert len(found.groups) > 800
    page = cb.report(found).to_html()
    assert len(page.encode()) <= 300_000
    assert "other groups are not drawn" in page


def test_forecasts_have_no_shares():
    pytest.importorskip("jinja2")
    rng = np.random.default_rng(0)
    y, site = 2.0 * rng.normal(size=2000), np.arange(2000) % 2
    page = cb.report(cb.audit(y, np.zeros(2000), site, std=np.ones(2000))).to_html()
    assert "Gap (points)" not in page
    assert "Groups are off" in page
    assert " points</dd>" not in page
