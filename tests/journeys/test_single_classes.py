"""A person with predictions of ten classes asks which of them can be believed."""

import json

import numpy as np
import pytest

import calibrant as cb
from calibrant.core.predictions import read
from calibrant.reporting.calibrate import compare
from calibrant.reporting.drift import UNCALIBRATED, methods_by_class

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

SWAPPED = (3, 7)
SHARED, OWN = "temperature scaling", "category temperature"


def world(seed, n=6000):
    """Probabilities, labels, and the true probability of each class; the probabilities are
    calibrated until 3 in 10 labels of two classes are exchanged.
    """
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, 10))
    logits[np.arange(n), rng.integers(0, 10, n)] += 5.0
    P = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    truth = P.copy()
    truth[:, SWAPPED] = 0.7 * P[:, SWAPPED] + 0.3 * P[:, SWAPPED[::-1]]
    return P, (truth.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1), truth


def test_exactly_the_two_swapped_classes_are_unreliable_and_their_own_temperature_repairs_them():
    false_alarms, left = 0, 0
    for seed in range(12):
        P, y, truth = world(seed)
        record = read(P, y)
        methods = {SHARED: cb.TemperatureScaling(), OWN: cb.calibrators.CategoryTemperature()}
        found = methods_by_class(
            {name: compare(record, one) for name, one in methods.items()}, 0.95
        )
        off = {name: {int(k) for k in classes} for name, classes in found.off.items()}
        assert set(SWAPPED) <= off[UNCALIBRATED]
        assert set(SWAPPED) <= off[SHARED]
        assert found.best == OWN
        assert {int(row.class_) for row in found.rows[:2]} == set(SWAPPED)
        false_alarms += off[UNCALIBRATED] != set(SWAPPED)
        left += bool(off[OWN])
        for row in found.rows:
            own = P.argmax(axis=1) == int(row.class_)
            assert row.low < truth[own, int(row.class_)].mean() < row.high
    assert false_alarms <= 2
    assert left <= 2


def test_a_calibrated_model_gets_no_advice_for_single_classes():
    P, _, _ = world(0)
    wrong = 0
    for seed in range(12):
        y = (P.cumsum(axis=1) > np.random.default_rng([seed, 1]).random((len(P), 1))).argmax(axis=1)
        compared = {OWN: compare(read(P, y), cb.calibrators.CategoryTemperature())}
        found = methods_by_class(compared, 0.95)
        wrong += bool(found.off[UNCALIBRATED]) or any(row.use != found.best for row in found.rows)
    assert wrong <= 2


def test_the_command_says_so_and_the_page_shows_what_is_true(run, tmp_path):
    P, y, _ = world(0, 3000)
    columns = ",".join([*(f"p_{k}" for k in range(10)), "label"])
    table = np.column_stack([P, y])
    np.savetxt(tmp_path / "log.csv", table, "%.12g", delimiter=",", header=columns, comments="")
    methods = "temperature,category-temperature,award-temperature,kernel-density-by-class"
    said = run("report", "log.csv", "--method", methods, "-o", "r.json").stdout
    found = json.loads((tmp_path / "r.json").read_text())
    by_class = found["by_class"]
    assert set(by_class["off"][UNCALIBRATED]) == {"3", "7"}
    assert set(by_class["off"][SHARED]) >= {"3", "7"}
    assert by_class["off"][OWN] == []
    assert by_class["sentence"] in said
    # The reverse confusion: when it says 3, which class is true?
    counts = np.array(found["confusion"]["counts"])
    assert np.argsort(counts[:, 3])[-2:].tolist() == [7, 3]
    # Wrong predictions of a swapped class are as sure as right ones; of another class they are not.
    means = {}
    for k in ("3", "5"):
        densities = {name: np.array(v) for name, v in found["class_densities"][k].items()}
        odds = np.log(densities["score"] / (1.0 - densities["score"]))
        means[k] = [np.average(odds, weights=densities[name]) for name in ("right", "wrong")]
    assert means["3"][0] - means["3"][1] < 0.8
    assert means["5"][0] - means["5"][1] > 1.0
