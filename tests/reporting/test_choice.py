import numpy as np
import pytest

import calibrant as cb
from calibrant.core.predictions import read
from calibrant.reporting.calibrate import choice
from calibrant.reporting.evidence import confidence


def data(n=120):
    rng = np.random.default_rng(0)
    p = rng.random(n)
    return p, (rng.random(n) < p**2).astype(int)


def test_code_of_a_report_applies_the_calibrator():
    p, y = data()
    cal = cb.ConfidenceCalibrator(
        signal=cb.calibrators.Margin(), map=cb.Isotonic(), per_class=False, classes=[0, 1]
    ).fit(p, y)
    lines = choice(cal, read(p, y)).code
    names = {"P_calibration": p, "y_calibration": y, "P_new": p[:5]}
    exec("\n".join(lines), names)
    assert names["confidence"].tolist() == cal.predict_confidence(p[:5]).tolist()


def test_candidates_of_the_automatic_one_come_by_weight():
    p, y = data()
    cal = cb.AutoCalibrator().fit(p, y)
    found = choice(cal, read(p, y))
    assert found.words == cal.explain()
    weights = [row["weight"] for row in found.candidates]
    assert weights == sorted(weights, reverse=True)
    assert len(weights) == len(cal.table_)


def test_curve_of_a_calibrator_is_thin_and_true():
    p, y = data(900)
    cal = cb.TemperatureScaling().fit(p, y)
    found = confidence(cal, read(p, y), "in-sample")
    assert found.in_sample
    assert not confidence(cal, read(p, y), "held-out").in_sample
    assert len(found.points.score) == 201
    assert found.right + found.wrong == pytest.approx(900)
    score = found.points.score
    assert np.allclose(found.points.confidence, cal.predict_confidence(score), atol=1e-9)
