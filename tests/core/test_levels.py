"""One reading of the values of groups: what is missing, numbers, times and texts, and which
numbers are cut.
"""

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from calibrant.core.labels import (
    MOST_VALUES,
    level_of,
    levels_of,
    numbers_of,
    numbers_said,
    numbers_to_cut,
    positions,
)

NOON = "2026-03-01T12:00:00"


@pytest.mark.parametrize(
    ("value", "level"),
    [
        (None, None),
        (float("nan"), None),
        (pd.NA, None),
        (pd.NaT, None),
        (np.datetime64("NaT"), None),
        (np.timedelta64("NaT", "s"), None),
        (Decimal("NaN"), None),
        ("", None),
        ("   ", None),
        ("nan", "nan"),
        ("None", "None"),
        (" a ", " a "),
        ("\t", "\t"),
        (np.str_("a"), "a"),
        (b"", b""),
        (2.0, 2),
        (-0.0, 0),
        (np.float32(0.5), 0.5),
        (Decimal("2.50"), 2.5),
        (np.int8(3), 3),
        (True, True),
        (float("inf"), float("inf")),
        (timedelta(minutes=1, milliseconds=500), 60.5),
        (np.timedelta64(2, "m"), 120),
        (date(2026, 3, 1), "2026-03-01"),
        (datetime(2026, 3, 1), "2026-03-01"),
        (time(12, 30), "12:30:00"),
        (datetime(2026, 3, 1, 12), NOON),
        (pd.Timestamp("2026-03-01 12:00"), NOON),
        (np.datetime64("2026-03-01T12", "ns"), NOON),
        (datetime(2026, 3, 1, 12, tzinfo=UTC), NOON),
        (datetime(2026, 3, 1, 7, tzinfo=timezone(timedelta(hours=-5))), NOON),
        ("2026-03-01 12:00", NOON),
        ("2026-03-01T12:00:00.000Z", NOON),
        ("2026-03-01 17:30:00+0530", NOON),
        ("2026-03-01 13:00+01", NOON),
        ("2026-03-01 00:00:00", "2026-03-01"),
        ("2026-03-01T12:00:00.250", f"{NOON}.25"),
        ("2026-13-01 12:00:00+01:00",) * 2,
        (pd.Timestamp("2026-03-01T12:00:00.000000001"), f"{NOON}.000000001"),
        (pd.Interval(20, 30), "(20, 30]"),
        (("a", "", 2.0), ("a", None, 2)),
    ],
)
def test_what_a_value_is_read_as(value, level):
    found = level_of(value)
    assert found == level
    assert type(found) is type(level)
    assert level_of(found) == found


def test_arrays_are_read_as_their_values():
    times = np.array(["2026-03-01T12", "NaT", "2026-03-02T00"], dtype="datetime64[us]")
    assert levels_of(times) == [level_of(when) for when in times] == [NOON, None, "2026-03-02"]
    assert levels_of(np.array([90, "NaT"], dtype="timedelta64[s]")) == [90, None]


@pytest.mark.parametrize(
    ("column", "numbers"),
    [
        (np.array([1, 2]), [1.0, 2.0]),
        (pd.array([1, pd.NA], dtype="Int64").to_numpy(dtype=object), [1.0, np.nan]),
        (
            np.array([0.5, None, np.float32(2.0), "", Decimal("0.25"), 0], dtype=object),
            [0.5, np.nan, 2.0, np.nan, 0.25, 0.0],
        ),
        (np.array([1, True], dtype=object), None),
        (np.array([True, False]), None),
        (np.array(["1", "2"]), None),
        (np.array([1.0, "a"], dtype=object), None),
    ],
)
def test_numbers_of_a_column(column, numbers):
    found = numbers_of(column)
    assert found is None if numbers is None else np.array_equal(found, numbers, equal_nan=True)


def test_numbers_as_texts():
    assert np.array_equal(
        numbers_said(np.array(["1", " 2.50", ""])), [1.0, 2.5, np.nan], equal_nan=True
    )
    assert numbers_said(np.array(["1", "007"])) is None


def test_which_numbers_are_cut():
    whole = np.arange(MOST_VALUES, dtype=np.float64)
    assert numbers_to_cut(np.append(whole, [np.nan, 3.0])) is None
    assert numbers_to_cut(np.append(whole, MOST_VALUES)) is not None
    assert numbers_to_cut(np.append(whole, MOST_VALUES), named=False) is None
    assert numbers_to_cut(np.array([0.5, 1.0])) is not None
    assert numbers_to_cut(np.array([np.nan, np.nan])) is None
    assert numbers_to_cut(np.array(["0.5", "1.0"])) is None


def test_positions_by_value_then_reading_then_text():
    assert positions([1, "1", "a", None], [1, "1", " 1.0", "a", "A", " a", float("nan")]) == [
        0,
        1,
        0,
        2,
        -1,
        -1,
        3,
    ]
    assert positions([("f", 1)], [("f", "1"), ("f", 2)]) == [0, -1]
    # A file of an older reading keeps what it learned.
    assert positions(["", None], ["", None, " "]) == [0, 1, 0]
