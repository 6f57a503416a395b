import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import calibrant as cb
from calibrant import metrics
from calibrant.core.forecast_record import read_forecast
from calibrant.core.joint_normal import gather
from calibrant.errors import InputError
from calibrant.reporting.judge import CALIBRATED
from calibrant.reporting.regression.task import METRICS, REGRESSION
from calibrant.reporting.report import Report
from calibrant.reporting.states import alone


def summarise(*given, **options):
    return cb.report(*given, **options).to_dict()


def data(n=900, factor=1.5, seed=0):
    """Error bars of very different sizes, all too small by ``factor``."""
    rng = np.random.default_rng(seed)
    mean, std = 3.0 * rng.normal(size=n), np.exp(0.6 * rng.normal(size=n))
    return mean + factor * std * rng.normal(size=n), mean, std


@pytest.fixture(scope="module")
def summary():
    return summarise(
        *data(), calibrator=cb.StdScaling(), n_resamples=100, groups=np.arange(900) % 2
    )


def by_key(found, output=None):
    return {row["key"]: row for row in found["metrics"] if output in (None, row["output"])}


def test_is_plain_json(summary):
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_numbers_are_those_of_the_metrics():
    y, mean, std = data()
    cal = cb.StdScaling().fit(mean[:450], y[:450], std=std[:450])
    found = by_key(summarise(y[450:], mean[450:], std[450:], calibrator=cal, n_resamples=100))
    after = cal.predict(mean[450:], std[450:])
    assert list(found) == list(METRICS)
    for key, (_, metric) in METRICS.items():
        assert found[key]["before"]["value"] == pytest.approx(
            metric(y[450:], mean[450:], std[450:]), rel=1e-12
        )
        assert found[key]["after"]["value"] == pytest.approx(metric(y[450:], after), rel=1e-12)
        assert found[key]["change"]["value"] == pytest.approx(
            found[key]["after"]["value"] - found[key]["before"]["value"], abs=1e-12
        )
        assert found[key]["before"]["low"] <= found[key]["before"]["high"]


def test_paired_interval_of_the_crps_is_the_textbook_one():
    y, mean, std = data()
    cal = cb.StdScaling().fit(mean[:450], y[:450], std=std[:450])
    change = by_key(summarise(y[450:], mean[450:], std[450:], calibrator=cal, n_resamples=100))[
        "crps"
    ]["change"]
    crps = metrics.continuous_ranked_probability_score
    each = [
        crps([y[i]], cal.predict(mean[i : i + 1], std[i : i + 1]))
        - crps([y[i]], [mean[i]], [std[i]])
        for i in range(450, 900)
    ]
    half = stats.t.ppf(0.975, 449) * np.std(each, ddof=1) / np.sqrt(450)
    assert (change["low"], change["high"]) == pytest.approx(
        (np.mean(each) - half, np.mean(each) + half), rel=1e-5
    )


@pytest.mark.parametrize(
    ("factor", "model", "calibration"),
    [
        (1.5, "overconfident", "use"),
        (0.6, "underconfident", "use"),
        (1.0, "calibrated", "no clear gain"),
    ],
)
def test_verdicts(factor, model, calibration):
    found = summarise(*data(factor=factor), calibrator=cb.StdScaling(), n_resamples=100)
    assert (found["verdict"]["model"], found["verdict"]["calibration"]) == (model, calibration)
    assert found["calibrator"]["evaluation"] == "out-of-fold"


def test_honest_error_bars_are_called_so_nearly_always():
    blamed = [
        summarise(*data(300, 1.0, seed), calibrator=cb.calibrators.Identity(), n_resamples=0)[
            "verdict"
        ]["model"]
        for seed in range(20)
    ]
    assert blamed.count("calibrated") >= 17


def test_a_std_drawn_at_random_is_found_out_though_its_intervals_hold():
    y, mean, std = data(2000, 1.0)
    shuffled = np.random.default_rng(1).permutation(std)
    fitted = cb.regression.IntervalCalibration().fit(mean[:1000], y[:1000], std=shuffled[:1000])
    found = summarise(y[1000:], mean[1000:], shuffled[1000:], calibrator=fitted, n_resamples=100)
    rows = by_key(found)
    assert rows["interval_calibration_error"]["after"]["value"] < 0.03
    assert rows["ence"]["after"]["value"] > 0.3
    assert found["outputs"][0]["std_regions"][0]["low"] > 0.0


def test_in_sample_numbers_are_found_out_and_drive_nothing():
    y, mean, std = data()
    for calibrator in (cb.StdScaling(), cb.regression.IntervalCalibration()):
        fitted = calibrator.fit(mean, y, std=std)
        found = summarise(y, mean, std, calibrator=fitted, n_resamples=0)
        assert found["calibrator"]["evaluation"] == "in-sample"
        assert found["verdict"]["calibration"] == "unknown"
        assert found["outputs"][0]["of"] == "before"
        fresh = summarise(*data(seed=1), calibrator=fitted, n_resamples=0)
        assert fresh["calibrator"]["evaluation"] == "held-out"


def test_held_out_rows_with_a_shift():
    y, mean, std = data()
    other = 4.0 * std
    found = summarise(
        y, mean, std, calibrator=cb.StdScaling(), test=(y, (mean, other)), n_resamples=0
    )
    assert found["calibrator"]["n_fit"] == 900
    assert any("The error bars are of other sizes" in caution for caution in found["cautions"])
    with pytest.raises(InputError, match="fitted already"):
        summarise(
            y, mean, std, calibrator=cb.StdScaling().fit(mean, y, std=std), test=(y, (mean, std))
        )


def test_several_are_compared_and_what_has_no_density_says_so():
    found = summarise(
        *data(300),
        calibrator=[cb.StdScaling, cb.ConformalIntervals, cb.regression.VarianceBinning],
        n_resamples=0,
    )
    names = [row["name"] for row in found["alternatives"]]
    assert names[0] == found["calibrator"]["name"]
    conformal = next(row for row in found["alternatives"] if row["name"] == "conformal intervals")
    assert conformal["metrics"]["nll"]["value"] is None
    rows = by_key(summarise(*data(), calibrator=cb.ConformalIntervals, n_resamples=0))
    assert "no density" in rows["nll"]["note"]
    assert rows["coverage"]["after"]["value"] == pytest.approx(0.9, abs=0.03)


def test_outputs_are_judged_one_by_one():
    y, mean, std = data()
    Y, M, S = (
        np.column_stack([y, mean + std]),
        np.column_stack([mean, mean]),
        np.column_stack([std, 2.0 * std]),
    )
    found = summarise(Y, M, S, calibrator=cb.StdScaling, n_resamples=0, outputs=["width", "height"])
    assert [part["name"] for part in found["outputs"]] == ["width", "height"]
    assert [part["verdict"]["model"] for part in found["outputs"]] == [
        "overconfident",
        "underconfident",
    ]
    framed = summarise(
        pd.DataFrame(Y, columns=["width", "height"]), M, S, calibrator=cb.StdScaling, n_resamples=0
    )
    assert framed["outputs"] == found["outputs"]
    turned = pd.DataFrame(Y[:, ::-1], columns=["height", "width"])
    with pytest.raises(
        InputError, match="test must have the columns of the forecast in their order"
    ):
        summarise(
            pd.DataFrame(Y, columns=["width", "height"]),
            M,
            S,
            calibrator=cb.StdScaling,
            test=(turned, (M, S)),
        )
    alone = by_key(summarise(y, mean, std, calibrator=cb.StdScaling, n_resamples=0))
    # The folds follow the content of all outputs together, so only what needs none is the same.
    assert by_key(found, "width")["ence"]["before"]["value"] == pytest.approx(
        alone["ence"]["before"]["value"], rel=1e-12
    )
    assert "width" in found["verdict"]["sentence"]
    with pytest.raises(InputError, match="outputs must be 2 different names"):
        summarise(Y, M, S, outputs=["a"])


def test_trouble_with_the_rows_is_said():
    y, mean, std = data()
    std = np.maximum(std, 1.0)
    std[:3] = 1e-5
    y = np.r_[y, y[:100]]
    mean, std = np.r_[mean, mean[:100]], np.r_[std, std[:100]]
    said = " ".join(
        summarise(y + 2.0, mean, std, calibrator=cb.calibrators.Identity(), n_resamples=0)[
            "cautions"
        ]
    )
    for words in (
        "repeat an earlier forecast",
        "below a hundredth of the median",
        "share one value",
        "more than 5 std",
        "lie above",
    ):
        assert words in said


def test_weights_are_repetition():
    y, mean, std = data(400)
    weight = np.arange(400) % 3
    rows = np.repeat(np.arange(400), weight)
    cal = cb.StdScaling().fit(mean, y, std=std)
    a = summarise(
        y, mean, std, calibrator=cal, sample_weight=weight, in_sample=False, n_resamples=0
    )
    b = summarise(y[rows], mean[rows], std[rows], calibrator=cal, in_sample=False, n_resamples=0)
    assert a["data"]["n"] == b["data"]["n"]
    for left, right in zip(a["metrics"], b["metrics"], strict=True):
        assert left["after"]["value"] == pytest.approx(right["after"]["value"])
    assert a["outputs"][0]["std_regions"] == [
        {key: pytest.approx(value) for key, value in row.items()}
        for row in b["outputs"][0]["std_regions"]
    ]


def test_folds_come_back_in_the_order_of_the_rows():
    y, mean, std = data(60)
    rows = [np.arange(0, 60, 3), np.arange(1, 60, 3), np.arange(2, 60, 3)]
    fitted = cb.regression.IntervalCalibration().fit(mean, y, std=std)
    whole = fitted.predict(mean, std)
    parts = gather([fitted.predict(mean[r], std[r]) for r in rows], rows)
    for ours, theirs in zip(
        [parts.mean, parts.std, *parts.interval(0.8)],
        [whole.mean, whole.std, *whole.interval(0.8)],
        strict=True,
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    np.testing.assert_allclose(parts.cdf(y), whole.cdf(y))
    np.testing.assert_allclose(parts.log_density(y), whole.log_density(y))
    some = np.array([5, 5, 2])
    np.testing.assert_allclose(
        parts.take(some).quantile([0.1, 0.7]), whole.take(some).quantile([0.1, 0.7])
    )
    assert (
        type(gather([cb.NormalForecast(mean[r], std[r]) for r in rows], rows)) is cb.NormalForecast
    )


def test_code_of_a_report_applies_the_calibrator():
    y, mean, std = data(200)
    found = cb.report(y, mean, std, calibrator=cb.StdScaling, n_resamples=0).to_dict()
    names = {
        "mean_calibration": mean,
        "std_calibration": std,
        "y_calibration": y,
        "mean_new": mean,
        "std_new": std,
    }
    exec("\n".join(found["choice"]["code"]), names)
    assert names["calibrator"].scale_ == cb.StdScaling().fit(mean, y, std=std).scale_


def test_task_is_told_by_what_is_given():
    y, mean, std = data(60)
    for given in [(mean, std), (cb.NormalForecast(mean, std),)]:
        assert (
            cb.report(y, *given, calibrator=cb.calibrators.Identity(), n_resamples=0).to_dict()[
                "task"
            ]
            == "regression"
        )
    assert (
        cb.report(y, (mean, std), calibrator=cb.StdScaling, n_resamples=0).to_dict()["task"]
        == "regression"
    )
    with pytest.raises(InputError, match="calibrator of classes"):
        cb.report(y, mean, std, calibrator=cb.TemperatureScaling())


def test_markdown_has_the_essentials(summary):
    text = Report(summary).to_markdown()
    assert summary["verdict"]["sentence"] in text
    for words in ("## Metrics", "| ENCE |", "by predicted std", "by group", "cb.StdScaling()"):
        assert words in text


def old_are_worse(n=3000, seed=0, factor=2.5):
    """(y, mean, std, features): error bars too small for the old alone."""
    rng = np.random.default_rng(seed)
    features = {"age": rng.uniform(18.0, 90.0, n), "site": rng.choice(["north", "south"], n)}
    mean, std = rng.normal(size=n), np.exp(0.4 * rng.normal(size=n))
    return (
        mean + np.where(features["age"] > 75.0, factor, 1.0) * std * rng.normal(size=n),
        mean,
        std,
        features,
    )


def test_the_worst_part_of_any_feature_leads():
    y, mean, std, features = old_are_worse()
    found = cb.report(
        y,
        mean,
        std,
        calibrator=cb.calibrators.Identity(),
        features=pd.DataFrame(features),
        n_resamples=0,
    )
    rows = found.to_dict()["outputs"][0]["features"]
    assert len(rows) == 5 + 2
    assert rows[0]["feature"] == "age"
    low, high = (float(end) for end in rows[0]["part"].split(" to "))
    old = features["age"] >= np.quantile(features["age"], 0.8)
    assert (low, high) == pytest.approx(
        (features["age"][old].min(), features["age"].max()), rel=1e-3
    )
    held = np.abs((y - mean) / std)[old] <= 1.6448536
    assert rows[0]["coverage"] == pytest.approx(held.mean(), abs=2e-3)
    assert rows[0]["low"] > 0.0
    assert "By feature" in found.to_html()
    assert "| age 7" in found.to_markdown()
    with pytest.raises(InputError, match="features must have 3000 rows"):
        cb.report(y, mean, std, features={"age": features["age"][:10]}, n_resamples=0)


def test_classes_and_events_are_looked_at_by_feature_too():
    rng = np.random.default_rng(0)
    x, p = rng.normal(size=2000), rng.uniform(0.1, 0.9, 2000)
    y = (rng.random(2000) < np.where(x > 1.0, p**2, p)).astype(int)
    for target in ("event", "answer"):
        found = cb.report(
            y,
            p,
            calibrator=cb.calibrators.Identity(),
            target=target,
            features=pd.Series(x, name="x"),
            n_resamples=0,
        )
        rows = found.to_dict()["features"]
        assert ({row["feature"] for row in rows}, len(rows)) == ({"x"}, 5)
        assert target == "answer" or rows[0]["part"].startswith("0.8")
        assert "By feature" in found.to_html()
        assert "x 0.8" in found.to_markdown()


def test_intervals_of_a_table_hold_together():
    """Honest forecasts: no part of any feature is called wrong but in one table of twenty."""
    wrong, runs = 0, 400
    rng = np.random.default_rng(0)
    index = rng.integers(0, 12, 2400)
    for _ in range(runs):
        record = read_forecast(np.zeros(2400), np.ones(2400), rng.normal(size=2400))
        wrong += any(
            not row.low <= 0.0 <= row.high
            for row in REGRESSION.gaps(REGRESSION.sums(record, index, 12), 0.95, alone)
        )
    assert wrong / runs <= 0.05 + 3.0 * np.sqrt(0.05 * 0.95 / runs)


def test_drawings_are_of_the_curves_that_metrics_give():
    y, mean, std = data()
    part = summarise(y, mean, std, calibrator=cb.calibrators.Identity(), n_resamples=0)["outputs"][
        0
    ]["curves"]["before"]
    for key, curve in {
        "intervals": metrics.interval_curve(y, mean, std, simultaneous=True),
        "widths": metrics.interval_width_curve(y, mean, std),
        "ordered": metrics.ordered_intervals(y, mean, std, by="mean", n_rows=100),
    }.items():
        for name, values in vars(curve).items():
            np.testing.assert_allclose(part[key][name], values, rtol=1e-12)


def test_several_outputs_have_a_row_each_and_one_has_none():
    y, mean, std = data(200)
    page = cb.report(
        np.column_stack([y, y]),
        np.column_stack([mean] * 2),
        np.column_stack([std] * 2),
        calibrator=cb.calibrators.Identity(),
        n_resamples=0,
        outputs=["a", "b"],
    )
    assert page.to_html().count('<a href="#figure-reliability-1">b</a>') == 1
    assert (
        "Output by output"
        not in cb.report(
            y, mean, std, calibrator=cb.calibrators.Identity(), n_resamples=0
        ).to_html()
    )


def test_intervals_without_an_end_are_drawn():
    y, mean, std = data(12)
    with pytest.warns(cb.errors.SparseDataWarning):
        found = cb.report(y, mean, std, calibrator=cb.ConformalIntervals, n_resamples=0, n_splits=3)
    assert found.to_dict()["outputs"][0]["curves"]["after"]["ordered"]["high"][0] is None
    page = found.to_html()
    assert "Intervals in order" in page
    width = found.to_dict()["metrics"]
    width = next(row for row in width if row["key"] == "width")["before"]["value"]
    moved = found.to_dict()["verdict"]["state"] in CALIBRATED
    assert f"<dd>{width:.3g}{' → –' if moved else ''} <small>" in page
    assert ">nan" not in page.lower()
