"""Columns of means and standard deviations through every engine against the metrics in memory."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.errors import InputError

pytest.importorskip("pyarrow")
pytest.importorskip("pandas")

ASKED = {"label": "y", "mean": "mu", "std": "sigma"}
IN_MEMORY = {
    "nll": metrics.negative_log_likelihood,
    "crps": metrics.continuous_ranked_probability_score,
    "rmse": metrics.root_mean_squared_error,
    "mae": metrics.mean_absolute_error,
    "sharpness": metrics.sharpness,
    "c_v": metrics.coefficient_of_variation,
    "coverage": metrics.interval_coverage,
    "width": metrics.interval_width,
    "interval_calibration_error": metrics.interval_calibration_error,
    "ence": metrics.expected_normalized_calibration_error.with_options(cells=32),
    "uce": metrics.uncertainty_calibration_error.with_options(cells=32),
}


@pytest.fixture(scope="module")
def whole():
    import pandas as pd

    rng = np.random.default_rng(3)
    mean, std, n = rng.normal(size=2000), np.exp(0.5 * rng.normal(size=2000)), 2000
    return pd.DataFrame(
        {
            "mu": mean,
            "sigma": std,
            "y": mean + 1.3 * std * rng.normal(size=n),
            "region": rng.integers(0, 3, n),
            "model": np.array(["a", "b"])[rng.integers(0, 2, n)],
            "w": rng.integers(0, 4, n).astype(float),
        }
    )


@pytest.fixture(scope="module")
def files(whole, tmp_path_factory):
    folder = tmp_path_factory.mktemp("forecasts")
    for k in range(7):
        whole.iloc[k::7].to_parquet(folder / f"part_{k}.parquet", index=False)
    return f"{folder}/*.parquet"


def _equal(found, rows, weight=None):
    weight = None if weight is None else rows[weight].to_numpy()
    for name, metric in IN_MEMORY.items():
        value = metric(
            rows["y"].to_numpy(),
            rows["mu"].to_numpy(),
            rows["sigma"].to_numpy(),
            sample_weight=weight,
        )
        assert found[name] == pytest.approx(value, abs=1e-9, rel=1e-9), name


@pytest.mark.parametrize("engine", ["polars", "duckdb", "pyarrow"])
def test_every_engine_equals_the_metrics_in_memory(engine, files, whole):
    pytest.importorskip(engine)
    _equal(cb.evaluate(files, engine=engine, **ASKED).overall(), whole)
    frame = cb.evaluate(files, engine=engine, by=["region", "model"], **ASKED).frame()
    assert len(frame) == 6
    for _, row in frame.iterrows():
        rows = whole[(whole["region"] == row["region"]) & (whole["model"] == row["model"])]
        assert row["n"] == len(rows)
        _equal(row, rows)


@pytest.mark.parametrize("engine", ["polars", "duckdb", "pyarrow"])
def test_quantiles_equal_the_metrics_of_the_quantile_forecast(engine, whole, tmp_path):
    pytest.importorskip(engine)
    levels = [0.1, 0.5, 0.9]
    # Names in an order that is not that of the levels.
    columns = {
        f"q_{level}": cb.NormalForecast(whole["mu"], whole["sigma"]).quantile(level)
        for level in reversed(levels)
    }
    whole.assign(**columns).to_parquet(tmp_path / "q.parquet", index=False)
    found = cb.evaluate(
        str(tmp_path / "q.parquet"), label="y", quantiles="q_*", by="model", engine=engine
    )
    for row in found.frame().to_dict("records"):
        rows = whole["model"] == row["model"]
        values = np.column_stack([columns[f"q_{level}"] for level in levels])[rows]
        forecast = cb.QuantileForecast(levels, values)
        for name, metric in IN_MEMORY.items():
            assert row[name] == pytest.approx(
                metric(whole["y"][rows].to_numpy(), forecast), rel=1e-9, abs=1e-9
            ), name
    assert found.levels.tolist() == levels


def test_what_quantiles_must_be_is_said(whole):
    for wrong in ("q_*", "mu"):
        with pytest.raises(InputError, match="quantiles must be a pattern"):
            cb.evaluate(whole, label="y", quantiles=wrong)
    with pytest.raises(InputError, match="not both"):
        cb.evaluate(whole, quantiles="q_*", **ASKED)


def test_weights_and_intervals(files, whole):
    found = cb.evaluate(files, weight="w", n_bins=5, **ASKED).overall()
    interval = metrics.negative_log_likelihood.interval(
        whole["y"], whole["mu"], whole["sigma"], sample_weight=whole["w"]
    )
    assert (found["nll_low"], found["nll_high"]) == pytest.approx(
        (interval.low, interval.high), abs=1e-9
    )
    ence = metrics.expected_normalized_calibration_error
    assert found["ence"] == pytest.approx(
        ence(whole["y"], whole["mu"], whole["sigma"], sample_weight=whole["w"], n_bins=5, cells=32),
        abs=1e-9,
    )
    _equal(cb.evaluate(files, weight="w", **ASKED).overall(), whole, "w")


def test_parts_add_up_are_saved_and_go_on(files, whole, tmp_path):
    import glob

    paths = sorted(glob.glob(files))
    parts = [cb.evaluate(p, by="model", **ASKED) for p in (paths[:3], paths[3:])]
    _equal((parts[0] + parts[1]).overall(), whole)
    assert (
        cb.load(parts[0].state.save(tmp_path / "state.calibrant")).settings
        == parts[1].state.settings
    )
    kept = tmp_path / "sums.calibrant"
    cb.evaluate(paths[:3], checkpoint=kept, **ASKED)
    _equal(cb.evaluate(paths, checkpoint=kept, **ASKED).overall(), whole)
    as_dict = parts[0].to_dict()
    assert [s["model"] for s in as_dict["slices"]] == ["a", "b"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"mean": "mu"}, "needs std="),
        ({"mean": "mu", "std": "spread"}, "'spread'"),
        *(
            ({"mean": "mu", "std": "sigma", name: value}, f"{name}= applies to classification only")
            for name, value in {
                "probabilities": "p_*",
                "score": "p",
                "predicted": "answer",
                "classes": ["a", "b"],
                "strategy": "mass",
                "target": "event",
            }.items()
        ),
        ({"mean": "mu", "std": "w"}, "must be finite and positive"),
        ({"mean": "model", "std": "sigma"}, "must hold numbers"),
    ],
)
def test_refused_by_name(asked, words, files):
    with pytest.raises(InputError, match=words):
        cb.evaluate(files, label="y", **asked)
