"""Names are the same as numbers, whole floats and texts: of classes, groups, clusters, models,
items, questions and options, behind every door.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.laws.doors import DOORS, Door, drawn, numbers

import calibrant as cb
from calibrant.errors import InputError
from calibrant.questions import QuestionRules

DATA = drawn()
#: Columns of names, and outcomes that are names of classes.
NAMES = ("cluster", "group", "model", "item", "y")
#: Kind -> the same names in it.
KINDS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "numbers": lambda names: names,
    "texts": lambda names: names.astype(str),
    "floats": lambda names: names.astype(float),
}
#: Reports cost seconds each; their numbers are those of the other doors.
NAMED = [
    name
    for name, door in DOORS.items()
    if set(NAMES) & set(door.columns.values())
    and not name.startswith(("evaluate", "randomised_pit", "report"))
]


def unnamed(door: Door, kind: str) -> np.ndarray:
    """The numbers of a door with its names in a kind, in any order, without the names."""
    renamed = {
        column: KINDS[kind](DATA[column]) for column in door.columns.values() if column in NAMES
    }
    result = numbers(door(DATA | renamed))
    return np.sort(result[~np.isin(result, np.arange(100.0))])


@pytest.mark.filterwarnings("ignore::calibrant.errors.CalibrationWarning")
@pytest.mark.parametrize("name", NAMED)
def test_numbers_are_the_same_for_names_of_any_kind(name: str):
    expected = unnamed(DOORS[name], "numbers")
    for kind in ("texts", "floats"):
        result = unnamed(DOORS[name], kind)
        np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-12, err_msg=kind)


@pytest.mark.filterwarnings("ignore::calibrant.errors.CalibrationWarning")
@pytest.mark.parametrize("name", ["conditional_coverage_gap", "sets fit", "shift fit"])
def test_texts_for_columns_without_names_are_refused(name: str):
    with pytest.raises(InputError, match=r"must be the column numbers 0\.\.2 .* pass classes="):
        DOORS[name](DATA | {"label": DATA["label"].astype(str)})


def logs(kind: str) -> list[list[dict[str, Any]]]:
    """Two versions of one log of questions, whose names are numbers or texts."""
    rng = np.random.default_rng(0)
    p = rng.beta(9.0, 1.0, 400)
    right, name = rng.random(400) < p, int if kind == "numbers" else str
    return [
        [
            {
                "id": name(i // 2),
                "question": name(i % 2),
                "probs": {name(7): float(q), name(3): float(1.0 - q)},
                "label": name(7 if hit else 3),
            }
            for i, (q, hit) in enumerate(zip(p**power, right.tolist(), strict=True))
        ]
        for power in (1.0, 1.5)
    ]


def read_logs(kind: str) -> dict[str, Any]:
    small, large = logs(kind)
    rules = QuestionRules(0.2, 0.9).fit(small)
    item_rules = QuestionRules(0.2, 0.9, unit="item", when_uncertain="answer_none")
    fitted = cb.QuestionCalibrator().fit(small)
    return {
        "values": [rules.to_dict(), cb.compare_versions(small, large)],
        "calibrated": [list(one.values()) for one in fitted.predict(small)],
        "decided": (rules.decide(large) == "answer").tolist(),
        "items": item_rules.fit(small).to_dict(),
    }


@pytest.mark.filterwarnings("ignore::calibrant.errors.CalibrationWarning")
def test_logs_are_the_same_for_names_of_any_kind():
    one, other = (read_logs(kind) for kind in ("numbers", "texts"))
    assert str(one["values"]) == str(other["values"])
    for part in ("calibrated", "decided", "items"):
        assert one[part] == other[part], part
