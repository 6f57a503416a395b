"""Real clusters - local Spark, two Dask processes, local Ray - against pyarrow: every column of
every mode, over 21 files.
"""

from glob import glob

import numpy as np
import pytest
from tests.tables.conftest import FILES, ROWS
from tests.tables.modes import COLUMNS, MODES, assert_same

import calibrant as cb
from calibrant.tables import apply, sample, sketch
from calibrant.tables.engines import ray_engine

PATTERN = {"probabilities": "p_*"}
# Spark warns of the pandas it does not use here; Ray of its own settings.
pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings(r"ignore::DeprecationWarning:ray\..*"),
]


@pytest.mark.parametrize("cluster", ["dask", "spark", "ray"])
def test_a_cluster_does_what_pyarrow_does(
    cluster, request, logs, folders, whole, tmp_path, monkeypatch
):
    """One test a cluster, which takes seconds to start: a run on several workers then starts
    each once.
    """
    request.getfixturevalue(f"{cluster}_cluster")
    # So few states would need no tree.
    monkeypatch.setattr(ray_engine, "FAN", 4)
    _assert_every_column_of_every_mode(cluster, logs, folders)
    _assert_sketch(cluster, logs)
    _assert_sample(cluster, logs, whole)
    _assert_frame(cluster, logs, tmp_path)
    for mode in ("p_*", "vector"):
        _assert_apply(cluster, mode, logs, whole, tmp_path)


def _assert_every_column_of_every_mode(cluster, logs, folders):
    for asked in MODES.values():
        assert_same(
            cb.evaluate(logs, engine=cluster, **asked), cb.evaluate(logs, engine="pyarrow", **asked)
        )
    forecasts = {"label": "w", "mean": "region", "std": "score", "by": "model"}
    assert_same(
        cb.evaluate(logs, engine=cluster, **forecasts),
        cb.evaluate(logs, engine="pyarrow", **forecasts),
    )
    asked = {"probabilities": "p_*", "by": ["model", "day"]}
    assert_same(cb.evaluate(folders[0], engine=cluster, **asked), cb.evaluate(folders[1], **asked))


def _assert_sketch(cluster, logs):
    asked = {"score": "score", "predicted": "predicted", "n_bins": 512}
    found, expected = (sketch(logs, engine=engine, **asked) for engine in (cluster, "pyarrow"))
    for name in expected.groups:
        for left, right in zip(
            found.points(predicted=name[-1]), expected.points(predicted=name[-1]), strict=True
        ):
            np.testing.assert_allclose(left, right, rtol=1e-9)


def _assert_sample(cluster, logs, whole):
    drawn = sample(logs, 600, probabilities="p_*", engine=cluster)
    assert 450 < len(drawn) < 750
    assert drawn.weight.sum() == pytest.approx(len(whole))


def _frame(cluster, logs):
    """The files as the cluster's own table."""
    paths = sorted(glob(logs))
    if cluster == "dask":
        import dask.dataframe

        return dask.dataframe.read_parquet(paths)
    if cluster == "ray":
        import pyarrow.parquet as pq
        import ray.data

        # One block a file; Ray would join them, and their states would need no tree.
        return ray.data.from_arrow([pq.read_table(path) for path in paths])
    from pyspark.sql import SparkSession

    return SparkSession.builder.getOrCreate().read.parquet(*paths)


def _assert_frame(cluster, logs, tmp_path):
    """Each function takes the cluster's own table, too."""
    frame = _frame(cluster, logs)
    asked = {"probabilities": "p_*", "by": "region"}
    assert_same(cb.evaluate(frame, **asked), cb.evaluate(logs, **asked))
    found, expected = (sketch(each, probabilities="p_*", n_bins=64) for each in (frame, logs))
    np.testing.assert_allclose(np.sort(found.points()), np.sort(expected.points()), rtol=1e-9)
    drawn = sample(frame, 600, probabilities="p_*")
    title = cb.report(drawn, calibrator=cb.calibrators.Identity()).to_dict()["title"]
    assert title == f"Report of {len(drawn):,} sampled rows that stand for {FILES * ROWS:,}"
    out = apply(drawn.fit(cb.TemperatureScaling()), frame, tmp_path / "of_frame", **PATTERN)
    assert cb.evaluate(out, engine="pyarrow", **PATTERN).overall()["n"] == FILES * ROWS


def _assert_apply(cluster, mode, logs, whole, tmp_path):
    import pandas as pd

    P = whole[COLUMNS].to_numpy(np.float32)
    fitted = cb.TemperatureScaling().fit(P, whole["label"])
    out = pd.read_parquet(
        apply(fitted, logs, tmp_path / mode.strip("*"), probabilities=mode, engine=cluster)
    )
    # Partitions may come back in any order; the note names the row and its file.
    out, expected = (frame.sort_values(["ts", "note"], ignore_index=True) for frame in (out, whole))
    P = expected[COLUMNS].to_numpy(np.float32)
    found = out[COLUMNS].to_numpy() if mode == "p_*" else np.stack(out["vector"].to_list())
    np.testing.assert_allclose(found, fitted.predict_proba(P), atol=1e-12)
    np.testing.assert_allclose(out["confidence"], fitted.predict_confidence(P), atol=1e-12)
    assert list(out) == [*expected, "confidence"]
    for name in set(expected) - {*COLUMNS, "vector"}:
        equal = out[name].to_numpy() == expected[name].to_numpy()
        assert np.all(equal | (out[name].isna() & expected[name].isna())), name
