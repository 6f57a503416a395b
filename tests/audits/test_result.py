"""What an audit says, group by group and in one line."""

from dataclasses import replace

import pytest

from calibrant.audits.result import Audit, GroupGap

ONE = GroupGap(
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
    p_value=0.0123,
    outcome="off",
    found=False,
)
HOLDS = replace(
    ONE,
    where={"sex": "m", "age": "20 to 30"},
    outcome="holds",
    low=-0.01,
    high=0.01,
    shrunk=0.09,
    p_value=0.5,
)
FEW = replace(
    ONE,
    where={"group": "x"},
    question="mean",
    outcome="not enough data",
    low=0.03,
    high=0.3,
    shrunk=0.0,
    p_value=None,
)


def audit(*groups: GroupGap) -> Audit:
    return Audit(groups, [], None, "strong", 0.95, 0.02, "any", "event")


def test_one_line_of_what_is_off_and_what_cannot_be_told():
    assert audit(HOLDS).sentence == "0 of 1 groups are miscalibrated."
    assert (
        audit(HOLDS, FEW).sentence == "0 of 2 groups are miscalibrated; 1 has too few rows to tell."
    )
    assert (
        audit(ONE, FEW, FEW, HOLDS).sentence
        == "1 of 4 groups is miscalibrated; the worst is sex f: predicted 20.0 %, observed 25.0 %"
        " (n = 1,200); 2 have too few rows to tell."
    )
    of_forecasts = replace(ONE, events=None, said=0.0, came=0.3333, question="mean")
    assert (
        str(audit(of_forecasts, ONE))
        == "2 of 2 groups are miscalibrated; the worst is sex f × mean: expected 0, observed 0.333"
        " (n = 1,200)."
    )


def test_the_worst_is_that_whose_interval_is_farthest_from_none():
    worse = replace(ONE, where={"sex": "x"}, low=0.03, high=0.05, shrunk=0.04)
    assert audit(ONE, worse).worst is worse
    assert audit(worse, ONE).worst is worse
    # Of those that are off, if any; of equally far ones the larger shrunken gap; whoever is at 0 is
    # not far.
    assert audit(ONE, FEW).worst is ONE
    assert audit(HOLDS, FEW).worst is FEW
    assert audit(HOLDS, replace(HOLDS, shrunk=-0.2)).worst == replace(HOLDS, shrunk=-0.2)
    assert audit().worst is None


def test_the_gate_is_the_largest_shrunken_gap_of_those_that_are_off():
    assert audit(ONE, replace(ONE, shrunk=0.01), HOLDS).largest_gap == 0.04
    assert audit(HOLDS, FEW).largest_gap == 0.0
    assert [one.outcome for one in audit(ONE, HOLDS, FEW).off] == ["off"]


def test_names_tables_and_dictionaries():
    assert [one.name for one in (ONE, HOLDS, FEW)] == ["sex f", "sex m × age 20 to 30", "x × mean"]
    lines = repr(audit(ONE, FEW)).splitlines()
    assert lines[-3].split() == [
        "group",
        "rows",
        "predicted",
        "observed",
        "gap",
        "interval",
        "p",
        "outcome",
    ]
    assert lines[-2].split() == [
        "sex",
        "f",
        "1,200",
        "0.2",
        "0.25",
        "-0.050",
        "[-0.080,",
        "-0.020]",
        "0.012",
        "off",
    ]
    assert lines[-1].split() == [
        "x",
        "×",
        "mean",
        "1,200",
        "0.2",
        "0.25",
        "-0.050",
        "[+0.030,",
        "+0.300]",
        "not",
        "enough",
        "data",
    ]
    found = audit(ONE, FEW).to_dict()
    assert (found["n_groups"], found["n_off"], found["largest_gap"]) == (2, 1, 0.04)
    pytest.importorskip("pandas")
    assert audit(ONE, FEW).frame()["group"].tolist() == ["sex f", "x × mean"]
