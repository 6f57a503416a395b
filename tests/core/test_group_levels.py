"""Levels learned once: the same code for the same level in any container, -1 for what was not
seen.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant.core.group_levels import GroupLevels
from calibrant.errors import CalibrationWarning, InputError


def test_levels_are_found_again_whatever_holds_them():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"city": ["x", None, "y", "x"], "age": [1.5, 2.5, np.nan, 3.5]})
    levels = GroupLevels(frame, np.ones(4), n_bins=2)
    assert levels.names == ["city", "age"]
    assert levels.levels[0] == ["x", "y", None]
    codes = levels.codes(frame)
    assert codes[:, 0].tolist() == [0, 2, 1, 0]
    assert codes[2, 1] == len(levels.levels[1]) - 1
    np.testing.assert_array_equal(levels.codes(frame[["age", "city"]]), codes)
    np.testing.assert_array_equal(levels.codes(frame.to_numpy()), codes)
    assert levels.codes(np.array([["z", 1.5], ["x", 1.5]], dtype=object)).tolist() == [
        [-1, codes[0, 1]],
        [0, codes[0, 1]],
    ]
    assert levels.text(0, 2) == "(missing)"
    with pytest.raises(InputError, match="must have the columns"):
        levels.codes(frame[["city"]])
    with pytest.raises(InputError, match="held numbers in the fit"):
        levels.codes(np.array([["x", "old"]], dtype=object))


def test_whole_numbers_are_levels_and_others_are_cut_by_weight():
    values = np.array([0.5, 1.5, 2.5, 3.5])
    assert GroupLevels(np.array([3, 1, 3]), np.ones(3)).levels == [[1, 3]]
    assert GroupLevels(np.array([3.0, np.nan]), np.ones(2)).levels == [[3, None]]
    cut = GroupLevels(values, np.array([1.0, 1.0, 1.0, 3.0]), n_bins=2)
    repeated = GroupLevels(np.repeat(values, [1, 1, 1, 3]), np.ones(6), n_bins=2)
    assert cut.edges[0].tolist() == repeated.edges[0].tolist() == [2.5]
    assert cut.codes(np.array([2.5, 2.6, np.nan])).ravel().tolist() == [0, 1, -1]
    assert cut.levels == [["<= 2.5", "> 2.5"]]


def test_tuples_are_rows_of_several_columns():
    levels = GroupLevels([("f", 1), ("m", 2)], np.ones(2))
    assert levels.codes([("m", 1)]).tolist() == [[1, 0]]
    with pytest.raises(InputError, match="must have 2 columns"):
        levels.codes(["m"])


def test_a_column_of_which_no_level_was_seen_warns_with_what_was_seen_and_what_is_new():
    levels = GroupLevels({"shop": ["north", "south", None], "age": [1.5, 2.5, 3.5]}, np.ones(3))
    assert levels.codes({"shop": ["north", "N"], "age": [1.5, 9.5]})[:, 0].tolist() == [0, -1]
    words = (
        "none of the 2 rows has a level of the column shop of groups.*it holds 'N', 'S', the fit"
        " saw 'north', 'south', .missing.;"
    )
    with pytest.warns(CalibrationWarning, match=words):
        assert levels.codes({"shop": ["N", "S"], "age": [1.5, 2.5]})[:, 0].tolist() == [-1, -1]
    with pytest.warns(
        CalibrationWarning,
        match="none of the 2 rows has a level of the column age of groups.*it holds .missing.",
    ):
        levels.codes({"shop": ["north"] * 2, "age": [np.nan] * 2})
    # One row alone may well be of a new level.
    assert levels.codes({"shop": ["N"], "age": [1.5]})[0, 0] == -1
    assert levels.codes({"shop": [], "age": []}).shape == (0, 2)


def test_infinite_numbers_are_apart_and_edges_finite():
    ends = np.array([-np.inf, -np.inf, 0.5, 1.5, np.inf, np.inf])
    for whole in (True, False):
        levels = GroupLevels(ends, np.ones(6), n_bins=6, whole=whole)
        assert np.isfinite(levels.edges[0]).all()
        assert levels.codes(ends).ravel().tolist() == [0, 0, 1, 2, 3, 3]
    two = GroupLevels(np.array([-np.inf, np.inf]), np.ones(2), n_bins=2, whole=False)
    assert two.codes(np.array([-np.inf, np.inf])).ravel().tolist() == [0, 1]


def test_a_table_without_columns_is_refused():
    with pytest.raises(InputError, match="X must have a column or more"):
        GroupLevels(np.zeros((4, 0)), np.ones(4), argument="X")


def test_a_level_is_found_by_its_value_and_then_by_its_text():
    levels = GroupLevels(np.array([1, 2, "x", None, True, "2"], dtype=object), np.ones(6))
    assert levels.levels == [[1, 2, "2", "x", None]]
    given = np.array(["1", "2", 2.0, 7, "None", "", float("nan"), "02"], dtype=object)
    assert levels.codes(given).ravel().tolist() == [0, 2, 1, -1, -1, 4, 4, -1]
    assert GroupLevels(["3", "4"], np.ones(2)).codes([3, 4.0]).ravel().tolist() == [0, 1]
    assert GroupLevels([True, False], np.ones(2)).codes(["true", "False"]).ravel().tolist() == [
        1,
        0,
    ]


def test_levels_of_an_older_reading_are_found_as_they_were_learned():
    levels = GroupLevels(["a", "b", "c"], np.ones(3))
    levels.levels = [["", "2026-03-01T00:00:00", None]]
    assert levels.codes(["", "2026-03-01T00:00:00", None, "2026-03-01"]).ravel().tolist() == [
        0,
        1,
        2,
        1,
    ]
    levels.levels = [["", "2026-03-01T12:00:00.000000000"]]
    assert levels.codes(
        np.array(["2026-03-01T12:00", "NaT"], dtype="datetime64[ns]")
    ).ravel().tolist() == [1, 0]


def test_whole_numbers_of_many_values_are_cut_but_for_bare_labels():
    many = np.arange(21)
    assert GroupLevels({"age": many}, np.ones(21)).edges[0] is not None
    assert GroupLevels({"age": many[1:]}, np.ones(20)).edges[0] is None
    assert GroupLevels(many, np.ones(21)).levels == [many.tolist()]


def test_a_column_that_is_the_outcome_warns():
    y, sound = np.arange(40) % 3, np.arange(40) % 2
    for told in (y, y.astype(str), 5 - y):
        groups = {"sound": sound, "told": told}
        with pytest.warns(
            CalibrationWarning,
            match=(
                "column told of groups equals the outcome in every row, 3 levels for as many"
                " outcomes"
            ),
        ):
            GroupLevels(groups, np.ones(40)).warn_of_outcome(groups, y)
    for untold in (y == 1, np.append(y[1:], 0), np.arange(40)):
        groups = {"sound": sound, "untold": untold}
        GroupLevels(groups, np.ones(40)).warn_of_outcome(groups, y)
    few = {"told": y[:20]}
    GroupLevels(few, np.ones(20)).warn_of_outcome(few, y[:20])


@pytest.mark.parametrize(
    "cal", [cb.GroupCalibrator(), cb.calibrators.Multicalibration(max_rounds=2)]
)
def test_calibrators_that_are_given_the_outcome_warn(cal):
    rng = np.random.default_rng(0)
    p = rng.random(200)
    y = rng.random(200) < p
    with pytest.warns(CalibrationWarning, match="equals the outcome in every row"):
        cal.fit(p, y, groups={"label": y})


@pytest.mark.parametrize(
    "cal",
    [cb.regression.ForecastGroupCalibrator(), cb.regression.ForecastMulticalibration(max_rounds=2)],
)
def test_calibrators_of_forecasts_that_are_given_the_outcome_warn(cal):
    y = np.linspace(0.0, 1.0, 60)
    with pytest.warns(CalibrationWarning, match="equals the outcome in every row"):
        cal.fit(np.zeros(60), y, std=np.ones(60), groups={"label": y})
