"""From an evaluation by slice and time to monitors: the same as from arrays, day by day."""

import json

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError

pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def logs():
    rng = np.random.default_rng(0)
    n = 9000
    frame = pandas.DataFrame(
        {"p": rng.uniform(0.5, 1.0, n), "site": rng.choice(["a", "b", "c"], n)}
    )
    frame["when"] = pandas.Timestamp("2026-03-01") + pandas.to_timedelta(
        np.sort(rng.integers(0, 30, n)), unit="D"
    )
    late = (frame["when"] >= pandas.Timestamp("2026-03-16")) & (frame["site"] == "b")
    frame["label"] = (rng.uniform(size=n) < np.where(late, frame["p"] - 0.2, frame["p"])).astype(
        int
    )
    return frame


def test_it_is_the_monitor_of_the_arrays_day_by_day(logs):
    found = cb.monitor(cb.evaluate(logs, probabilities="p", time="when", by="site"))
    overall, own = (
        cb.monitoring.CalibrationMonitor(),
        cb.monitoring.CalibrationMonitor(alpha=0.05 / 3.0),
    )
    for _, day in logs.groupby("when"):
        overall.update(day["p"].to_numpy(), day["label"].to_numpy())
        rows = day["site"] == "b"
        own.update(day["p"][rows].to_numpy(), day["label"][rows].to_numpy())
    assert found.overall.path_ == pytest.approx(overall.path_, rel=1e-9)
    assert found.slices[("b",)].path_ == pytest.approx(own.path_, rel=1e-9)
    assert found.slices[("b",)].threshold_ == pytest.approx(60.0)


def test_the_slice_that_drifts_is_named_with_the_day(logs):
    found = cb.monitor(cb.evaluate(logs, probabilities="p", time="when", by="site"))
    assert found.alarms == [("b",)]
    advice = found.slices[("b",)].advice()
    assert advice.decision in ("re-fit", "re-offset")
    assert "2026-03-15" <= advice.since <= "2026-03-17"
    assert {m.advice().decision for name, m in found.slices.items() if name != ("b",)} == {"leave"}


def test_frame_and_json(logs):
    found = cb.monitor(cb.evaluate(logs, probabilities="p", time="when", by="site"))
    frame = found.frame()
    assert frame.columns.tolist()[:4] == ["site", "time", "n", "mean_risk"]
    assert frame["n"].sum() == len(logs)
    made = json.loads(json.dumps(found.to_dict()))
    assert [s["site"] for s in made["slices"]] == ["a", "b", "c"]
    assert [s["alarm"] for s in made["slices"]] == [False, True, False]
    assert len(made["overall"]["curve"]["low"]) == len(made["overall"]["curve"]["event_ece"]) == 30
    assert set(made["slices"][0]["curve"]["low"]) == {None}


def test_without_slices_and_time_by_name(logs):
    logs = logs.assign(day=logs["when"].dt.day)
    last = cb.monitor(cb.evaluate(logs, probabilities="p", by=["site", "day"]))
    first = cb.monitor(cb.evaluate(logs, probabilities="p", by=["day", "site"]), time="day")
    assert last.slices[("a",)].path_ == pytest.approx(first.slices[("a",)].path_, rel=1e-9)
    alone = cb.monitor(cb.evaluate(logs, probabilities="p", by="day"))
    assert alone.slices == {}
    assert alone.overall.path_ == pytest.approx(last.overall.path_, rel=1e-9)
    assert alone.frame()["time"].tolist() == list(range(1, 31))
    with pytest.raises(InputError, match="time must be one of"):
        cb.monitor(cb.evaluate(logs, probabilities="p"))


def test_a_reference_is_the_claim_slice_by_slice(logs):
    late = logs[logs["when"] >= pandas.Timestamp("2026-03-16")]
    by_slice, whole = (cb.evaluate(late, probabilities="p", by=by) for by in ("site", ()))
    days = cb.evaluate(late, probabilities="p", time="when", by="site")
    assert cb.monitor(days).alarms == [("b",)]
    assert cb.monitor(days, reference=by_slice).alarms == []
    assert not cb.monitor(days, reference=whole).overall.alarm_
    with pytest.raises(InputError, match="bins of the evaluation"):
        cb.monitor(days, reference=cb.evaluate(late, probabilities="p", n_bins=5))


def test_fine_bins_of_equal_weight_work_too(logs):
    found = cb.monitor(
        cb.evaluate(logs, probabilities="p", time="when", by="site", strategy="mass")
    )
    assert found.alarms == [("b",)]


@pytest.fixture(scope="module")
def deliveries():
    """Forecasts of delivery times at two sites; those of site b spread twice as much from day
    10.
    """
    rng = np.random.default_rng(3)
    n = 4000
    frame = pandas.DataFrame(
        {
            "mean": rng.uniform(1.0, 9.0, n),
            "std": rng.uniform(0.5, 2.0, n),
            "site": rng.choice(["a", "b"], n),
        }
    )
    frame["day"] = np.sort(rng.integers(0, 20, n))
    late = (frame["day"] >= 10) & (frame["site"] == "b")
    frame["y"] = frame["mean"] + frame["std"] * rng.normal(size=n) * np.where(late, 2.0, 1.0)
    for level in (0.1, 0.5, 0.9):
        frame[f"q_{level}"] = cb.NormalForecast(frame["mean"], frame["std"]).quantile(level)
    return frame


@pytest.mark.parametrize(
    "said",
    [{"mean": "mean", "std": "std"}, {"quantiles": "q_*"}],
    ids=["mean and std", "quantiles"],
)
def test_forecasts_are_watched_as_their_arrays_day_by_day(deliveries, said):
    found = cb.monitor(cb.evaluate(deliveries, label="y", by=["site", "day"], **said))
    own = cb.monitoring.CalibrationMonitor(target="forecast", alpha=0.025)
    for _, rows in deliveries[deliveries["site"] == "b"].groupby("day"):
        forecast = cb.NormalForecast(rows["mean"], rows["std"])
        if "quantiles" in said:
            forecast = cb.QuantileForecast([0.1, 0.5, 0.9], rows[["q_0.1", "q_0.5", "q_0.9"]])
        own.update(forecast, rows["y"])
    assert found.slices[("b",)].path_ == pytest.approx(own.path_, rel=1e-9)
    assert found.alarms == [("b",)]
    assert 9 <= found.slices[("b",)].advice().since <= 11
    made = json.loads(json.dumps(found.to_dict()))
    assert {"level", "coverage", "quantile_error"} <= {*made["overall"]["curve"]}
    assert {"level", "coverage", "quantile_error"} <= {*found.frame().columns}


def test_a_reference_of_forecasts_must_be_counted_alike(deliveries):
    days = cb.evaluate(deliveries, label="y", by="day", mean="mean", std="std")
    late = deliveries[(deliveries["day"] >= 10) & (deliveries["site"] == "b")]
    claim = cb.evaluate(late, label="y", mean="mean", std="std")
    assert cb.monitor(days).overall.alarm_
    own = cb.evaluate(late, label="y", by="day", mean="mean", std="std")
    assert not cb.monitor(own, reference=claim).overall.alarm_
    with pytest.raises(InputError, match="bins of the evaluation"):
        cb.monitor(days, reference=cb.evaluate(late, label="y", quantiles="q_*"))


def streams(seed, changed, m=20, days=20, n=60, strength=0.25):
    """Sums by site and day of m sites, of which the first few change on day 8."""
    rng = np.random.default_rng(seed)
    site = np.tile(np.repeat(np.arange(m), n), days)
    day = np.repeat(np.arange(days), m * n)
    p = rng.uniform(0.4, 0.95, len(site))
    rate = np.where((site < changed) & (day >= 8), p - strength, p)
    y = (rng.random(len(site)) < rate).astype(int)
    frame = pandas.DataFrame({"p": p, "label": y, "site": site, "when": day})
    return cb.monitor(cb.evaluate(frame, probabilities="p", by=["site", "when"]))


def test_discoveries_are_the_slices_that_changed_and_take_their_number_into_account():
    found = streams(0, 6)
    assert set(found.discoveries) == {(k,) for k in range(6)}
    # By hand: the k largest of 20 with evidence of at least 20 / (0.05 k) each.
    logs = sorted((one.log_evidence_ for one in found.slices.values()), reverse=True)
    held = [k for k in range(1, 21) if logs[k - 1] >= np.log(20 / (0.05 * k))]
    assert len(found.discoveries) == max(held)
    assert found.to_dict()["discoveries"][0] == list(found.discoveries[0])
    wrong, all_ = 0, 0
    for seed in range(10):
        found = streams(100 + seed, 3, m=10)
        wrong += sum(name[0] >= 3 for name in found.discoveries)
        all_ += len(found.discoveries)
        assert not streams(200 + seed, 0, m=10).discoveries
    assert all_ >= 20
    assert wrong <= 0.15 * all_


def test_lines_are_short_and_ready_for_json():
    found = streams(1, 1, m=3)
    lines = [json.loads(json.dumps(one)) for one in found.lines()]
    assert [one["slice"] for one in lines] == [{}, {"site": 0}, {"site": 1}, {"site": 2}]
    assert [one["discovery"] for one in lines] == [False, True, False, False]
    assert lines[1]["alarm"]
    assert lines[1]["decision"] in ("re-fit", "re-offset")
    assert lines[1]["gain"] > 0.0
    assert lines[2]["gain"] is None
    assert all("curve" not in one for one in lines)


@pytest.mark.parametrize("by", [[], ["site"]])
def test_one_evaluation_a_batch_is_that_of_the_column_of_times(logs, by):
    days = sorted(logs["when"].unique())[:12]
    whole = logs[logs["when"].isin(days)]
    want = cb.monitor(cb.evaluate(whole, probabilities="p", time="when", by=by))
    parts = {
        str(day)[:10]: cb.evaluate(whole[whole["when"] == day], probabilities="p", by=by)
        for day in days
    }
    found = cb.monitor(parts)
    assert found.overall.path_ == pytest.approx(want.overall.path_)
    assert found.overall.times_[0] == "2026-03-01"
    assert list(found.slices) == list(want.slices)
    for name, one in want.slices.items():
        assert found.slices[name].path_ == pytest.approx(one.path_)
    with pytest.raises(InputError, match="evaluation must be a result"):
        cb.monitor({"Monday": 3})
