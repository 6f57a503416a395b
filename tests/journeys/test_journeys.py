"""What a person takes away in worlds whose truth is known: a small version of the scoreboard."""

from functools import cache

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

from benchmarks.journeys import deciding
from benchmarks.journeys.outcomes import Cell, Outcome, counted
from benchmarks.journeys.running import JOURNEYS, run
from benchmarks.journeys.truth import covered_intervals, expected_loss, expected_score, is_off
from benchmarks.journeys.worlds import WORLDS

#: Where each journey is tried by default; ``python -m benchmarks.journeys`` tries every world.
TRIED = {
    "report": ("calibrated", "many classes", "reversed"),
    "groups": ("groups that differ", "groups that do not", "unseen group", "calibrated"),
    "model": ("ordinary", "timid"),
    "decide": ("sharp", "calibrated", "groups that differ", "clustered"),
    "sets": ("sharp", "groups that differ", "clustered", "votes", "heavy-tailed forecasts"),
    "doors": ("bent", "groups that differ", "votes"),
    "monitor": ("ordinary", "calibrated", "drifting"),
    "plan": ("calibrated", "rare", "timid"),
    "compare": ("ordinary", "sharp", "clustered", "weighted by design"),
}
#: (journey, world, question) -> what a later issue repairs.
OPEN: dict[tuple[str, str, str], str] = {}


@cache
def cells(journey: str) -> list[Cell]:
    """The cells of one journey in the worlds where it is tried, run once."""
    worlds = [world for world in WORLDS if world.name in TRIED[journey]]
    return run(worlds, [one for one in JOURNEYS if one.name == journey], quick=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("journey", TRIED)
def test_no_more_faults_than_are_stated(journey):
    found = [one for one in cells(journey) if one.too_many]
    wrong = [one for one in found if (journey, one.world, one.question) not in OPEN]
    assert {one.world for one in cells(journey)} == set(TRIED[journey])
    assert not wrong, [one.to_dict() for one in wrong]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "cell",
    [pytest.param(key, marks=pytest.mark.xfail(strict=False, reason=OPEN[key])) for key in OPEN],
    ids="-".join,
)
def test_what_later_issues_repair(cell):
    journey, world, question = cell
    asked = [one for one in cells(journey) if (one.world, one.question) == (world, question)]
    assert asked
    assert not any(one.too_many for one in asked)


def test_a_rule_that_accepts_everything_is_found_out(monkeypatch):
    class Careless:
        def __init__(self, *stated):
            pass

        def fit(self, *given, **options):
            return self

        def accept(self, said):
            return np.ones(len(said), bool)

    monkeypatch.setattr(deciding.cb, "SelectiveClassifier", Careless)
    monkeypatch.setattr(
        deciding, "_command_accepts", lambda *_: Outcome("", "doors disagree", False)
    )
    world = next(one for one in WORLDS if one.name == "calibrated")
    asked = [one for seed in range(5) for one in deciding.decide(world, seed, True)]
    found = counted(("decide", "calibrated", one) for one in asked)
    assert [one.too_many for one in found if one.question == "errors accepted"] == [True]


def test_expected_values_are_those_by_hand():
    truth, said = np.array([0.5, 0.2]), np.array([0.25, 0.2])
    by_hand = -(0.5 * np.log(0.25 * 0.75) + 0.2 * np.log(0.2) + 0.8 * np.log(0.8)) / 2.0
    assert expected_loss(truth, said) == pytest.approx(by_hand)
    law = np.array([[0.0, 1.0, 1e6]])
    assert covered_intervals(law, np.array([-1.96]), np.array([1.96])) == pytest.approx(
        0.95, abs=1e-4
    )
    score = 0.5 * np.log(2.0 * np.pi) + np.log(2.0) + 0.125
    assert expected_score(law, np.zeros(1), np.full(1, 2.0)) == pytest.approx(score, abs=1e-5)


def test_faults_are_too_many_only_beyond_what_is_allowed():
    allowed = Outcome("q", "false alarm", True, 0.05)
    few = counted(
        [("j", "w", allowed)] * 2 + [("j", "w", Outcome("q", "false alarm", False, 0.05))] * 18
    )
    assert not few[0].too_many
    assert counted([("j", "w", allowed)] * 10)[0].too_many


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_a_calibrated_world_is_not_off(world):
    if world.calibrated:
        assert not is_off(world)
    if world.name in ("ordinary", "rare", "timid", "reversed", "many classes", "drifting"):
        assert is_off(world)
