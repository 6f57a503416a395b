"""Applying over frames equals applying in memory, on each engine; the rest of the table is untouched."""

import pickle

import numpy as np
import pytest
from tests.frames.modes import COLUMNS

import calibrant as cb
from calibrant.errors import InputError
from calibrant.frames.apply import apply


@pytest.fixture(scope="module")
def fitted(whole):
    return cb.TemperatureScaling().fit(whole[COLUMNS].to_numpy(np.float32), whole["label"])


@pytest.mark.parametrize("mode", ["p_*", "vector"])
@pytest.mark.parametrize("engine", ["auto", "polars", "duckdb", "pyarrow"])
def test_equals_memory_and_leaves_the_rest(engine, mode, logs, whole, fitted, tmp_path):
    import pandas as pd

    pytest.importorskip("polars" if engine == "auto" else engine)
    out = pd.read_parquet(apply(fitted, logs, tmp_path / "out.parquet", probabilities=mode, engine=engine))
    P = whole[COLUMNS].to_numpy(np.float32)
    Q = out[COLUMNS].to_numpy() if mode == "p_*" else np.stack(out["vector"].to_list())
    np.testing.assert_allclose(Q, fitted.predict_proba(P), atol=1e-12)
    np.testing.assert_allclose(out["confidence"], fitted.predict_confidence(P), atol=1e-12)
    rest = [c for c in whole if c not in COLUMNS and c != "vector"]
    for name in rest:
        same = out[name].to_numpy() == whole[name].to_numpy()
        assert np.all(same | (out[name].isna() & whole[name].isna())), name


def test_a_map_takes_the_score(logs, whole, tmp_path):
    import pandas as pd

    map_ = cb.Platt().fit(whole["score"], whole["label"] == whole["predicted"])
    out = pd.read_parquet(apply(map_, logs, tmp_path / "out.parquet", score="score"))
    np.testing.assert_allclose(out["confidence"], map_.predict(whole["score"]), atol=1e-12)
    assert list(out)[:-1] == list(whole)


def test_what_goes_to_workers_can_be_pickled(fitted, whole):
    import pyarrow as pa

    from calibrant.frames.apply import Transform, _layout

    made = Transform(fitted, _layout(dict.fromkeys(COLUMNS, "other"), "p_*", None))
    batch = pa.RecordBatch.from_pandas(whole[COLUMNS], preserve_index=False)
    assert pickle.loads(pickle.dumps(made))(batch).equals(made(batch))


def test_refusals(logs, fitted, tmp_path):
    with pytest.raises(InputError, match="a map with score="):
        apply(fitted, logs, tmp_path / "out.parquet", score="score")
    (tmp_path / "out.parquet").touch()
    with pytest.raises(FileExistsError):
        apply(fitted, logs, tmp_path / "out.parquet", probabilities="p_*")


def test_columns_named_by_classes_are_put_in_the_order_of_the_calibrator(tmp_path):
    import pandas as pd

    P = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    y = np.array(["cat", "dog", "eel"])[(P.cumsum(axis=1) < 0.5).sum(axis=1)]
    fitted = cb.VectorScaling(classes=["cat", "dog", "eel"]).fit(P, y)
    logs = pd.DataFrame(P[:, ::-1], columns=["p_eel", "p_dog", "p_cat"])
    out = pd.read_parquet(apply(fitted, logs, tmp_path / "out.parquet", probabilities="p_*"))
    np.testing.assert_allclose(out[["p_cat", "p_dog", "p_eel"]], fitted.predict_proba(P), atol=1e-12)
