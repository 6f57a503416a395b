"""Every embedded engine against the metrics in memory, on every column, over 21 files."""

import importlib
import pickle

import numpy as np
import pytest
from tests.tables.modes import COLUMNS, MODES, assert_same

import calibrant as cb
from calibrant import metrics
from calibrant.errors import InputError
from calibrant.tables.evaluation import Evaluation

EMBEDDED = ["polars", "duckdb", "pyarrow"]


@pytest.fixture(scope="module")
def expected(logs):
    return {mode: cb.evaluate(logs, engine="pyarrow", **asked) for mode, asked in MODES.items()}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("engine", ["auto", *EMBEDDED])
def test_embedded_engines_agree_on_every_column(engine, mode, logs, expected):
    pytest.importorskip("polars" if engine == "auto" else engine)
    assert_same(cb.evaluate(logs, engine=engine, **MODES[mode]), expected[mode])


def _in_memory(rows, weight=None):
    P, y = rows[COLUMNS].to_numpy(np.float32), rows["label"].to_numpy()
    kwargs = {} if weight is None else {"sample_weight": rows[weight].to_numpy()}
    named = {
        "accuracy": metrics.accuracy,
        "log_loss": metrics.log_loss,
        "brier_score": metrics.brier_score,
        "ece": metrics.expected_calibration_error,
        "mce": metrics.maximum_calibration_error,
    }
    return {name: metric(y, P, **kwargs) for name, metric in named.items()}


def test_equal_to_the_metrics_in_memory(logs, whole):
    found = cb.evaluate(logs, probabilities="p_*").overall()
    for name, value in _in_memory(whole).items():
        assert found[name] == pytest.approx(value, abs=1e-9), name
    interval = metrics.log_loss.interval(whole["label"], whole[COLUMNS].to_numpy(np.float32))
    assert (found["log_loss_low"], found["log_loss_high"]) == pytest.approx(
        (interval.low, interval.high), abs=1e-9
    )


def test_weights_equal_the_metrics_in_memory(logs, whole):
    found = cb.evaluate(logs, probabilities="p_*", weight="w").overall()
    for name, value in _in_memory(whole, "w").items():
        assert found[name] == pytest.approx(value, abs=1e-9), name


def test_slices_equal_the_metrics_in_memory(logs, whole):
    frame = cb.evaluate(logs, probabilities="p_*", by=["region", "model"], time="ts").frame()
    day = whole["ts"].dt.date.astype(str)
    assert len(frame) == 5 * 3 * 4
    for _, row in frame.iterrows():
        model = (
            whole["model"].isna()
            if row["model"] is None or row["model"] != row["model"]
            else whole["model"] == row["model"]
        )
        part = whole[(whole["region"] == row["region"]) & model & (day == row["day"])]
        assert row["n"] == len(part)
        for name, value in _in_memory(part).items():
            assert row[name] == pytest.approx(value, abs=1e-9), name


def test_scores_alone_give_the_losses_of_the_confidence(logs, whole):
    found = cb.evaluate(logs, score="score", predicted="predicted").overall()
    right, score = (whole["predicted"] == whole["label"]).astype(int), whole["score"].to_numpy()
    assert found["ece"] == pytest.approx(_in_memory(whole)["ece"], abs=1e-6)
    assert found["confidence_log_loss"] == pytest.approx(metrics.log_loss(right, score), abs=1e-9)
    assert found["confidence_brier_score"] == pytest.approx(
        metrics.brier_score(right, score, scale_by_half=True), abs=1e-9
    )


def test_equal_mass_bins_are_within_their_bound(logs, whole):
    found = cb.evaluate(logs, probabilities="p_*", strategy="mass", n_bins=10).overall()
    exact = metrics.expected_calibration_error(
        whole["label"], whole[COLUMNS].to_numpy(np.float32), n_bins=10, strategy="mass"
    )
    assert 0.0 < found["ece_bound"] < 0.05
    assert abs(found["ece"] - exact) <= found["ece_bound"]


@pytest.mark.parametrize("kind", ["pandas", "pyarrow", "polars", "polars lazy", "duckdb"])
def test_tables_of_every_kind(kind, logs, whole, expected):
    pytest.importorskip(kind.split()[0])
    import pyarrow as pa

    if kind == "duckdb":
        table = importlib.import_module("duckdb").connect().read_parquet(logs)
    elif kind.startswith("polars"):
        table = importlib.import_module("polars").read_parquet(logs)
        table = table.lazy() if "lazy" in kind else table
    else:
        table = whole if kind == "pandas" else pa.Table.from_pandas(whole)
    for mode in ("columns", "list", "sliced"):
        assert_same(cb.evaluate(table, **MODES[mode]), expected[mode])


def test_parts_add_up_and_states_are_saved(logs, expected, tmp_path):
    import glob

    paths = sorted(glob.glob(logs))
    parts = [cb.evaluate(p, **MODES["sliced"]) for p in (paths[:9], paths[9:])]
    assert_same(parts[0] + parts[1], expected["sliced"])
    state = cb.load(parts[0].state.save(tmp_path / "state.calibrant"))
    assert_same(Evaluation(state + pickle.loads(pickle.dumps(parts[1].state))), expected["sliced"])


def test_a_run_that_was_stopped_goes_on(logs, expected, tmp_path, monkeypatch):
    kept = tmp_path / "sums.calibrant"

    def stop(done, total):
        if done == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cb.evaluate(logs, checkpoint=kept, progress=stop, **MODES["sliced"])
    engine = importlib.import_module("calibrant.tables.engines.polars_engine")
    read, original = [], engine.batches
    monkeypatch.setattr(engine, "batches", lambda *a, **k: read.append(1) or original(*a, **k))
    assert_same(cb.evaluate(logs, checkpoint=kept, **MODES["sliced"]), expected["sliced"])
    assert len(read) == 11
    with pytest.raises(InputError, match="same evaluation"):
        cb.evaluate(logs, checkpoint=kept, **MODES["columns"])


def test_the_record(logs):
    found = cb.evaluate(logs, probabilities="p_*", by="region")
    as_dict = found.to_dict()
    assert [s["region"] for s in as_dict["slices"]] == [0, 1, 2, 3, 4]
    assert as_dict["overall"]["n"] == sum(s["n"] for s in as_dict["slices"]) == 21 * 150
    curve = found.reliability_curve(2)
    assert curve.n.sum() == as_dict["slices"][2]["n"]
    mass = cb.evaluate(logs, probabilities="p_*", strategy="mass", n_bins=5).reliability_curve()
    assert len(mass.n) == 5
    assert np.all(np.diff(mass.confidence) > 0)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"probabilities": "q_*"}, "columns like 'q_"),
        ({"probabilities": "p_*", "label": "truth"}, "'truth'"),
        ({"score": "score"}, "whether the answer was right"),
        ({}, "either probabilities="),
        ({"probabilities": "p_*", "engine": "abacus"}, "abacus"),
        ({"probabilities": "p_*", "label": "model"}, "3|missing"),
        ({"probabilities": "p_*", "label": "note"}, "among the classes"),
        ({"probabilities": "p_*", "time": "region"}, "column of times"),
        ({"probabilities": "p_*", "by": ["region", "region"]}, "got 'region' twice"),
        ({"probabilities": "p_*", "by": "ts", "time": "ts"}, "got 'ts' twice"),
        (
            {"probabilities": "p_*", "cluster": "region"},
            "cluster must be None, because tables are evaluated out of core",
        ),
        ({"probabilities": ["p_0", "p_1", "p_2", "w"], "classes": range(4)}, "probabilities in"),
    ],
)
def test_refused_by_name(asked, words, logs):
    with pytest.raises(InputError, match=words):
        cb.evaluate(logs, **asked)


def test_no_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="must hold files that end in"):
        cb.evaluate(f"{tmp_path}/*.parquet", probabilities="p_*")


def test_batches_of_any_size_give_the_same_sums(logs, whole, expected):
    import pyarrow as pa

    table = pa.Table.from_pandas(whole)
    rows = [1, 0, 900, 7, len(whole) - 908]
    parts = [
        table.slice(start, stop - start)
        for start, stop in zip(np.cumsum([0, *rows[:-1]]), np.cumsum(rows), strict=True)
    ]
    assert_same(cb.evaluate(pa.concat_tables(parts), **MODES["sliced"]), expected["sliced"])


def test_slices_far_apart_and_few_rows_of_each():
    import pandas as pd

    rng = np.random.default_rng(3)
    logs = pd.DataFrame(
        {
            "p": rng.random(4000),
            "label": rng.integers(0, 2, 4000),
            "user": rng.choice([5, -(2**40), 2**50, 77], 4000),
        }
    )
    logs["item"] = rng.integers(0, 3000, 4000)
    found = cb.evaluate(logs, probabilities="p", by=["user", "item"]).frame()
    counted = logs.groupby(["user", "item"]).size()
    assert found.set_index(["user", "item"])["n"].to_dict() == counted.to_dict()
    one = logs[logs["user"] == 77]
    assert cb.evaluate(logs, probabilities="p", by="user").frame().set_index("user")["log_loss"][
        77
    ] == pytest.approx(metrics.log_loss(one["label"], one["p"]), abs=1e-9)


@pytest.mark.parametrize(
    ("folders", "values"),
    [
        (("007", "7"), ["007", "7"]),
        (("7", "12"), [7, 12]),
        (("1e3", "0.5"), [0.5, 1000]),
        (("true", "false"), [False, True]),
        (("b", "12"), ["12", "b"]),
    ],
)
@pytest.mark.parametrize("engine", [*EMBEDDED, "parts"])
def test_values_of_folders_are_of_one_type_on_every_engine(engine, folders, values, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow" if engine == "parts" else engine)
    frame = pandas.DataFrame({"p": [0.2, 0.7], "label": [0, 1]})
    for value in folders:
        (tmp_path / f"site={value}").mkdir()
        if engine == "parts":
            frame.to_csv(tmp_path / f"site={value}/0.csv", index=False)
        else:
            frame.to_parquet(tmp_path / f"site={value}/0.parquet")
    options = {"probabilities": "p", "by": "site"}
    if engine == "parts":
        found = cb.evaluate(tmp_path, **options)
        values = [str(value).lower() if value in (False, True) else value for value in values]
    else:
        found = cb.evaluate(tmp_path, engine=engine, **options)
    assert [row["site"] for row in found.to_dict()["slices"]] == values


@pytest.mark.parametrize("engine", EMBEDDED)
def test_a_column_of_later_files_alone_is_left_out(engine, tmp_path):
    pytest.importorskip(engine)
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"p": [0.2, 0.7], "label": [0, 1]})
    pq.write_table(table, tmp_path / "1.parquet")
    pq.write_table(table.append_column("note", pa.array(["a", "b"])), tmp_path / "2.parquet")
    found = cb.evaluate(str(tmp_path / "*.parquet"), probabilities="p", engine=engine)
    assert found.overall()["n"] == 4


@pytest.mark.parametrize("engine", EMBEDDED)
def test_names_of_folders_are_columns(engine, folders, tmp_path):
    pytest.importorskip(engine)
    root, rows = folders
    asked = {"probabilities": "p_*", "by": ["model", "day"]}
    expected = cb.evaluate(rows, **asked)
    assert len(expected.frame()) == 4
    for source in (root, f"{root}/**/*.parquet", f"{root}/model=*/day=*/0.parquet"):
        assert_same(cb.evaluate(source, engine=engine, **asked), expected)
    assert_same(
        cb.evaluate(root, engine=engine, checkpoint=tmp_path / "sums.calibrant", **asked), expected
    )


@pytest.mark.parametrize("engine", ["auto", "pyarrow"])
def test_a_class_made_from_a_library_s_table_is_read_as_that_table(engine):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    made = type("Logs", (pandas.DataFrame,), {})({"p": [0.2, 0.9], "label": [0, 1]})
    assert (
        cb.evaluate(made, probabilities="p", target="answer", engine=engine).overall()["accuracy"]
        == 1.0
    )


def test_columns_of_whole_numbers_are_classes_of_that_number():
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    logs = pandas.DataFrame({"p_-1.0": [0.2, 0.9], "p_1.0": [0.8, 0.1], "label": ["1", "-1"]})
    assert cb.evaluate(logs, probabilities="p_*", target="answer").overall()["accuracy"] == 1.0


ASKED = [
    metrics.observed_expected_ratio,
    metrics.d2_log_loss,
    metrics.calibration_bias,
    metrics.net_benefit.with_options(threshold=0.1),
    metrics.net_benefit.with_options(threshold=0.4),
    metrics.threshold_weighted_brier_score.with_options(low=0.1, high=0.3),
]


@pytest.mark.parametrize("strategy", ["width", "mass"])
def test_further_metrics_that_are_sums_are_those_of_the_rows(strategy):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    p, w = rng.random(3000) ** 2, rng.integers(0, 3, 3000)
    logs = pandas.DataFrame(
        {
            "p": p,
            "label": (rng.random(3000) < p).astype(int),
            "site": rng.choice(list("abc"), 3000),
            "w": w,
        }
    )
    asked = {
        "probabilities": "p",
        "by": "site",
        "weight": "w",
        "metrics": ASKED,
        "strategy": strategy,
        "target": "answer",
    }
    parts = cb.evaluate(logs[:1000], **asked) + cb.evaluate(logs[1000:], **asked)
    found = parts.frame().set_index("site")
    for site, rows in logs.groupby("site"):
        for metric in ASKED:
            name = metric.key if metric.key != "net_benefit" else repr(metric)
            one = metric.interval(rows["label"], rows["p"], sample_weight=rows["w"])
            row = found.loc[site]
            assert (row[name], row[f"{name}_low"], row[f"{name}_high"]) == pytest.approx(
                (one.value, one.low, one.high), abs=1e-9
            )
    assert parts.overall()["d2_log_loss"] == pytest.approx(
        metrics.d2_log_loss(logs["label"], p, sample_weight=w), abs=1e-9
    )
    plain = cb.evaluate(logs, **(asked | {"metrics": []}))
    assert plain.overall().items() <= cb.evaluate(logs, **asked).overall().items()
    with pytest.raises(InputError, match="metrics differ"):
        cb.evaluate(logs, **asked) + plain


def test_one_class_of_several_is_an_event(logs, whole):
    asked = metrics.event_brier_score.with_options(target="dog")
    named = whole.rename(columns={"p_0": "p_cat", "p_1": "p_ant", "p_2": "p_dog", "p_3": "p_bee"})
    named["label"] = np.array(["cat", "ant", "dog", "bee"])[whole["label"]]
    found = cb.evaluate(
        named,
        probabilities=["p_cat", "p_ant", "p_dog", "p_bee"],
        classes=["cat", "ant", "dog", "bee"],
        metrics=[asked],
    )
    right = asked.with_options(target=2)(
        whole["label"], whole[[f"p_{k}" for k in range(4)]].to_numpy()
    )
    assert found.overall()["event_brier_score"] == pytest.approx(right, abs=1e-9)


def test_further_metrics_that_are_no_sums_or_lack_probabilities_are_refused(logs):
    with pytest.raises(
        InputError, match="metrics must be classification metrics that are sums over rows"
    ):
        cb.evaluate(logs, probabilities="p_*", metrics=[metrics.calibration_slope])
    with pytest.raises(InputError, match="metrics= need the probabilities"):
        cb.evaluate(logs, score="score", predicted="predicted", metrics=[metrics.brier_score])
    with pytest.raises(InputError, match="applies to classification only"):
        cb.evaluate(logs, mean="score", std="score", metrics=[metrics.brier_score])


def test_zeros_of_either_sign_are_one_slice_and_nan_is_a_missing_one():
    pa = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    p, region = rng.uniform(size=900), rng.choice([0.0, -0.0, 1.0, np.nan], 900)
    label = (rng.uniform(size=900) < p).astype(int)
    table = pa.table({"p": p, "label": label, "region": pa.array(region, from_pandas=False)})
    batches = pa.Table.from_batches(table.to_batches(max_chunksize=200))
    for source in (table, batches):
        state = cb.evaluate(source, probabilities="p", by="region", target="event").state
        counts = {
            group[0]: weight
            for group, weight in zip(state.groups, state.bins[..., 0].sum(axis=1), strict=False)
        }
        assert counts == {
            0.0: (region == 0.0).sum(),
            1.0: (region == 1.0).sum(),
            None: np.isnan(region).sum(),
        }
    missing = pa.table(
        {
            "s": p[:4],
            "said": [0.0, -0.0, 1.0, 1.0],
            "label": pa.array([0.0, 1.0, np.nan, 1.0], from_pandas=False),
        }
    )
    with pytest.raises(
        InputError, match=r"'label' must have a value in every row; row \d+ is missing \(1"
    ):
        cb.evaluate(missing, score="s", predicted="said")
    assert (
        cb.evaluate(missing.slice(0, 2), score="s", predicted="said").state.bins[..., 0].sum()
        == 2.0
    )


@pytest.mark.parametrize(
    ("by", "options"),
    [
        *((name, {}) for name in ("n", "log_loss", "mean_risk", "event_rate", "log_loss_low")),
        ("day", {"time": "ts"}),
        ("crps", {"mean": "p", "std": "s", "probabilities": None}),
        ("ece_bound", {"strategy": "mass", "target": "answer"}),
        ("brier_score", {"target": "answer"}),
    ],
)
def test_a_slice_named_like_a_metric_is_refused(by, options, run, tmp_path):
    """Each would take the place of the other, in print, JSON, Parquet and frames."""
    import pandas as pd

    frame = pd.DataFrame({"p": [0.2, 0.7], "s": [1.0, 2.0], "label": [0, 1], by: [1, 2]})
    frame["ts"] = pd.to_datetime("2026-03-01")
    with pytest.raises(InputError, match=f"another column of the result; got '{by}'; rename it"):
        cb.evaluate(frame, **{"probabilities": "p", "by": by} | options)
    if not options:
        frame.to_parquet(tmp_path / "a.parquet")
        for command in (("evaluate",), ("monitor", "--time", "ts")):
            error = run(*command, "a.parquet", "--risk", "p", "--by", by, code=1).stderr
            assert f"got '{by}'; rename it" in error
    found = cb.evaluate(frame.rename(columns={by: "g"}), probabilities="p", by="g")
    assert found.frame()["g"].tolist() == [1, 2]
