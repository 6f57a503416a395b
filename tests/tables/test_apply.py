"""Applying over frames equals applying in memory, on each engine; the rest of the table is
untouched.
"""

import pickle

import numpy as np
import pytest
from tests.tables.modes import COLUMNS

import calibrant as cb
from calibrant.errors import CalibrationWarning, InputError
from calibrant.tables.apply import _layout, _warn_of_new_levels, apply


@pytest.fixture(scope="module")
def fitted(whole):
    return cb.TemperatureScaling().fit(whole[COLUMNS].to_numpy(np.float32), whole["label"])


@pytest.mark.parametrize("mode", ["p_*", "vector"])
@pytest.mark.parametrize("engine", ["auto", "polars", "duckdb", "pyarrow"])
def test_equals_memory_and_leaves_the_rest(engine, mode, logs, whole, fitted, tmp_path):
    import pandas as pd

    pytest.importorskip("polars" if engine == "auto" else engine)
    out = pd.read_parquet(
        apply(fitted, logs, tmp_path / "out.parquet", probabilities=mode, engine=engine)
    )
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

    from calibrant.tables.apply import Transform, _layout

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
    fitted = cb.calibrators.VectorScaling(classes=["cat", "dog", "eel"]).fit(P, y)
    logs = pd.DataFrame(P[:, ::-1], columns=["p_eel", "p_dog", "p_cat"])
    out = pd.read_parquet(apply(fitted, logs, tmp_path / "out.parquet", probabilities="p_*"))
    np.testing.assert_allclose(
        out[["p_cat", "p_dog", "p_eel"]], fitted.predict_proba(P), atol=1e-12
    )


def test_groups_of_which_all_are_new_warn_and_times_are_found_in_any_engine(tmp_path):
    import pandas as pd

    n = 300
    when = pd.Timestamp("2026-03-01 12:00") + pd.to_timedelta(np.arange(n) % 3, unit="h")
    p = np.linspace(0.1, 0.9, n)
    frame = pd.DataFrame({"p": p, "when": when, "site": np.where(np.arange(n) % 2, "a", "b")})
    y = np.where(np.arange(n) % 3 == 0, p > 0.3, p > 0.7)
    fitted = cb.GroupCalibrator(cb.calibrators.Identity()).fit(p, y, groups=frame[["when", "site"]])
    assert fitted.offsets_.used
    wanted = fitted.predict_proba(p, groups=frame[["when", "site"]])[:, 1]
    frame.to_parquet(tmp_path / "in.parquet")
    for engine in ("polars", "duckdb", "pyarrow"):
        out = apply(
            fitted,
            tmp_path / "in.parquet",
            tmp_path / f"{engine}.parquet",
            probabilities="p",
            engine=engine,
        )
        np.testing.assert_allclose(pd.read_parquet(out)["p"], wanted, atol=1e-12)
    with pytest.warns(
        CalibrationWarning,
        match=(
            "none of the 300 rows has a level of the column site of groups.*it holds 'A', 'B',"
            " the fit"
        ),
    ):
        apply(
            fitted,
            frame.assign(site=frame.site.str.upper()),
            tmp_path / "new.parquet",
            probabilities="p",
        )


def test_what_only_the_workers_of_a_cluster_see_is_said_here(tmp_path):
    """Of the folder that they wrote: a cluster's own table is not needed for that."""
    import pandas as pd

    p = np.linspace(0.1, 0.9, 300)
    frame = pd.DataFrame(
        {"p": p, "site": np.where(np.arange(300) % 2, "a", "b"), "far": np.arange(300) % 5 == 0}
    )
    fitted = cb.GroupCalibrator().fit(
        p, np.where(frame.site == "a", p > 0.3, p > 0.7), groups=frame[["site", "far"]]
    )
    layout = _layout(
        {"p": "other", "site": "other", "far": "other"}, "p", None, fitted.group_names_
    )
    for name, parts in {"known": ["C", "D", "a"], "new": ["C", "D", "E"]}.items():
        (tmp_path / name).mkdir()
        for k, site in enumerate(parts):
            frame.assign(site=site).to_parquet(tmp_path / name / f"part.{k}.parquet")
    _warn_of_new_levels(fitted, layout, tmp_path / "known")
    with pytest.warns(
        CalibrationWarning,
        match=(
            "none of the 300 rows has a level of the column site of groups.*it holds 'C', the fit"
        ),
    ) as said:
        _warn_of_new_levels(fitted, layout, tmp_path / "new")
    assert len(said) == 1


def test_a_cluster_whose_rows_are_all_of_new_levels_warns(tmp_path):
    import pandas as pd

    dask = pytest.importorskip(
        "dask.dataframe", reason="Dask is not installed: pip install 'calibrant[dask]'"
    )
    p = np.linspace(0.1, 0.9, 300)
    frame = pd.DataFrame({"p": p, "site": np.where(np.arange(300) % 2, "a", "b")})
    fitted = cb.GroupCalibrator().fit(
        p, np.where(frame.site == "a", p > 0.3, p > 0.7), groups=frame[["site"]]
    )
    made = pd.read_parquet(
        apply(fitted, dask.from_pandas(frame, npartitions=2), tmp_path / "known", probabilities="p")
    )
    np.testing.assert_allclose(
        made["p"], fitted.predict_proba(p, groups=frame[["site"]])[:, 1], atol=1e-12
    )
    with pytest.warns(CalibrationWarning, match="rows has a level of the column site of groups"):
        apply(
            fitted,
            dask.from_pandas(frame.assign(site="N"), npartitions=2),
            tmp_path / "new",
            probabilities="p",
        )


@pytest.mark.parametrize("limit", ["1000000", "4"])
@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_columns_of_a_later_file_are_kept_or_refused(kind, limit, run, tmp_path, monkeypatch):
    """The command keeps a column that the first file lacks; in Python nothing is written."""
    import pandas as pd

    monkeypatch.setenv("CALIBRANT_STREAMED_ROWS", limit)
    (tmp_path / "days").mkdir()
    days = [{"p": [0.2, 0.7]}, {"site": ["a", None], "p": [0.4, 0.6]}, {"p": [0.3], "n": [7]}]
    for i, day in enumerate(days):
        write = {
            "csv": lambda f, path: f.to_csv(path, index=False),
            "jsonl": lambda f, path: f.to_json(path, orient="records", lines=True),
            "parquet": lambda f, path: f.to_parquet(path, index=False),
        }[kind]
        write(pd.DataFrame(day), tmp_path / f"days/{i}.{kind}")
    fitted = cb.TemperatureScaling().fit([0.2, 0.7, 0.6], [0, 1, 0])
    run("apply", fitted.save(tmp_path / "m"), "days", "--risk", "p", "-o", f"out.{kind}")
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet}.get(
        kind, lambda path: pd.read_json(path, lines=True)
    )
    out = read(tmp_path / f"out.{kind}")
    assert out["site"].fillna("").tolist() == ["", "", "a", "", ""]
    assert out["n"].fillna(-1).tolist() == [-1, -1, -1, -1, 7]
    np.testing.assert_allclose(out["p"], fitted.predict_proba([0.2, 0.7, 0.4, 0.6, 0.3])[:, 1])
    with pytest.raises(InputError, match=r"1\.\w+ must have the columns .* it also has 'site'"):
        apply(fitted, tmp_path / "days", tmp_path / "py.parquet", probabilities="p")
    assert not (tmp_path / "py.parquet").exists()
