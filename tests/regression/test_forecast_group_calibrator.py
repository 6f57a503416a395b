"""Bias and spread by group: found where groups differ, shrunk where rows are few, nothing where
they do not.
"""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import calibrant as cb
from calibrant import metrics
from calibrant.cli.group import group as cli
from calibrant.errors import InputError
from calibrant.regression.groups import ForecastGroupCalibrator


def problem(n, dims, bias, spread, seed=0, std=0.7):
    """(mean, std, y, groups, true forecast): the levels of each column move the mean, in units
    of std, and stretch the std.
    """
    rng = np.random.default_rng(seed)
    groups = np.column_stack([rng.integers(0, d, n) for d in dims])
    shift = sum(rng.normal(0.0, bias, d)[groups[:, j]] for j, d in enumerate(dims))
    log = sum(rng.normal(0.0, spread, d)[groups[:, j]] for j, d in enumerate(dims))
    mean, true = rng.normal(size=n), std * np.exp(log)
    return (
        mean,
        np.full(n, std),
        mean + std * shift + true * rng.normal(size=n),
        groups,
        (mean + std * shift, true),
    )


def test_it_gains_most_of_what_there_is_to_gain_and_says_how_much():
    mean, std, y, groups, truth = problem(6000, (6, 5), 0.4, 0.3)
    fit, rest = slice(0, 3000), slice(3000, None)
    cal = ForecastGroupCalibrator().fit(mean[fit], y[fit], std=std[fit], groups=groups[fit])
    base = (
        cb.regression.DistributionRecalibration(shape=None)
        .fit(mean[fit], y[fit], std=std[fit])
        .predict(mean[rest], std[rest])
    )
    made = cal.predict(mean[rest], std[rest], groups=groups[rest])
    scores = [
        metrics.negative_log_likelihood(y[rest], one)
        for one in (base, made, (truth[0][rest], truth[1][rest]))
    ]
    assert scores[0] - scores[1] > 0.93 * (scores[0] - scores[2])
    assert abs(cal.gain_ - (scores[0] - scores[1])) < 4.0 * np.sqrt(2.0) * cal.gain_error_
    assert "cells differ by" in cal.explain()
    assert not cb.audit(y[rest], made, groups[rest]).off
    assert len(cb.audit(y[rest], base, groups[rest]).off) > 5


def test_the_shift_of_one_column_is_the_closed_form():
    """Without noise in the spread: information over information and prior, times the mean of the
    normal scores.
    """
    mean, std, y, groups, _ = problem(4000, (5,), 0.5, 0.0, 1)
    cal = ForecastGroupCalibrator(cb.regression.ForecastIdentity()).fit(
        mean, y, std=std, groups=groups
    )
    (family,) = cal.families_
    score, n = (y - mean) / std, np.bincount(groups[:, 0])
    worth = n * np.exp(-2.0 * family["log_factor"])
    expected = np.bincount(groups[:, 0], score) / n * worth / (worth + family["shift_std"] ** -2)
    np.testing.assert_allclose(family["shift"], expected, atol=2e-3)
    found = cal.predict(mean[:4], std[:4], groups=groups[:4])
    np.testing.assert_allclose(found.mean, mean[:4] + std[:4] * family["shift"][groups[:4, 0]])
    np.testing.assert_allclose(found.std, std[:4] * np.exp(family["log_factor"][groups[:4, 0]]))


def test_groups_that_do_not_differ_leave_the_base_exactly():
    left = 0
    for seed in range(40):
        mean, std, y, groups, _ = problem(400, (6, 3), 0.0, 0.0, seed)
        cal = ForecastGroupCalibrator().fit(mean, y, std=std, groups=groups)
        if not cal.families_:
            left += 1
            base = (
                cb.regression.DistributionRecalibration(shape=None)
                .fit(mean, y, std=std)
                .predict(mean, std)
            )
            np.testing.assert_array_equal(cal.predict(mean, std, groups=groups).std, base.std)
            assert cal.status_ == "base: no evidence that groups differ"
            assert cal.explain().startswith("No evidence that groups differ")
    assert left >= 35


def test_unseen_levels_fall_back_to_their_parents_and_missing_is_a_level():
    mean, std, y, groups, _ = problem(4000, (4, 3), 0.8, 0.4, 2)
    frame = pd.DataFrame(
        {"shop": groups[:, 0], "size": np.array(["s", "l", None], dtype=object)[groups[:, 1]]}
    )
    cal = ForecastGroupCalibrator(depth=1).fit(mean, y, std=std, groups=frame)
    base = cal.base_.predict([0.0], [1.0])

    def moved(shop, size):
        found = cal.predict(
            [0.0], [1.0], groups=pd.DataFrame({"size": [size], "shop": [shop]}, dtype=object)
        )
        return (found.mean[0] - base.mean[0]) / base.std[0], np.log(found.std[0] / base.std[0])

    np.testing.assert_allclose(moved(9, "other"), (0.0, 0.0), atol=1e-12)
    assert abs(moved(9, None)[0]) > 0.05
    with pytest.raises(InputError, match=r"\['size'\] are not there"):
        cal.predict([0.0], [1.0], groups=frame[["shop"]][:1])


def test_several_outputs_other_forecasts_and_saving(tmp_path):
    mean, std, y, groups, _ = problem(1500, (4,), 0.5, 0.3, 3)
    both = np.column_stack([mean, mean]), np.column_stack([y, -y]), np.column_stack([std, std])
    cal = ForecastGroupCalibrator().fit(both[0], both[1], std=both[2], groups=groups)
    again = cb.load(cal.save(tmp_path / "m.calibrant")).predict(both[0], both[2], groups=groups)
    np.testing.assert_array_equal(cal.predict(both[0], both[2], groups=groups).std, again.std)
    one = (
        ForecastGroupCalibrator()
        .fit(mean, y, std=std, groups=groups)
        .predict(mean, std, groups=groups)
    )
    np.testing.assert_allclose(again.mean[:, 0], one.mean)
    draws = mean[:, None] + std[:, None] * np.random.default_rng(0).normal(size=(1500, 200))
    of_samples = (
        ForecastGroupCalibrator()
        .fit(cb.regression.SampleForecast(draws), y, groups=groups)
        .predict(cb.regression.SampleForecast(draws), groups=groups)
    )
    assert np.abs(of_samples.mean - one.mean).mean() < 0.1


def test_the_command_line_fits_applies_and_reports(tmp_path):
    mean, std, y, groups, _ = problem(800, (3,), 1.0, 0.5, 4)
    frame = pd.DataFrame(
        {"mean": mean, "std": std, "y": y, "shop": np.array(["a", "b", ""])[groups[:, 0]]}
    )
    path, model, out = tmp_path / "f.csv", tmp_path / "m.calibrant", tmp_path / "o.csv"
    frame.to_csv(path, index=False)

    def run(*arguments):
        result = CliRunner().invoke(cli, [str(one) for one in arguments])
        assert result.exit_code == 0, result.output

    run("fit", path, "--groups", "shop", "--method", "forecast-group", "-o", model)
    run("apply", model, path, "-o", out)
    expected = (
        ForecastGroupCalibrator()
        .fit(mean, y, std=std, groups=groups)
        .predict(mean, std, groups=groups)
    )
    np.testing.assert_allclose(pd.read_csv(out)["std"], expected.std, rtol=1e-9)
    run("report", path, "--groups", "shop", "--method", "forecast-group", "-o", tmp_path / "r.json")
    told = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    audit = (told["outputs"][0] if "outputs" in told else told)["audit"]
    assert audit["before"]["n_off"] > audit["after"]["n_off"] == 0
    assert "groups=groups_new" in told["choice"]["code"][2]


def test_what_is_refused():
    mean, std, y, groups, _ = problem(50, (2,), 0.5, 0.0)
    with pytest.raises(InputError, match="ForecastGroupCalibrator needs groups="):
        ForecastGroupCalibrator().fit(mean, y, std=std)
    with pytest.raises(InputError, match="depth"):
        ForecastGroupCalibrator(depth=0).fit(mean, y, std=std, groups=groups)
    with pytest.raises(InputError, match="StdScaling does not use groups"):
        cb.StdScaling().fit(mean, y, std=std, groups=groups)
