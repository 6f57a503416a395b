"""Comparison of calibrators by predicted class: by hand, and where the truth is known."""

import json
import re

import numpy as np
import pytest

import calibrant as cb
from calibrant.core.predictions import read
from calibrant.reporting.calibrate import Compared
from calibrant.reporting.drift import UNCALIBRATED, methods_by_class


def compared(P, y, **after):
    record = read(P, y)
    return {
        name: Compared(record, record.recalibrated(Q), cb.TemperatureScaling(), "out-of-fold")
        for name, Q in after.items()
    }


P = np.array([[0.8, 0.1, 0.1], [0.6, 0.2, 0.2], [0.1, 0.7, 0.2], [0.2, 0.5, 0.3]])
y = np.array([0, 1, 1, 1])
#: Another label is first in the second row; the confidence is still that in the model's own label.
Q = np.array([[0.5, 0.3, 0.2], [0.3, 0.4, 0.3], [0.1, 0.8, 0.1], [0.1, 0.8, 0.1]])


def test_losses_are_those_by_hand():
    found = methods_by_class(compared(P, y, other=Q), 0.95)
    by_hand = {
        "0": (-np.log([0.8, 0.4]).mean(), -np.log([0.5, 0.7]).mean()),
        "1": (-np.log([0.7, 0.5]).mean(), -np.log([0.8, 0.8]).mean()),
    }
    assert [row.class_ for row in found.rows] == ["0", "1"]
    for row in found.rows:
        losses = [row.methods[name].loss for name in (UNCALIBRATED, "other")]
        assert losses == pytest.approx(by_hand[row.class_])
    before, after = np.mean(list(by_hand.values()), axis=0)
    assert found.macro == pytest.approx({UNCALIBRATED: before, "other": after})
    assert found.best == "other"
    assert [row.accuracy for row in found.rows] == [0.5, 1.0]


def test_in_sample_calibrators_are_not_compared():
    record = read(P, y)
    seen = Compared(record, record.recalibrated(Q), cb.TemperatureScaling(), "in-sample")
    assert methods_by_class({"seen": seen}, 0.95) is None


def test_another_method_is_named_only_for_the_class_where_it_is_better():
    rng = np.random.default_rng(0)
    n, right = 4000, np.array([0.6, 0.9, 0.9])
    own = rng.integers(0, 3, n)
    labels = np.where(rng.random(n) < right[own], own, (own + 1) % 3)

    def confident(c):
        out = np.repeat((1.0 - c)[:, None] / 2.0, 3, axis=1)
        out[np.arange(n), own] = c
        return out

    flat, first = np.full(n, 0.9), np.where(own == 0, 0.6, 0.8)
    found = methods_by_class(
        compared(confident(np.full(n, 0.99)), labels, flat=confident(flat), first=confident(first)),
        0.95,
    )
    assert found.best == "first"
    assert {row.class_: row.use for row in found.rows} == {"0": "first", "1": "flat", "2": "flat"}
    off = {name: sorted(classes) for name, classes in found.off.items()}
    assert off == {UNCALIBRATED: ["0", "1", "2"], "flat": ["0"], "first": ["1", "2"]}
    said = found.to_dict()["sentence"]
    assert re.search(r"use first, but flat for class [12], flat for class [12]\.", said)


def test_false_advice_is_rare():
    """Where all methods are the same up to noise, the best one is named for every class."""
    other, rng = 0, np.random.default_rng(0)
    for _ in range(40):
        logits = rng.normal(size=(300, 4))
        probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        labels = (probabilities.cumsum(axis=1) > rng.random((300, 1))).argmax(axis=1)
        noisy = {
            name: np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
            for name, z in (
                (name, logits + 0.1 * rng.normal(size=logits.shape)) for name in ("a", "b")
            )
        }
        found = methods_by_class(compared(probabilities, labels, **noisy), 0.95)
        other += any(row.use != found.best for row in found.rows)
    assert other <= 4


def test_report_has_it_for_several_calibrators_only():
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet([1, 1, 1], 300)
    labels = (probabilities.cumsum(axis=1) > rng.random((300, 1))).argmax(axis=1)
    one = cb.report(labels, probabilities, calibrator=cb.TemperatureScaling(), n_resamples=100)
    assert one.to_dict()["by_class"] is None
    two = [cb.TemperatureScaling(), cb.calibrators.CategoryTemperature()]
    found = cb.report(labels, probabilities, calibrator=two, n_resamples=100)
    content = found.to_dict()["by_class"]
    names = [UNCALIBRATED, "temperature scaling", "category temperature"]
    assert list(content["macro"]) == list(content["rows"][0]["methods"]) == names
    json.dumps(content, allow_nan=False)
    page, text = found.to_html(), found.to_markdown()
    folded = page[page.index('<summary><h3 id="by-class">Which method for which class?</h3>') :]
    assert content["sentence"] in folded
    assert "| Use | uncalibrated | temperature scaling | category temperature |" in text


def test_an_event_has_no_classes_to_choose_for():
    rng = np.random.default_rng(0)
    p = rng.random(200)
    two = [cb.TemperatureScaling(), cb.OneVsRest(cb.Isotonic())]
    found = cb.report((rng.random(200) < p).astype(int), p, calibrator=two, n_resamples=100)
    assert found.to_dict()["by_class"] is None


def test_densities_of_a_class_integrate_to_its_shares_of_right_and_wrong():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(3000, 3))
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    labels = (probabilities.cumsum(axis=1) > rng.random((3000, 1))).argmax(axis=1)
    found = cb.report(labels, probabilities, calibrator=cb.calibrators.Identity(), n_resamples=2)
    drawn = found.to_dict()["class_densities"]
    assert sorted(drawn) == ["0", "1", "2"]
    for k in range(3):
        one = {name: np.array(values) for name, values in drawn[str(k)].items()}
        odds = np.log(one["score"] / (1.0 - one["score"]))
        share = (labels == k)[probabilities.argmax(axis=1) == k].mean()
        assert np.trapezoid(one["right"], odds) == pytest.approx(share, abs=0.03)
        assert np.trapezoid(one["wrong"], odds) == pytest.approx(1.0 - share, abs=0.03)
    assert found.to_html().count("Confidence in this label") == 3
