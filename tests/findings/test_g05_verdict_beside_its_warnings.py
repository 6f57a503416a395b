"""G5: the report advises nothing that harms, and nothing over its own warnings."""

from typing import Any

import numpy as np

import calibrant as cb


def logistic(z: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-z))


def verdict(y: np.ndarray, p: np.ndarray, calibrator: Any) -> dict[str, str]:
    return cb.report(y, p, calibrator=calibrator, n_resamples=20).to_dict()["verdict"]


def advises(found: dict[str, str]) -> bool:
    """Whether a verdict advises to use the calibrated risks."""
    advised = found["action"].startswith("Use the calibrated")
    assert advised == (found["state"] in ("calibrate", "calibrate by group"))
    return advised


def test_it_advises_what_helps():
    rng = np.random.default_rng(0)
    z = rng.normal(0.0, 1.3, 2000)
    y = (rng.random(2000) < logistic(z)).astype(int)
    assert advises(verdict(y, logistic(3.0 * z), cb.Platt()))


def test_it_does_not_advise_what_makes_true_sharp_risks_worse():
    advised = 0
    for seed in (5, 6, 7):
        rng = np.random.default_rng(seed)
        p = logistic(rng.choice([-1.0, 1.0], 100) * rng.normal(5.0, 1.5, 100))
        y = (rng.random(100) < p).astype(int)
        advised += advises(verdict(y, p, cb.TemperatureScaling()))
    assert advised <= 1


def test_it_does_not_advise_to_use_what_ranks_backwards():
    rng = np.random.default_rng(0)
    z = rng.normal(0.0, 1.3, 300)
    y = (rng.random(300) < logistic(-z)).astype(int)
    found = verdict(y, logistic(z), cb.Platt())
    assert not advises(found)
    assert found["state"] == "check the data first"
    assert "Check that these are the risks of the event" in found["sentence"]


def test_no_evidence_says_how_far_off_the_risks_may_be():
    rng = np.random.default_rng(1)
    top = rng.random(60) < 0.05
    p = np.where(top, 0.97, rng.uniform(0.02, 0.9, 60))
    y = (rng.random(60) < np.where(top, 0.55, p)).astype(int)
    found = verdict(y, p, cb.calibrators.Identity())
    assert found["off_by"]["before"][1] > 10.0
    assert f"at most {found['off_by']['before'][1]:.0f} points" in found["sentence"]
