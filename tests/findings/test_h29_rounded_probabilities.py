"""H29: rows of probabilities that were rounded are read through every door, up to the rounding of
their decimals, with one notice; rows that are wrong are refused with their number.
"""

import json
import warnings

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.core.labels import SoftLabels
from calibrant.errors import CalibrationWarning, InputError

ROUNDED = "up to the rounding of their decimals"


def drawn(n_classes=3, n=300, seed=0):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(n_classes, 0.7), n)
    return P, (rng.random(n)[:, None] > P.cumsum(axis=1)[:, :-1]).sum(axis=1)


def quietly(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        return function(*arguments, **options)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("decimals", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("n_classes", [2, 3, 10, 100])
def test_h29_rounded_rows_are_divided_by_their_sums(n_classes, decimals, dtype):
    if n_classes * 10.0**-decimals > 0.1:
        pytest.skip("so few decimals leave nothing of so many classes")
    P, y = drawn(n_classes)
    P = np.round(P, decimals).astype(dtype)
    exact = P.astype(float) / P.astype(float).sum(axis=1, keepdims=True)
    found = quietly(metrics.log_loss, y, P)
    assert found == pytest.approx(metrics.log_loss(y, exact), rel=1e-12)
    fitted = quietly(cb.TemperatureScaling().fit, P, y)
    np.testing.assert_allclose(
        quietly(fitted.predict_proba, P),
        cb.TemperatureScaling().fit(exact, y).predict_proba(exact),
        atol=1e-7,
    )


@pytest.mark.parametrize("shift", [0.02, -0.02, 0.1])
def test_h29_wrong_rows_are_still_refused_with_their_number(shift):
    P, y = drawn()
    P = np.round(P, 4)
    P[17, 0] += shift
    with pytest.raises(InputError, match=r"sum to 1 .*; row 17 sums to .* \(1 in all\)"):
        quietly(metrics.log_loss, y, P)
    with pytest.raises(InputError, match="row 17 sums to"):
        quietly(cb.TemperatureScaling().fit, P, y)


def test_h29_a_row_is_valid_alone_where_it_is_valid_in_a_batch():
    P, y = drawn()
    P = np.round(P, 3)
    fitted = quietly(cb.TemperatureScaling().fit, P, y)
    whole = quietly(fitted.predict_proba, P)
    alone = [quietly(fitted.predict_proba, P[i : i + 1]) for i in range(40)]
    np.testing.assert_array_equal(np.concatenate(alone), whole[:40])


def test_h29_the_notice_comes_once():
    P, y = drawn()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        metrics.log_loss(y, np.round(P, 4))
    assert [ROUNDED in str(one.message) for one in seen] == [True]


def test_h29_shares_of_raters_may_be_rounded_too():
    shares = np.tile([[1 / 3, 1 / 3, 1 / 3], [0.5, 0.3, 0.2]], (20, 1))
    P = np.tile([[0.2, 0.3, 0.5], [0.6, 0.2, 0.2]], (20, 1))
    assert metrics.log_loss(SoftLabels(np.round(shares, 3)), P) == pytest.approx(
        metrics.log_loss(SoftLabels(shares), P)
    )
    with pytest.raises(InputError, match="row 1 is"):
        SoftLabels([[0.333, 0.333, 0.333], [0.5, 0.3, 0.1]])


@pytest.fixture
def tables(tmp_path):
    """Five-decimal probabilities of ten classes, as files of every kind; their exact log loss."""
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    P, y = drawn(10, 600, 3)
    P = np.round(P, 5)
    assert np.abs(P.sum(axis=1) - 1.0).max() > 1.5e-5
    frame = pd.DataFrame(P, columns=[f"p_{k}" for k in range(10)]).assign(label=y)
    frame.to_csv(tmp_path / "f.csv", index=False)
    frame.to_parquet(tmp_path / "f.parquet")
    frame.to_json(tmp_path / "f.jsonl", orient="records", lines=True)
    np.savez(tmp_path / "f.npz", probabilities=P, labels=y)
    return frame, metrics.log_loss(y, P / P.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "in parts"])
@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "npz"])
def test_h29_every_file_is_read(kind, streamed, tables, run, monkeypatch):
    if streamed:
        monkeypatch.setenv("CALIBRANT_STREAMED_ROWS", "100")
    found = run("evaluate", f"f.{kind}", "--json", "--target", "answer")
    rows = {row["key"]: row["before"]["value"] for row in json.loads(found.stdout)["metrics"]}
    assert rows["log_loss"] == pytest.approx(tables[1], rel=1e-9)
    assert found.stderr.count(ROUNDED) == 1
    run("fit", f"f.{kind}", "--method", "temperature", "-o", "m")
    run("apply", "m", f"f.{kind}", "-o", f"out.{kind}")


@pytest.mark.parametrize("engine", ["polars", "duckdb", "pyarrow"])
def test_h29_every_engine_reads_them(engine, tables, tmp_path):
    pytest.importorskip(engine)
    path = str(tmp_path / "f.parquet")
    found = quietly(cb.evaluate, path, label="label", probabilities="p_*", engine=engine)
    assert found.overall()["log_loss"] == pytest.approx(tables[1], rel=1e-9)
    frame = tables[0].copy()
    frame.loc[5, "p_3"] += 0.2
    frame.to_parquet(tmp_path / "wrong.parquet")
    with pytest.raises(InputError, match=r"row 5 sums to 1\.2"):
        quietly(
            cb.evaluate,
            str(tmp_path / "wrong.parquet"),
            label="label",
            probabilities="p_*",
            engine=engine,
        )
