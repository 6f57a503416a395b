"""One missing number in any argument of any door ends in one sentence that names the argument, or
means what the documentation says: a missing name is a name, a missing label is no label, and a
model may read missing features. No result is nan where it was not without it.
"""

import importlib
import inspect
import re
from typing import Any

import numpy as np
import pytest
from tests.laws.doors import DOORS, Data, drawn, numbers

from calibrant.core.exports import exports
from calibrant.errors import InputError

ROW = 5
#: Columns of names: a missing one is a group, a cluster or an item of its own.
NAMES = ("cluster", "group", "item", "model")
#: (Door, argument) whose entries may be missing, by the documentation.
MAY_BE_MISSING = {
    # No label.
    *((one, "y") for one in ("compare_versions",)),
    *((one, "labels") for one in DOORS if "labels" in DOORS[one].columns),
    # A row that a risk does not concern.
    ("certified_settings", "losses"),
    # A level of a column.
    ("audit of features", "groups"),
}
#: Features are a matter of the model.
FEATURES = ("X", "X_old", "X_new")
#: Argument -> the words that its errors may begin with.
WORDS = {"y_true": ("y_true", "y"), "forecast": ("forecast", "mean"), "P": ("P", "mean")}
WORDS |= {"Q": ("P",)}
#: What an error says of the number.
REASONS = ("nan", "missing", "has none", "finite", "whole", "bool")
DATA = drawn()
#: Reports cost seconds each.
SLOW = {name for name in DOORS if name.startswith("report")}


def cases(named: bool) -> list[Any]:
    return [
        pytest.param(name, argument, column, id=f"{name}: {argument}")
        for name, door in DOORS.items()
        for argument, column in door.columns.items()
        if (column in NAMES) is named and not (named and name in SLOW)
    ]


def missing_at(column: np.ndarray, rows: Any) -> np.ndarray:
    """A copy with a missing first entry of these rows."""
    out = np.array(column, dtype=float)
    out.reshape(len(out), -1)[rows, 0] = np.nan
    return out


def outcome(name: str, d: Data) -> np.ndarray | InputError:
    """The numbers of a door, or its refusal; any other error ends the test."""
    try:
        return numbers(DOORS[name](d))
    except InputError as error:
        return error


@pytest.mark.filterwarnings("ignore::calibrant.errors.CalibrationWarning")
@pytest.mark.parametrize(("name", "argument", "column"), cases(named=False))
def test_a_missing_number_is_named_or_documented(name: str, argument: str, column: str):
    result = outcome(name, DATA | {column: missing_at(DATA[column], ROW)})
    if (name, argument) in MAY_BE_MISSING or argument in FEATURES:
        assert not isinstance(result, InputError)
        assert np.isnan(result).sum() == np.isnan(numbers(DOORS[name](DATA))).sum()
        return
    assert isinstance(result, InputError), "it was answered"
    text, words = str(result), WORDS.get(argument, (argument,))
    columns = tuple(f"column {word!r}" for word in words)
    assert text.startswith(tuple(f"{word} " for word in (*words, *columns, "Input y"))), text
    assert "\n" not in text
    assert any(word in text.lower() for word in REASONS)


@pytest.mark.filterwarnings("ignore::calibrant.errors.CalibrationWarning")
@pytest.mark.parametrize(("name", "argument", "column"), cases(named=True))
def test_a_missing_name_is_a_name(name: str, argument: str, column: str):
    numbered = DATA[column].tolist()
    last = max(numbered)
    texts, missing = (
        np.array([other if one == last else f"n{one}" for one in numbered], dtype=object)
        for other in ("unseen", None)
    )
    result = outcome(name, DATA | {column: missing})
    if isinstance(result, InputError):
        assert re.match(f"{argument} must name (every row|the group of every row)", str(result))
        return
    expected = numbers(DOORS[name](DATA | {column: texts}))
    # Groups may stand in another order.
    np.testing.assert_allclose(np.sort(result), np.sort(expected), rtol=1e-9, atol=1e-12)


#: Functions that hand their columns to a function of the table.
ELSEWHERE = {"figure": "report", "read_questions": "tests/findings/test_h17_every_field_is_read.py"}


def test_every_public_function_of_columns_is_a_door():
    asked = {"y_true", "y", "P", "judge", "X_old", "losses", "risks", "times", "old", "sets"}
    rooms = ("", ".metrics", ".calibrators", ".decisions", ".questions", ".monitoring")
    missing = []
    for face in (f"calibrant{room}" for room in rooms):
        for name in exports(face):
            function = getattr(importlib.import_module(face), name)
            if not inspect.isfunction(function) or name in ELSEWHERE:
                continue
            if asked & set(inspect.signature(function).parameters) and name not in DOORS:
                missing.append(f"{face}.{name}")
    assert missing == []
