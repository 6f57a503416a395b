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
    frame = pandas.DataFrame({"p": rng.uniform(0.5, 1.0, n), "site": rng.choice(["a", "b", "c"], n)})
    frame["when"] = pandas.Timestamp("2026-03-01") + pandas.to_timedelta(np.sort(rng.integers(0, 30, n)), unit="D")
    late = (frame["when"] >= pandas.Timestamp("2026-03-16")) & (frame["site"] == "b")
    frame["label"] = (rng.uniform(size=n) < np.where(late, frame["p"] - 0.2, frame["p"])).astype(int)
    return frame


def test_it_is_the_monitor_of_the_arrays_day_by_day(logs):
    found = cb.monitor(cb.evaluate(logs, probabilities="p", time="when", by="site"))
    overall, own = cb.CalibrationMonitor(), cb.CalibrationMonitor(alpha=0.05 / 3.0)
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
    assert advice.decision == "re-fit"
    assert "2026-03-15" <= advice.since <= "2026-03-17"
    assert {m.advice().decision for name, m in found.slices.items() if name != ("b",)} == {"leave"}


def test_frame_and_json(logs):
    found = cb.monitor(cb.evaluate(logs, probabilities="p", time="when", by="site"))
    frame = found.frame()
    assert frame.columns.tolist()[:4] == ["site", "time", "n", "confidence"]
    assert frame["n"].sum() == len(logs)
    made = json.loads(json.dumps(found.to_dict()))
    assert [s["site"] for s in made["slices"]] == ["a", "b", "c"]
    assert [s["alarm"] for s in made["slices"]] == [False, True, False]
    assert len(made["overall"]["curve"]["low"]) == len(made["overall"]["curve"]["ece"]) == 30
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
    with pytest.raises(InputError, match="time must be among"):
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
    found = cb.monitor(cb.evaluate(logs, probabilities="p", time="when", by="site", strategy="mass"))
    assert found.alarms == [("b",)]
