"""F4: the columns of a data frame are taken by their names, whatever kind of name they have."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.errors import InputError

P = np.array([[0.1, 0.7, 0.2], [0.6, 0.3, 0.1], [0.2, 0.2, 0.6], [0.1, 0.8, 0.1]])
Y = np.array([1, 0, 2, 1])


def test_f04_permuted_integer_names_are_put_right():
    pd = pytest.importorskip("pandas")
    df = pd.DataFrame(P)
    permuted = cb.calibrators.Identity().fit(df[[2, 0, 1]], Y)
    assert permuted.classes_.tolist() == [2, 0, 1]
    assert permuted.predict(df).tolist() == Y.tolist()
    assert permuted.predict_proba(df)[0].tolist() == [0.2, 0.1, 0.7]
    assert metrics.accuracy(Y, df, classes=[2, 0, 1]) == 1.0


def test_f04_names_and_their_texts_are_one_name():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    texts = pl.DataFrame({"2": P[:, 2], "0": P[:, 0], "1": P[:, 1]})
    fitted = cb.calibrators.Identity().fit(texts, Y)
    assert fitted.predict(pd.DataFrame(P)).tolist() == ["1", "0", "2", "1"]


def test_f04_pyarrow_tables_have_names_too():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"c": P[:, 2], "a": P[:, 0], "b": P[:, 1]})
    assert metrics.accuracy(np.array(["a", "b", "c"])[Y], table, classes=["a", "b", "c"]) == 1.0


def test_f04_names_that_are_only_places_stay_places():
    pd = pytest.importorskip("pandas")
    assert metrics.accuracy(Y + 1, pd.DataFrame(P), classes=[1, 2, 3]) == 1.0
    assert (
        metrics.accuracy(np.array(["a", "b", "c"])[Y], pd.DataFrame(P), classes=["a", "b", "c"])
        == 1.0
    )


@pytest.mark.parametrize("names", [["a", "a", "b"], [0, 0, 1]])
def test_f04_two_columns_of_one_name_are_an_error(names):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(P, columns=names)
    message = f"the columns of P must have different names; got {names[0]!r} more than once"
    with pytest.raises(InputError, match=message):
        cb.calibrators.Identity().fit(frame, Y)
    with pytest.raises(InputError, match=message):
        cb.calibrators.Identity().fit(P, Y).predict(frame)


@pytest.mark.parametrize("swapped", ["std", "y"])
def test_f04_outputs_in_another_order_are_an_error(swapped):
    pd = pytest.importorskip("pandas")
    held = {name: pd.DataFrame(P[:, :2] + 1.0, columns=["a", "b"]) for name in ("mean", "std", "y")}
    assert metrics.root_mean_squared_error(held["y"], held["mean"], held["std"]).tolist() == [
        0.0,
        0.0,
    ]
    held[swapped] = held[swapped][["b", "a"]]
    with pytest.raises(
        InputError,
        match=(
            rf"{swapped} must have the columns of .* in their order, \['a', 'b'\]; got \['b', 'a'\]"
        ),
    ):
        metrics.root_mean_squared_error(held["y"], held["mean"], held["std"])
    with pytest.raises(InputError, match=f"{swapped} must have the columns of"):
        cb.StdScaling().fit((held["mean"], held["std"]), held["y"])
