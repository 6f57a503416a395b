"""The report on the risk of an event."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.core.text_table import percent, rounded
from calibrant.errors import InputError
from calibrant.reporting.event.task import EVENT
from calibrant.reporting.judge import Evidence, judged
from calibrant.reporting.miscalibration import Miscalibration
from calibrant.reporting.verdict import words_of_risks


def log(n=3000, seed=0):
    """Risks of a rare event, thirty times too high on the odds."""
    rng = np.random.default_rng(seed)
    truth = rng.beta(0.5, 25.0, n)
    y = (rng.random(n) < truth).astype(int)
    odds = 30.0 * truth / (1.0 - truth)
    return y, odds / (1.0 + odds), np.array(["a", "b", "c"])[rng.integers(3, size=n)]


@pytest.fixture(scope="module")
def found():
    y, p, groups = log()
    return cb.report(
        y,
        p,
        calibrator=cb.calibrators.VectorScaling(),
        groups=groups,
        cost_false_positive=1,
        cost_false_negative=9,
        n_resamples=100,
        times=np.datetime64("2026-01-01") + np.arange(len(y)) // 500,
    )


@pytest.fixture(scope="module")
def said(found):
    return found.to_dict()


def by_key(rows):
    return {row["key"]: row for row in rows}


def test_two_classes_are_asked_for_the_event(said):
    y, p, _ = log()
    assert (said["task"], said["target"], said["data"]["event"]) == ("classification", "event", "1")
    scores = by_key(said["metrics"])
    for key, metric in [
        ("log_loss", metrics.log_loss),
        ("event_brier_score", metrics.event_brier_score),
        ("calibration_slope", metrics.calibration_slope),
        ("observed_expected_ratio", metrics.observed_expected_ratio),
        ("ici", metrics.integrated_calibration_index),
        ("event_ece", metrics.positive_class_calibration_error),
        ("d2_brier", metrics.d2_brier),
    ]:
        assert scores[key]["before"]["value"] == pytest.approx(metric(y, p), abs=1e-12)


def test_the_verdict_speaks_of_risk(said):
    verdict, quality = said["verdict"], said["quality"]
    assert verdict["model"] == "overestimates"
    assert verdict["calibration"] == "use"
    risk, rate = percent(quality["risk"]), percent(quality["rate"])
    assert verdict["sentence"].startswith(
        f"The risks are too high: {risk} predicted on average, {rate} observed."
    )
    assert verdict["state"] in ("calibrate", "calibrate by group")
    assert verdict["action"].startswith("Use the calibrated risks")


def score(value, low, high):
    return SimpleNamespace(before=SimpleNamespace(value=value, low=low, high=high))


@pytest.mark.parametrize(
    ("p_value", "risk", "model"),
    [
        (0.01, 0.0020, "underestimates"),
        (0.01, 0.0024, "miscalibrated"),
        (0.01, 0.0030, "overestimates"),
        (0.3, 0.0020, "calibrated"),
    ],
)
def test_the_model_in_a_word(p_value, risk, model):
    against = Miscalibration(p_value, {"offset": 0.001, "smooth": 0.5}, 0.9, 0.0005, 1e4)
    quality = SimpleNamespace(risk=risk, rate=0.0024, events=24.0, n=10_000.0)
    chance, scores = (
        SimpleNamespace(observed=0.0004, high=0.0005),
        {"calibration_slope": score(0.5, 0.4, 0.6)},
    )
    assert words_of_risks(scores, chance, quality, Evidence(against)).model == model


@pytest.mark.parametrize(
    ("risk", "slope", "words"),
    [
        (0.30, (0.5, 0.4, 0.6), "The risks are too high: 30.0 % predicted on average, 20.0 % obs"),
        (0.10, (0.5, 0.4, 0.6), "The risks are too low: 10.0 % predicted on average, 20.0 % obs"),
        (
            0.20,
            (0.5, 0.4, 0.6),
            "The risks are too extreme, high ones too high and low ones too low: where ",
        ),
        (
            0.20,
            (1.5, 1.4, 1.6),
            "The risks are not extreme enough, high ones too low and low ones too high: ",
        ),
        (0.20, (1.0, 0.9, 1.1), "The risks are too high in places and too low in others: where "),
        (0.20, (1.0, None, None), "The risks are too high in places and too low in others: where"),
    ],
)
def test_the_fault_is_named_in_plain_words(risk, slope, words):
    scores = {"calibration_slope": score(*slope)}
    chance = SimpleNamespace(observed=0.02, high=0.01)
    quality = SimpleNamespace(risk=risk, rate=0.2, events=200.0, n=1000.0)
    off = Miscalibration(0.01, {"binned": 0.01}, 0.9, 0.02, 9e3, 1000.0, 1000.0, 0.05, 0.1)

    def verdict(evidence):
        return judged(evidence, words_of_risks(scores, chance, quality, evidence), "none")

    found = verdict(Evidence(off, example=(0.9, 0.7)))
    assert found.state == "off, and no calibrator was tried"
    assert found.sentence.startswith(words)
    fine = replace(off, p_value=0.5, low=0.0)
    told = verdict(Evidence(fine)).sentence
    assert told.startswith(
        f"200 events in 1,000 rows show nothing wrong: {percent(risk)} predicted on average"
    )


def test_numbers_stated_twice_are_the_same(said, found):
    quality, scores = said["quality"], by_key(said["metrics"])
    assert scores["observed_expected_ratio"]["before"]["value"] == pytest.approx(
        quality["rate"] / quality["risk"]
    )
    assert scores["event_ece"]["before"]["value"] == pytest.approx(said["chance"]["observed"])
    assert scores["ici"]["before"]["value"] == pytest.approx(said["chance"]["ici"]["observed"])
    assert sum(said["distribution"]["after"]["events"]) == pytest.approx(quality["events"])
    for rows in (said["regions"], said["groups"]):
        weight = np.array([row["rows"] for row in rows])
        assert weight.sum() == pytest.approx(quality["n"])
        assert weight @ [row["rate"] for row in rows] == pytest.approx(quality["events"])
    table = said["thresholds"]
    y, p, _ = log()
    curve = metrics.decision_curve(y, p, thresholds=table["threshold"])
    before = cb.report(y, p, calibrator=cb.calibrators.Identity(), n_resamples=0).to_dict()[
        "thresholds"
    ]
    assert before["net_benefit"] == pytest.approx(
        [curve.net_benefit[table["threshold"].index(t)] for t in before["threshold"]]
    )
    assert f"{scores['event_ece']['before']['value']:.4f}" in found.to_html()


def test_the_answer_is_one_click_away(said, found):
    y, p, _ = log()
    asked = cb.report(
        y, p, calibrator=cb.calibrators.VectorScaling(), target="answer", n_resamples=100
    ).to_dict()
    assert asked["target"] == "answer"
    own = by_key(said["metrics"])
    assert said["answer"]["metrics"] == [row for row in asked["metrics"] if row["key"] not in own]
    assert {"accuracy", "ece"} <= {*by_key(said["answer"]["metrics"])}
    assert said["answer"]["equal_mass"] == asked["equal_mass"]
    page = found.to_html()
    assert '<summary><h3 id="answer">' in page
    answer = page[page.index('<h3 id="answer">') : page.index('<h3 id="method">')]
    assert answer.count('id="figure-answer"') == 1
    assert all(row["name"] in answer for row in said["answer"]["metrics"])


def test_costs_set_a_threshold(said, found):
    assert 0.1 in said["thresholds"]["threshold"]
    assert None not in said["thresholds"]["expected_cost"]
    assert "Cost a row" in found.to_html()
    assert "Risk of at least" in found.to_markdown()


def test_intervals_of_groups_are_adjusted_for_their_number():
    sums = np.array([[200.0, 20.0, 30.0], [100.0, 5.0, 4.0], [0.0, 0.0, 0.0]])
    both, alone = EVENT.gaps(sums, 0.95), EVENT.gaps(sums[:1], 0.975)
    assert both[0] == alone[0]
    assert both[2].gap is None
    assert both[0].ratio == pytest.approx(20.0 / 30.0)


def test_gaps_of_honest_groups_hold_together():
    """In 2,000 simulations with honest risks, all ten intervals hold 0 at once in at least 95 %
    (Wilson's is a little bold).
    """
    rng = np.random.default_rng(1)
    n = np.full(10, 300.0)
    held = 0
    for _ in range(2000):
        events = rng.binomial(300, 0.2, 10).astype(float)
        held += all(
            row.low <= 0.0 <= row.high
            for row in EVENT.gaps(np.column_stack([n, events, 0.2 * n]), 0.95)
        )
    assert held / 2000 > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 2000)


def test_one_of_several_classes_is_an_event_on_request():
    rng = np.random.default_rng(2)
    P = rng.dirichlet(np.ones(3), 400)
    y = np.array(["cat", "dog", "emu"])[(rng.random(400)[:, None] > P.cumsum(axis=1)).sum(axis=1)]
    options = {
        "classes": ["cat", "dog", "emu"],
        "calibrator": cb.TemperatureScaling(),
        "n_resamples": 0,
    }
    said = cb.report(y, P, target="emu", **options).to_dict()
    assert (said["target"], said["data"]["event"], said["data"]["n_classes"]) == ("event", "emu", 3)
    assert by_key(said["metrics"])["event_brier_score"]["before"]["value"] == pytest.approx(
        np.mean((P[:, 2] - (y == "emu")) ** 2)
    )
    assert cb.report(y, P, **options).to_dict()["target"] == "classes"
    with pytest.raises(InputError, match="target must be"):
        cb.report(y, P, target="bee", **options)


def test_a_calibrator_of_confidences_is_asked_about_the_answer():
    rng = np.random.default_rng(3)
    p = rng.random(400)
    y = (rng.random(400) < p).astype(int)
    assert (
        cb.report(y, p, calibrator=cb.ConfidenceCalibrator(), n_resamples=0).to_dict()["target"]
        == "answer"
    )


def test_error_bars_have_no_event():
    with pytest.raises(InputError, match="target must be None unless predictions are of classes"):
        cb.report([0.0, 1.0, 2.0], [0.0, 1.0, 2.0], [1.0, 1.0, 1.0], target="event")


@pytest.mark.parametrize("y", [np.zeros(60, int), np.ones(60, int)])
def test_no_events_or_nothing_else_is_told(y):
    y = y.copy()
    p = np.linspace(0.1, 0.9, 60)
    found = cb.report(
        y, np.column_stack([1 - p, p]), calibrator=cb.calibrators.Identity(), n_resamples=0
    )
    assert "There are no" in " ".join(found.to_dict()["cautions"])
    assert "<h2" in found.to_html()


def test_the_numbers_of_a_rare_event_are_written_with_two_digits_at_least(tmp_path):
    rng = np.random.default_rng(3)
    p = rng.beta(0.05, 100.0, 8000)
    y = (rng.random(8000) < 1.8 * p).astype(int)
    found = cb.report(y, p, calibrator=cb.calibrators.VectorScaling(), n_resamples=20)
    page = found.save(tmp_path / "rare.html").read_text("utf-8")
    table = page[page.index('<h2 id="metrics">') : page.index("How to read these numbers")]
    small = [
        row["change"]["value"]
        for row in found.to_dict()["metrics"]
        if 1e-7 < abs(row["change"]["value"]) < 5e-4
    ]
    assert small
    assert all(rounded(value, "+").replace("-", "−") in table for value in small)
    caption = page[page.index('id="figure-bins"') : page.index('id="figure-corp"')]
    assert "loess" not in caption  # near 0 it is mostly noise
    assert "Both axes are logarithmic, because the event is rare" in caption
    corp = page[page.index('id="figure-corp"') : page.index('id="figure-decision"')]
    assert found.to_dict()["scale"] == "log"
    assert "Predicted risk" in corp
    assert ">0.01</text>" in corp


def test_certain_risks_that_were_wrong_are_said_with_what_they_do_to_the_numbers():
    y, p = np.tile([0, 1, 1, 0], 20), np.tile([0.0, 1.0, 0.0, 0.4], 20)
    found = cb.report(y, p, calibrator=cb.calibrators.Identity(), n_resamples=20).to_dict()
    assert any("20 risks" in said and "counts 27.6 for each" in said for said in found["cautions"])
    ici = by_key(found["metrics"])["ici"]["before"]
    assert (ici["low"], ici["method"]) == (None, "not resampled")
    assert by_key(found["metrics"])["log_loss"]["before"]["value"] == pytest.approx(
        (27.631 - np.log(0.6)) / 4, abs=1e-3
    )


def test_intervals_that_need_no_resamples_are_there_without_any():
    y, p, _ = log(400)
    found = by_key(cb.report(y, p, calibrator=cb.Platt(), n_resamples=0).to_dict()["metrics"])
    for one in (
        metrics.calibration_slope,
        metrics.event_auroc,
        metrics.observed_expected_ratio,
        metrics.d2_brier,
    ):
        want = one.interval(y, p)
        assert want.method == "analytic"
        assert (found[one.key]["before"]["low"], found[one.key]["before"]["high"]) == pytest.approx(
            (want.low, want.high)
        )
    assert found["ici"]["before"]["low"] is None
