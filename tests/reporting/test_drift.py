import json

import numpy as np
import pytest

import calibrant as cb
from calibrant.core.groups import Groups
from calibrant.core.guarantee import plain
from calibrant.core.predictions import read
from calibrant.errors import InputError
from calibrant.reporting.drift import drift, read_times

DAY = np.timedelta64(1, "D")


def stream(change=40, n_days=60, per_day=100):
    """Honest until a day, too sure by 0.2 from then on: (P, y, dates, group), only group "b"
    changing.
    """
    rng = np.random.default_rng(0)
    day = np.repeat(np.arange(n_days), per_day)
    p, group = rng.uniform(0.5, 1.0, len(day)), np.where(np.arange(len(day)) % 2 == 0, "a", "b")
    rate = np.where((day >= change) & (group == "b"), p - 0.3, p)
    return (
        p,
        (rng.random(len(day)) < rate).astype(int),
        np.datetime64("2026-01-05") + day * DAY,
        group,
    )


def watched(p, y, dates, group=None, every="day", weight=None):
    times = read_times(dates, every, read(p, y))
    groups = None if group is None else Groups(*np.unique(group, return_inverse=True))
    return plain(
        drift(times, {"before": (p, y.astype(float)), "after": None}, "before", weight, groups)
    )


def test_errors_by_day_are_counted_by_hand():
    p, y, dates, _ = stream(n_days=20)
    found = watched(p, y, dates)["before"]
    assert len(found["time"]) == 20
    own = dates == dates[0] + 3 * DAY
    assert found["time"][3] == str(dates[0] + 3 * DAY)
    assert found["n"][3] == 100
    assert found["confidence"][3] == pytest.approx(p[own].mean())
    assert found["accuracy"][3] == pytest.approx(y[own].mean())
    bins = (p[own] * 15).astype(int)
    assert found["ece"][3] == pytest.approx(
        sum(abs((p[own] - y[own])[bins == b].sum()) for b in range(15)) / 100
    )


def test_the_group_that_changes_raises_the_alarm_and_leads():
    p, y, dates, group = stream()
    found = watched(p, y, dates, group)
    assert [row["group"] for row in found["groups"]] == ["b", "a"]
    changed, calm = (row["advice"] for row in found["groups"])
    assert changed["decision"] in ("re-fit", "re-offset")
    assert "2026-02-14" <= changed["alarm_time"] <= "2026-02-20"
    assert calm["decision"] == "leave"
    assert calm["alarm_time"] is None


def test_weighted_rows_raise_no_alarm():
    p, y, dates, _ = stream()
    found = watched(p, y, dates, weight=np.full(len(p), 2.0))
    assert found["advice"] is None
    assert found["before"]["n"][0] == 200


@pytest.mark.parametrize(
    ("days", "every", "unit", "count"),
    [
        (20, "auto", "day", 20),
        (200, "auto", "week", 29),
        (1000, "auto", "month", 33),
        (20, "week", "week", 3),
        (20, "year", "year", 1),
    ],
)
def test_buckets(days, every, unit, count):
    p = np.full(days, 0.7)
    dates = np.datetime64("2026-01-05") + np.arange(days) * DAY  # a Monday
    found = read_times(dates, every, read(p, np.zeros(days, dtype=int), classes=[0, 1]))
    assert (found.unit, len(found.starts)) == (unit, count)
    if unit == "week":
        assert set(np.diff(np.array(found.starts, dtype="datetime64[D]")).astype(int)) == {7}
        assert found.starts[0] == "2026-01-05"


def test_dates_in_any_form():
    pd = pytest.importorskip("pandas")
    dates = np.datetime64("2026-01-05T10:00") + np.arange(4) * DAY
    record = read(np.full(4, 0.7), [0, 1, 1, 1])
    expected = read_times(dates, "day", record).starts
    for form in (
        pd.Series(dates),
        pd.Series(dates).dt.tz_localize("UTC"),
        [str(d) for d in dates],
        dates.astype(object).tolist(),
    ):
        assert read_times(form, "day", record).starts == expected
    for wrong in (np.arange(4), ["soon"] * 4, [None, *dates[1:]], dates[:3]):
        with pytest.raises(InputError, match="times must"):
            read_times(wrong, "day", record)
    with pytest.raises(InputError, match="every must"):
        read_times(dates, "minute", record)


def test_the_page_shows_it_for_both_tasks():
    pytest.importorskip("jinja2")
    p, y, dates, group = stream(n_days=15)
    options = {"times": dates, "groups": group, "n_resamples": 0}
    found = cb.report(y, p, calibrator=cb.calibrators.Identity(), **options)
    assert json.loads(found.to_json())["drift"]["every"] == "day"
    assert '<summary><h3 id="time">Over time</h3></summary>' in found.to_html()
    rng = np.random.default_rng(1)
    error = rng.normal(size=len(p)) * np.where(np.arange(len(p)) < 700, 1.0, 3.0)
    found = cb.report(
        error, np.zeros(len(p)), np.ones(len(p)), calibrator=cb.calibrators.Identity(), **options
    )
    assert found.to_dict()["outputs"][0]["drift"]["advice"]["alarm_time"] >= "2026-01-12"
    assert '<summary><h3 id="time">Over time</h3></summary>' in found.to_html()
    undated = cb.report(
        y[:60], p[:60], calibrator=cb.calibrators.Identity(), n_resamples=0
    ).to_html()
    assert "over time" not in undated.lower()


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_random_folds_of_dated_rows_are_said_once(task):
    rng, dates = np.random.default_rng(0), np.datetime64("2026-01-01") + np.arange(600) // 60
    p = rng.random(600)
    rows = (
        ((rng.random(600) < p) * 1, p)
        if task == "classes"
        else (rng.normal(size=600), np.zeros(600), np.ones(600))
    )
    calibrator = {"classes": cb.TemperatureScaling, "numbers": cb.StdScaling}[task]

    def said(*rows, **options):
        found = cb.report(*rows, n_resamples=50, **options)
        return sum("rolling_evaluation" in one for one in found.to_dict()["cautions"])

    assert said(*rows, times=dates, calibrator=calibrator) == 1
    assert said(*rows, calibrator=calibrator) == 0
    assert said(*rows, times=np.repeat(dates[0], 600), calibrator=calibrator) == 0
    # Fitted on the past alone, nothing is drawn at random.
    past, later = [one[:300] for one in rows], [one[300:] for one in rows]
    fitted = calibrator().fit(past[1], past[0], **({"std": past[2]} if task == "numbers" else {}))
    assert said(*later, times=dates[300:], calibrator=fitted) == 0
