"""What a report says of itself: names, the hash of its rows, and the call that makes it again."""

import re
from datetime import date

import numpy as np
import pandas as pd
import pytest

import calibrant as cb
from calibrant.reporting.summary import call_of

QUICK = {"calibrator": cb.calibrators.Identity(), "n_resamples": 0}


def rows(n=300):
    rng = np.random.default_rng(0)
    p = rng.random(n)
    return (rng.random(n) < p**2).astype(int), p


def hashed(*predictions, **options):
    return cb.report(*predictions, **{**QUICK, **options}).to_dict()["about"]["data"]


def test_the_same_rows_have_one_hash_in_any_container():
    y, p = rows()
    frame = pd.DataFrame({"y": y, "p": p})
    both = np.column_stack([1.0 - p, p])
    found = {
        hashed(y, p),
        hashed(list(y), list(p)),
        hashed(frame["y"], frame["p"]),
        hashed(y.astype("int32"), both),
        hashed(y.astype(float), pd.DataFrame(both)),
        hashed(y, np.asfortranarray(both)),
    }
    assert len(found) == 1
    assert re.fullmatch("[0-9a-f]{12}", found.pop())


def test_names_of_labels_are_hashed_in_any_container():
    y, p = rows()
    names = np.array(["no", "yes"])[y]
    given = names, list(names), names.astype(object), pd.Series(names), pd.Categorical(names)
    assert len({hashed(one, p, classes=["no", "yes"]) for one in given}) == 1


def test_forecasts_are_hashed_in_any_container():
    rng = np.random.default_rng(0)
    y, mean, std = rng.normal(size=100), rng.normal(size=100), np.exp(rng.normal(size=100))
    given = (
        (y, mean, std),
        (list(y), list(mean), list(std)),
        tuple(map(pd.Series, (y, mean, std))),
        (y, cb.NormalForecast(mean, std)),
    )
    assert len({hashed(*one) for one in given}) == 1


@pytest.mark.parametrize("change", ["prediction", "label", "weight", "row"])
def test_other_rows_have_another_hash(change):
    y, p = rows()
    other_y, other_p, options = y.copy(), p.copy(), {}
    if change == "prediction":
        other_p[7] += 1e-9
    elif change == "label":
        other_y[7] = 1 - y[7]
    elif change == "weight":
        options["sample_weight"] = np.full(len(y), 2.0)
    else:
        other_y, other_p = y[:-1], p[:-1]
    assert hashed(other_y, other_p, **options) != hashed(y, p)


def test_rows_of_a_test_set_are_those_hashed():
    y, p = rows()
    measured = hashed(y[:100], p[:100])
    fitted = cb.TemperatureScaling()
    assert hashed(y[100:], p[100:], test=(y[:100], p[:100]), calibrator=fitted) == measured


FITTED = cb.TemperatureScaling().fit(rows()[1], rows()[0])
CALLS = {
    "automatic": {},
    "a map": {"calibrator": cb.Platt()},
    "a class": {"calibrator": cb.TemperatureScaling},
    "options of its own": {"calibrator": cb.AutoCalibrator(random_state=3), "n_splits": 3},
    "several": {"calibrator": [cb.Platt(), cb.TemperatureScaling, cb.calibrators.Identity()]},
    "by name": {"calibrator": {"one": cb.Platt(), "it's": cb.calibrators.Beta()}},
    "fitted": {"calibrator": FITTED, "in_sample": False},
    "arrays": {
        "calibrator": cb.OneVsRest(cb.Platt()),
        "groups": np.arange(300) % 3,
        "times": np.datetime64("2026-01-01") + np.arange(300) // 30,
        "sample_weight": np.arange(300) % 2 + 1,
    },
    "plain values": {
        "calibrator": cb.calibrators.Identity(),
        "title": 'It\'s "quoted" \\ and\nbroken',
        "event": None,
        "level": np.float64(0.9),
        "n_bins": np.int64(8),
        "cost_false_positive": 1,
        "cost_false_negative": 9,
        "thresholds": [0.1, 0.2],
    },
}


@pytest.mark.parametrize("name", CALLS)
def test_the_call_makes_the_report_again(name):
    y, p = rows()
    options = {"n_resamples": 20, **CALLS[name]}
    said = cb.report(y, p, **options).to_dict()
    arrays = ("groups", "times", "sample_weight", "thresholds")
    names = {"y": y, "P": p, **{key: options[key] for key in arrays if key in options}}
    if name == "fitted":
        names["calibrator"] = FITTED
    exec("\n".join(said["call"]), names)
    assert names["found"].to_dict() == said


def test_the_call_for_error_bars_makes_the_report_again():
    rng = np.random.default_rng(1)
    y, mean, std = rng.normal(size=200), np.zeros(200), np.exp(rng.normal(size=200))
    options = {"calibrator": [cb.StdScaling, cb.ConformalIntervals()], "n_resamples": 0}
    said = cb.report(y, mean, std, **options).to_dict()
    names = {"y": y, "P": mean, "std": std}
    exec("\n".join(said["call"]), names)
    assert names["found"].to_dict() == said


def test_a_list_with_a_fitted_calibrator_is_named():
    told = call_of(("y", "P"), [cb.Platt(), FITTED], {})
    assert told[1] == "found = cb.report(y, P, calibrator=calibrator)"


def test_the_names_given_are_at_the_top_and_the_call_at_the_end():
    y, p = rows()
    named = {"model": "risk 3", "event": "a <late> payment", "period": "spring", "version": "1.2"}
    found = cb.report(y, p, **QUICK, **named)
    about = found.to_dict()["about"]
    assert {key: about[key] for key in named} == named
    assert abs((date.today() - date.fromisoformat(about["made"])).days) <= 1
    pytest.importorskip("jinja2")
    page = found.to_html()
    facts = re.search(r'<p class="facts">(.*?)</p>', page).group(1)
    assert facts.split(" · ") == [
        "event: a &lt;late&gt; payment",
        "risk 3",
        "version 1.2",
        "spring",
        "300 rows",
        f"{y.sum()} events ({100 * y.mean():.1f} %)",
        f"report of {about['made']}",
        f"checksum {about['data']}",
    ]
    method = page[page.index('<h3 id="method">') :]
    assert f"from data whose checksum is {about['data']}" in method
    assert "found = cb.report(y, P, calibrator=cb.calibrators.Identity(), n_resamples=0" in method


def test_the_period_is_that_of_the_times():
    y, p = rows()
    days = np.datetime64("2026-01-01") + np.arange(300) // 30
    about = cb.report(y, p, times=days, **QUICK).to_dict()["about"]
    assert about["period"] == "2026-01-01 to 2026-01-10"
    assert cb.report(y, p, times=days, period="winter", **QUICK).to_dict()["about"]["period"] == (
        "winter"
    )
