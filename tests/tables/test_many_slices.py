"""Tables with many slices: sums only of what occurs, the same by either way of adding them up."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import load
from calibrant.errors import SavedFileError
from calibrant.tables import kernel, sketch
from calibrant.tables.state import GroupState

ROWS, SLICES = 6_000, 700


@pytest.fixture(scope="module")
def frame():
    import pandas as pd

    rng = np.random.default_rng(3)
    P = rng.dirichlet(np.ones(3), ROWS)
    return pd.DataFrame(
        {
            **{f"p_{k}": P[:, k] for k in range(3)},
            "p": P[:, 0],
            "event": (rng.random(ROWS) < P[:, 0]).astype(int),
            "label": rng.integers(0, 3, ROWS),
            "shop": rng.integers(0, SLICES, ROWS) * 10_007,
            "w": rng.integers(0, 3, ROWS).astype(float),
        }
    )


def test_numbers_of_many_slices_are_those_of_a_group_by(frame):
    found = cb.evaluate(frame, probabilities="p", label="event", by="shop").frame()
    y, p = frame["event"], frame["p"]
    rows = frame.assign(
        loss=-np.log(np.where(y == 1, p, 1.0 - p)),
        brier=(p - y) ** 2,
        gap=p - y,
        bin=np.minimum((p * 15).astype(int), 14),
    )
    groups = rows.groupby("shop")
    assert found["shop"].tolist() == list(groups.groups)
    for name, column in (
        ("mean_risk", "p"),
        ("event_rate", "event"),
        ("log_loss", "loss"),
        ("event_brier_score", "brier"),
    ):
        np.testing.assert_allclose(found[name], groups[column].mean(), rtol=1e-12)
    gaps = rows.groupby(["shop", "bin"])["gap"].sum().abs().groupby("shop").sum()
    np.testing.assert_allclose(found["event_ece"], gaps / groups.size(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "asked",
    [
        {"probabilities": "p_*", "by": "shop", "weight": "w"},
        {"probabilities": "p_*", "by": "shop", "strategy": "mass"},
        {"score": "p", "predicted": "label", "by": ["shop", "event"]},
    ],
)
def test_sums_are_the_same_with_and_without_a_place_for_every_bin(frame, asked, monkeypatch):
    found = []
    for limit in (0, 10**9):
        monkeypatch.setattr(kernel, "SPARSEST", limit)
        found.append(cb.evaluate(frame, **asked).columns(per_class=True))
    for name, values in found[0].items():
        assert list(values) == pytest.approx(list(found[1][name]), rel=1e-12, nan_ok=True), name


def test_memory_grows_with_bins_that_occur():
    import pyarrow as pa

    n = 20_000
    table = pa.table({"p": np.linspace(0.0, 1.0, n), "label": np.arange(n) % 2, "shop": range(n)})
    state = sketch(table, probabilities="p", target="event", by=["shop"]).state
    size = sum(array.nbytes for array in (state.codes, state.sums, state.at, state.cells))
    assert state.codes.shape == (n, 2)
    assert size < 100 * n


def test_more_combinations_than_an_integer_counts():
    import pandas as pd

    rng = np.random.default_rng(0)
    columns = {f"c{j}": rng.integers(0, 2, 500) * rng.integers(1, 10**6, 500) for j in range(9)}
    frame = pd.DataFrame(columns | {"p": rng.random(500), "label": rng.integers(0, 2, 500)})
    frame = pd.concat([frame, frame.iloc[:100]])
    found = cb.evaluate(frame, probabilities="p", by=list(columns)).frame()
    expected = frame.groupby(list(columns)).size()
    assert dict(zip(map(tuple, found[list(columns)].to_numpy()), found["n"], strict=True)) == dict(
        expected
    )


def test_slices_of_batches_with_categories_of_their_own():
    import pyarrow as pa

    parts = [
        pa.record_batch({"p": [0.25, 0.5], "label": [0, 1], "shop": pa.array(shops).cast(kind)})
        for shops in (["b", "a"], ["c", "b"])
        for kind in [pa.dictionary(pa.int8(), pa.string())]
    ]
    found = cb.evaluate(pa.Table.from_batches(parts), probabilities="p", by="shop")
    assert found.frame()[["shop", "n"]].to_numpy().tolist() == [["a", 1.0], ["b", 2.0], ["c", 1.0]]


def test_sums_add_up_in_any_order_and_are_saved(frame, tmp_path):
    asked = {"probabilities": "p", "label": "event", "by": "shop"}
    whole = cb.evaluate(frame, **asked)
    first, last = (cb.evaluate(part, **asked) for part in (frame[:2500], frame[2500:]))
    again = load(first.state.save(tmp_path / "sums.cal"))
    for total in (first + last, last + first):
        np.testing.assert_allclose(total.frame(), whole.frame(), rtol=1e-9)
    np.testing.assert_array_equal((again + last.state).codes, (first + last).state.codes)
    assert first.frame()["n"].sum() == 2500


def test_sums_of_an_earlier_form_are_refused(tmp_path):
    earlier = object.__new__(GroupState)
    vars(earlier).update(
        settings={"by": ["shop"], "mode": "event"},
        rows={("a", "event"): 0},
        sums=np.ones((1, 10)),
    )
    path = cb.core.saving.save(earlier, tmp_path / "sums.cal")
    with pytest.raises(SavedFileError, match="a GroupState without"):
        load(path)
