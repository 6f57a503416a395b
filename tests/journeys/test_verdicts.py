"""The verdict on worlds whose truth is known: a small version of ``python -m benchmarks.verdicts``,
of worlds that did not choose its rule.
"""

import numpy as np
import pytest
from benchmarks.verdicts import Run, in_a_group, later, of_world, over_time, summary

import calibrant as cb

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("right", [over_time, in_a_group, later])
def test_what_is_wrong_gets_its_own_remedy(right):
    assert right(2_000, 3)


def test_true_risks_are_used_and_wrong_ones_calibrated():
    runs = [of_world("even", off, 400, seed) for off in ("true", "too extreme") for seed in (0,)]
    found = summary(runs)
    assert found["true: red"] == 0.0
    assert found["help missed"] == 0.0
    assert found["regret"] < 0.01
    assert all(run.low <= run.off <= run.high for run in runs)


def test_the_summary_counts_what_a_person_loses():
    used = Run("bent", "calibrate", 0.5, 0.45, 0.45, 5.0, 2.0, 8.0)
    missed = Run("bent", "use as they are", 0.5, 0.4, 0.5, 5.0, 0.0, 4.0)
    harmed = Run("true", "calibrate", 0.5, 0.6, 0.6, 0.0, 0.0, 3.0)
    found = summary([used, missed, harmed])
    assert found["help missed"] == 0.5
    assert found["advice harms"] == 0.5
    assert found["true: calibrate"] == 1.0
    assert found["high missed"] == 0.5
    assert found["regret"] == pytest.approx((np.log(0.5 / 0.4) + np.log(0.6 / 0.5)) / 3.0)


def test_the_surest_rows_that_are_off_are_not_to_be_used():
    rng = np.random.default_rng(5)
    p = 1.0 / (1.0 + np.exp(0.6 - 1.2 * rng.normal(size=40_000)))
    q = np.where(p >= np.quantile(p, 0.99), p - 0.25, p)
    y = (rng.random(len(p)) < q).astype(int)
    found = cb.report(y, p, calibrator=cb.calibrators.Identity(), n_resamples=2).to_dict()
    assert found["verdict"]["state"] == "off, and no calibrator was tried"
    assert "highest 1 %" in found["verdict"]["sentence"]
    assert "tail" in found["miscalibration"]["before"]["checks"]


def test_a_log_names_the_question_that_is_off():
    rng = np.random.default_rng(2)
    rows = []
    for i in range(1_200):
        name = ("capital", "river", "year")[i % 3]
        said = float(rng.uniform(0.5, 0.95))
        right = rng.random() < (said - 0.35 if name == "river" else said)
        rows.append({"question": name, "confidence": said, "correct": bool(right), "item": i})
    log = cb.read_questions(rows)
    for calibrator in (cb.calibrators.Identity(), None):
        found = cb.report(log, calibrator=calibrator, n_resamples=2).to_dict()["verdict"]
        state = "calibrate" if calibrator is None else "off, and no calibrator was tried"
        assert found["state"] == state
        assert "river" in found["sentence"]


def test_a_map_of_both_periods_does_not_hide_a_change():
    """A calibrator fitted before and after a change averages them."""
    rng = np.random.default_rng(1000)
    z = rng.normal(-0.5, 1.5, 2_000)
    p = 1.0 / (1.0 + np.exp(-z))
    days = np.datetime64("2025-01-01") + np.arange(2_000) // 6
    for shift, slope, state in ((0.8, 1.0, "it has changed"), (0.0, 0.6, "calibrate")):
        true = slope * z + shift * (np.arange(2_000) >= 1_000)
        y = (rng.random(2_000) < 1.0 / (1.0 + np.exp(-true))).astype(int)
        found = cb.report(y, p, calibrator=cb.Platt(), times=days, n_resamples=2).to_dict()
        assert found["verdict"]["state"] == state
        code = "\n".join(found["verdict"]["code"])
        assert ("the rows since 2025-" in code) == (state == "it has changed")
        assert "Platt" in code


def test_ranges_are_of_rows_and_never_silly():
    rng = np.random.default_rng(4)
    z = rng.normal(size=1_000)
    p, none = 1.0 / (1.0 + np.exp(-z)), cb.calibrators.Identity()
    y = (rng.random(1_000) < p).astype(int)

    def verdict(*arguments, **options):
        return cb.report(*arguments, calibrator=none, n_resamples=2, **options).to_dict()["verdict"]

    assert verdict(y, y * 1.0)["off_by"]["before"][1] > 0.1
    assert verdict([0], [0.5])["off_by"]["before"][1] <= 100.0
    assert verdict([0], [0.5])["sentence"].startswith("0 events in 1 row: too few")
    assert np.isfinite(verdict(y, p, sample_weight=np.full(1_000, 1e9))["off_by"]["before"]).all()
    alone, together = (verdict(y, p, cluster=c) for c in (None, np.arange(1_000) // 100))
    wanted = [
        int(v["action"].split("About ")[1].split()[0].replace(",", "")) for v in (alone, together)
    ]
    assert wanted[0] < wanted[1]
