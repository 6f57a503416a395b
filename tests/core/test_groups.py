"""Groups of rows: labels of any kind become names and numbers."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import calibrant as cb
from calibrant import metrics
from calibrant.core.groups import codes_of, group_columns, in_order, order_of, read_groups
from calibrant.core.predictions import read
from calibrant.errors import InputError
from calibrant.metrics.validation import validate


def grouped(groups, n_rows=None, weight=None):
    return read_groups(
        groups, read(np.full(len(groups) if n_rows is None else n_rows, 0.5), sample_weight=weight)
    )


@pytest.mark.parametrize(
    ("groups", "names", "index"),
    [
        (["b", "a", "b"], ["a", "b"], [1, 0, 1]),
        ([10, 9, 10], [9, 10], [1, 0, 1]),
        ([1, "1", 1.0, True], [1, "1"], [0, 1, 0, 0]),
        ([None, "a", float("nan"), np.float64("nan")], ["a", None], [1, 0, 1, 1]),
        (np.array([2.5, np.nan, 1.5]), [1.5, 2.5, None], [1, 2, 0]),
        (
            [b"x", "x", 3, None, ("u", None), ("u", 2)],
            [3, "x", b"x", ("u", 2), ("u", None), None],
            [2, 1, 0, 5, 4, 3],
        ),
        (np.ma.array(["b", "a"]), ["a", "b"], [1, 0]),
        (np.array(["b", "", "a", "  "]), ["a", "b", None], [1, 2, 0, 2]),
        (
            ["2026-01-06 10:00", np.datetime64("2026-01-06T10"), "2026-01-05 00:00"],
            ["2026-01-05", "2026-01-06T10:00:00"],
            [1, 1, 0],
        ),
        (
            np.array(["2026-01-06", "2026-01-05", "NaT"], dtype="datetime64[ns]"),
            ["2026-01-05", "2026-01-06", None],
            [1, 0, 2],
        ),
        (
            [["f", "old"], ["m", "new"], ["f", "new"]],
            [("f", "new"), ("f", "old"), ("m", "new")],
            [1, 2, 0],
        ),
        (np.array([["a"], ["b"]]), ["a", "b"], [0, 1]),
    ],
)
def test_names_and_numbers(groups, names, index):
    found = grouped(groups)
    assert found.names.tolist() == names
    assert found.index.tolist() == index


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_of_frames_are_crossed(library):
    module = pytest.importorskip(library)
    columns = {"sex": ["f", "m", None, "f"], "age": [30, 40, 30, 40]}
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    found = grouped(frame, 4)
    assert found.names.tolist() == [("f", 30), ("f", 40), ("m", 40), (None, 30)]
    assert found.index.tolist() == [0, 2, 3, 1]
    assert found.texts == ["f, 30", "f, 40", "m, 40", "(missing), 30"]
    assert grouped(frame["sex"], 4).names.tolist() == ["f", "m", None]


def test_missing_values_of_pandas_are_one_group():
    pd = pytest.importorskip("pandas")
    for values in (
        pd.Series(["a", None, "a"]),
        pd.Series([1, pd.NA, 1], dtype="Int64"),
        pd.Categorical(["a", None, "a"]),
    ):
        assert grouped(values, 3).index.tolist() == [0, 1, 0]
    assert (
        grouped(pd.Series(pd.to_datetime(["2026-01-05 10:00", None, "2026-01-05 10:00"])), 3).names[
            1
        ]
        is None
    )


def test_texts_are_different_where_names_are():
    assert grouped([1, "1", None, "(missing)"]).texts == ["1", "'(missing)'", "'1'", "None"]


def test_rows_of_weight_0_are_left_out():
    found = grouped(["a", "b", "c"], weight=[1.0, 0.0, 2.0])
    assert (found.names.tolist(), found.index.tolist()) == (["a", "c"], [0, 1])


def test_many_rows_of_a_simple_kind_take_no_loop():
    groups = np.random.default_rng(0).integers(0, 100_000, 1_000_000)
    found = grouped(groups)
    assert np.array_equal(found.names[found.index], groups)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a", "b"], r"groups must have 3 rows.*got shape \(2,\); pass one label per row"),
        ("abc", r"got shape \(\)"),
        (np.zeros((3, 2, 2)), "groups must have one label in each row of a column"),
        ([{1}, {2}, {3}], "groups must be hashable labels; got a set among them"),
    ],
)
def test_what_cannot_be_grouped(groups, message):
    with pytest.raises(InputError, match=message):
        grouped(groups, 3)


def test_a_mapping_keeps_its_names_through_a_record():
    record = read(
        [0.1, 0.2, 0.3],
        groups={"a": ["x", None, "y"], "b": [1.5, 2.5, 3.5]},
        sample_weight=[1, 0, 1],
    )
    assert record.groups.columns == ["a", "b"]
    assert record.groups.shape == (2, 2)
    assert [column.tolist() for _, column in group_columns(record.groups)] == [
        ["x", "y"],
        [1.5, 3.5],
    ]
    assert record.groups[["b"]].columns == ["b"]
    assert record.take([1]).groups.to_numpy().tolist() == [["y", 3.5]]
    with pytest.raises(InputError, match="columns of one length"):
        read([0.1, 0.2], groups={"a": ["x", "y"], "b": [1]})


@pytest.mark.parametrize("missing", [None, np.nan, ""])
def test_rows_without_a_cluster_are_refused_everywhere(missing):
    rng = np.random.default_rng(0)
    p = rng.random(200)
    y, cluster = (rng.random(200) < p).astype(int), np.repeat(np.arange(50), 4).astype(object)
    cluster[[3, 4, 70]] = missing
    model = LogisticRegression()
    for call in (
        lambda: cb.SelectiveClassifier(risk=0.3).fit(p, y, cluster=cluster),
        lambda: cb.ConformalSets().fit(p, y, cluster=cluster),
        lambda: cb.AutoCalibrator().fit(p, y, cluster=cluster),
        lambda: cb.AutoRegressionCalibrator().fit((p, p + 0.1), y, cluster=cluster),
        lambda: metrics.accuracy.interval(y, p, cluster=cluster),
        lambda: metrics.accuracy.interval(
            y, p, cluster=np.column_stack([np.arange(200) % 20, cluster])
        ),
        lambda: metrics.compare(y, {"a": p, "b": p**2}, cluster=cluster),
        lambda: cb.report(y, p, cluster=cluster),
        lambda: cb.audit(y, p, {"label": y}, cluster=cluster),
        lambda: cb.estimate_rate(judge=p, labels=y, cluster=cluster),
        lambda: validate(model, p[:, None], y, cluster=cluster, n_resamples=5, n_outer=0),
    ):
        with pytest.raises(InputError, match=r"^cluster must name every row; 3 of 200 have no"):
            call()


@pytest.mark.parametrize(
    ("empty", "rule"),
    [
        ([[]] * 60, "a column or more; got none"),
        (np.zeros((60, 2, 2)), r"one label in each row of a column; got a column of shape \(60, 2"),
    ],
)
def test_tables_without_columns_or_with_nested_ones_are_refused(empty, rule):
    rng = np.random.default_rng(0)
    p = rng.random(60)
    y = (rng.random(60) < p).astype(int)
    for call in (
        lambda: cb.SelectiveClassifier(risk=0.3).fit(p, y, cluster=empty),
        lambda: cb.ConformalSets().fit(p, y, cluster=empty),
        lambda: cb.ConformalSets(by="groups").fit(p, y, groups=empty),
        lambda: cb.ConformalIntervals().fit(p, y, std=p + 0.1, cluster=empty),
        lambda: cb.GroupCalibrator(cb.TemperatureScaling()).fit(p, y, groups=empty),
        lambda: metrics.log_loss.interval(y, p, cluster=empty),
        lambda: metrics.compare(y, {"a": p, "b": p**2}, cluster=empty),
        lambda: cb.audit(y, p, {"label": y}, cluster=empty),
    ):
        with pytest.raises(InputError, match=rf"^(cluster|groups) must have {rule}"):
            call()


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_in_the_order_of_their_mark_their_content_and_their_weight(weighted):
    rng = np.random.default_rng(4)
    # Marks are rounded: many rows of equal marks differ in content.
    P = np.round(rng.random(400), 1) + rng.choice([0.0, 2e-11], 400)
    weight = rng.integers(1, 4, 400) * 1.0 if weighted else None
    record = read(np.clip(P, 0.0, 1.0), rng.integers(0, 2, 400), sample_weight=weight)
    beside, mark = rng.random(400), np.round(record.mark, 9)
    keys = (beside, record.weights, codes_of(record), mark)
    assert order_of(record, beside).tolist() == np.lexsort(keys).tolist()
    assert order_of(record).tolist() == np.lexsort(keys[1:]).tolist()


def test_an_event_has_the_order_of_its_rows():
    rng = np.random.default_rng(5)
    P, y = np.round(rng.random(300), 2), rng.integers(0, 2, 300)
    record = read(P, y)
    apart = in_order(record.as_pair("event"))
    in_order(record)
    pair = record.as_pair("event")
    assert pair.derived.ordered is not None
    assert np.array_equal(in_order(pair).values, apart.values)
    assert np.array_equal(in_order(pair).labels, apart.labels)
    assert in_order(in_order(pair)) is in_order(pair)
    # Features are content of a row, and an event has none.
    assert record.changed(X=P[:, None]).as_pair("event").derived.ordered is None
