"""``evaluate(..., target=)``: by slice, what the metrics of an event say of the same rows."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.errors import InputError

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

LABELS = {
    "numbers": (0, 1),
    "booleans": (False, True),
    "texts": ("no", "yes"),
    "capitals": ("FALSE", "TRUE"),
}


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 4.0, 400).astype(np.float64)
    return p, (rng.random(400) < 0.3 * p).astype(int), np.arange(400) % 2


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("engine", ["auto", "pyarrow"])
def test_each_slice_has_the_numbers_of_the_metrics(labels, engine, rows):
    p, y, half = rows
    table = pandas.DataFrame({"p": p, "label": [labels[k] for k in y], "half": half})
    table = table if engine == "auto" else pytest.importorskip("pyarrow").Table.from_pandas(table)
    found = cb.evaluate(table, probabilities="p", by="half", target="event").to_dict()
    for part in found["slices"]:
        own = half == part["half"]
        assert part["mean_risk"] == pytest.approx(p[own].mean())
        assert part["event_rate"] == pytest.approx(y[own].mean())
        for metric in (
            metrics.observed_expected_ratio,
            metrics.log_loss,
            metrics.positive_class_calibration_error,
        ):
            assert part[metric.key] == pytest.approx(metric(y[own], p[own]))
        assert part["event_brier_score"] == pytest.approx(np.mean((p[own] - y[own]) ** 2))
        interval = metrics.observed_expected_ratio.interval(y[own], p[own])
        assert part["observed_expected_ratio_low"] == pytest.approx(interval.low)
        assert part["observed_expected_ratio_high"] == pytest.approx(interval.high)
    assert "accuracy" not in found["overall"]


def test_columns_of_two_and_more_classes(rows):
    p, y, _ = rows
    named = pandas.DataFrame({"p_good": 1 - p, "p_bad": p, "label": np.array(["good", "bad"])[y]})
    want = cb.evaluate(
        pandas.DataFrame({"p": p, "label": y}), probabilities="p", target="event"
    ).overall()
    assert cb.evaluate(named, probabilities="p_*", target="bad").overall() == pytest.approx(want)
    assert cb.evaluate(
        named, probabilities="p_*", classes=["good", "bad"], target="event"
    ).overall() == pytest.approx(want)
    with pytest.raises(InputError, match="the event must be named"):
        cb.evaluate(named, probabilities="p_*", target="event")
    with pytest.raises(InputError, match="target must be one of"):
        cb.evaluate(named, probabilities="p_*", target="worse")
    three = named.assign(p_c=0.0)
    assert cb.evaluate(three, probabilities="p_*", target="bad").overall() == pytest.approx(want)
    with pytest.raises(InputError, match="two classes"):
        cb.evaluate(three, probabilities="p_*", target="event")


def test_labels_that_say_nothing_need_a_name(rows):
    p, y, _ = rows
    table = pandas.DataFrame({"p": p, "label": np.array(["good", "bad"])[y]})
    with pytest.raises(InputError, match="the event must be named"):
        cb.evaluate(table, probabilities="p", target="event")
    found = cb.evaluate(table, probabilities="p", target="bad").overall()
    assert (
        found
        == cb.evaluate(table, probabilities="p", classes=["good", "bad"], target="event").overall()
    )
    assert found["event_rate"] == pytest.approx(y.mean())


def test_monitoring_an_event_hears_its_drift(rows):
    rng = np.random.default_rng(1)
    p, day = rng.uniform(0.0, 0.2, 8000), np.repeat(np.arange(16), 500)
    y = (rng.random(8000) < np.where(day < 8, p, 2.5 * p)).astype(int)
    table = pandas.DataFrame({"p": p, "label": y, "day": day})
    found = cb.monitor(cb.evaluate(table, probabilities="p", by="day", target="event"))
    assert found.overall.alarm_
    assert found.overall.advice().since == 8
