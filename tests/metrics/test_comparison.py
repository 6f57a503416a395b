import json

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.errors import InputError
from calibrant.regression import SampleForecast

rng = np.random.default_rng(1)
P = rng.random(200)
Y = (rng.random(200) < P).astype(int)
ALL = {
    "good": P,
    "noisy": np.clip(P + rng.normal(0.0, 0.1, 200), 0.01, 0.99),
    "rate": np.full(200, 0.5),
}


def test_every_pair_of_every_metric_second_less_first():
    found = metrics.compare(Y, ALL)
    assert [(r.metric, r.first, r.second) for r in found.rows[:3]] == [
        ("log_loss", "good", "noisy"),
        ("log_loss", "good", "rate"),
        ("log_loss", "noisy", "rate"),
    ]
    assert {r.metric for r in found.rows} == {"log_loss", "event_brier_score"}
    row = found.rows[1]
    assert row.difference == pytest.approx(
        metrics.log_loss(Y, ALL["rate"]) - metrics.log_loss(Y, P)
    )
    assert (row.first_value, row.second_value) == (
        metrics.log_loss(Y, P),
        metrics.log_loss(Y, ALL["rate"]),
    )
    assert row.meaning == "worse"
    assert row.low > 0.0


@pytest.mark.parametrize("correction", ["holm", "none"])
def test_an_interval_leaves_out_zero_exactly_where_the_test_speaks(correction):
    for seed in range(30):
        drawn = np.random.default_rng(seed)
        said = {
            str(k): np.clip(P + drawn.normal(0.0, 0.05 * (k + 1), 200), 0.01, 0.99)
            for k in range(4)
        }
        for row in metrics.compare(Y, said, metrics=[metrics.log_loss], correction=correction).rows:
            assert (row.p_value <= 0.05) == (row.low > 0.0 or row.high < 0.0)


def test_corrections_widen():
    width = {
        name: [
            r.high - r.low
            for r in metrics.compare(Y, ALL, metrics=[metrics.log_loss], correction=name).rows
        ]
        for name in ("none", "holm", "bonferroni")
    }
    assert all(a <= b <= c for a, b, c in zip(*width.values(), strict=True))
    assert width["none"][0] < width["bonferroni"][0]


def test_a_baseline_is_the_first_of_every_pair():
    rows = metrics.compare(Y, ALL, metrics=[metrics.log_loss], baseline="rate").rows
    assert [(r.first, r.second) for r in rows] == [("rate", "good"), ("rate", "noisy")]


def test_calibration_errors_are_shown_and_not_compared():
    row = metrics.compare(
        Y, {"a": P, "b": ALL["noisy"]}, metrics=[metrics.expected_calibration_error]
    ).rows[0]
    assert row.meaning == "not compared"
    assert np.isnan([row.low, row.high, row.p_value]).all()
    assert row.second_value == metrics.expected_calibration_error(Y, ALL["noisy"])
    assert "undercover" in row.note


def test_predictions_that_never_differ_are_not_compared():
    row = metrics.compare(Y, {"a": P, "b": P}, metrics=[metrics.log_loss]).rows[0]
    assert (row.difference, row.meaning) == (0.0, "not compared")
    assert "constant over the rows" in row.note


def test_forecasts_pairs_and_kinds():
    mean, y = rng.normal(size=100), rng.normal(size=100)
    found = metrics.compare(y, {"one": (mean, np.ones(100)), "zero": (np.zeros(100), np.ones(100))})
    assert [r.metric for r in found.rows] == ["crps", "nll"]
    samples = SampleForecast(rng.normal(size=(100, 30)))
    found = metrics.compare(
        y,
        {"one": (mean, np.ones(100)), "samples": samples},
        metrics=[metrics.root_mean_squared_error],
    )
    assert found.rows[0].method == "paired, bootstrap"


def test_weights_of_zero_drop_rows_and_their_clusters():
    weight = np.r_[np.zeros(20), np.ones(180)]
    cluster = np.arange(200) // 2
    whole = metrics.compare(Y, ALL, cluster=cluster, sample_weight=weight)
    part = metrics.compare(Y[20:], {k: v[20:] for k, v in ALL.items()}, cluster=cluster[20:])
    assert whole.clusters == part.clusters == 90
    assert [r.low for r in whole.rows] == [r.low for r in part.rows]


def test_printed_framed_and_written():
    found = metrics.compare(Y, ALL, metrics=[metrics.log_loss, metrics.expected_calibration_error])
    text = repr(found)
    assert text.splitlines()[1].split() == [
        *("metric", "first", "second", "second", "-", "first", "95", "%", "interval", "p"),
        *("second", "is"),
    ]
    values = [f"{name} {metrics.log_loss(Y, ALL[name]):.4g}" for name in ("good", "rate")]
    assert all(value in text for value in values)
    assert "ece is not compared" in text
    assert found.frame().shape == (6, 12)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["rows"][3]["low"] is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"P": {"a": P}}, "P must be a dictionary"),
        ({"P": P}, "P must be a dictionary"),
        ({"correction": "fdr"}, "correction must be"),
        ({"baseline": "c"}, "baseline must be"),
        ({"cluster": np.zeros(200)}, "two clusters"),
        ({"cluster": [1, 2]}, "cluster must have"),
        ({"level": 95}, "level must be"),
        ({"metrics": metrics.log_loss}, "metrics must be a list"),
    ],
    ids=[
        "one",
        "no names",
        "correction",
        "baseline",
        "one cluster",
        "clusters",
        "level",
        "metrics",
    ],
)
def test_what_cannot_be_is_refused(change, words):
    with pytest.raises(InputError, match=words):
        metrics.compare(Y, **{"P": ALL, **change})


def test_what_a_forecast_does_not_have_is_said():
    mean, y = rng.normal(size=100), rng.normal(size=100)
    conformal = (
        cb.ConformalIntervals()
        .fit((mean[:50], np.ones(50)), y[:50])
        .predict(mean[50:], np.ones(50))
    )
    rows = metrics.compare(y[50:], {"one": (mean[50:], np.ones(50)), "conformal": conformal}).rows
    assert rows[-1].meaning == "not compared"
    assert "density" in rows[-1].note
