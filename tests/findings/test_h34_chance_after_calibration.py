"""H34: the error that chance alone explains was drawn from the uncalibrated predictions, and
printed beside the error of the calibrated ones.
"""

import re

import numpy as np
import pytest

import calibrant as cb

N = 1500


@pytest.fixture(scope="module")
def risks():
    """(report on held-out rows, their calibrated risks)."""
    rng = np.random.default_rng(0)
    z = rng.normal(-1.0, 1.3, 2 * N)
    y, p = (rng.random(2 * N) < 1 / (1 + np.exp(-z))).astype(int), 1 / (1 + np.exp(-3 * z))
    fitted = cb.OneVsRest(cb.Platt()).fit(p[N:], y[N:])
    made = cb.report(y[:N], p[:N], calibrator=fitted, n_resamples=100)
    return made, fitted.predict_proba(p[:N])[:, 1]


@pytest.fixture(scope="module")
def forecasts():
    """Reports on error bars that are too small by half, calibrated and in sample."""
    rng = np.random.default_rng(1)
    std = np.exp(rng.normal(0, 0.5, 600))
    y = 2.0 * std * rng.normal(size=600)
    fitted = cb.StdScaling().fit(np.zeros(600), y, std=std)
    return (
        cb.report(y, np.zeros(600), std, calibrator=cb.StdScaling(), n_resamples=100),
        cb.report(y, np.zeros(600), std, calibrator=fitted, in_sample=True, n_resamples=100),
    )


def limits(printed, label):
    """The numbers of "chance alone: up to ..." on the line of a tile."""
    (line,) = [line for line in printed.splitlines() if line.strip().startswith(label)]
    return [float(one) for one in re.findall(r"[\d.]+", line.split("up to")[1])]


def drawn_error(q, draws=400):
    """The 95 % quantile of the error of rows that happen with just their risks."""
    rng = np.random.default_rng(2)
    errors = [_ece(rng.random(len(q)) < q, q) for _ in range(draws)]
    return float(np.quantile(errors, 0.95))


def _ece(y, q):
    part = np.minimum((q * 15).astype(int), 14)
    return np.abs(np.bincount(part, y - q, 15)).sum() / len(q)


def test_each_error_stands_beside_its_own_chance(risks):
    made, calibrated = risks
    high = limits(repr(made), "Mean gap")
    assert high[-1] == pytest.approx(100 * drawn_error(calibrated), rel=0.08)
    assert high[0] < high[-1]


def test_it_is_in_the_data_on_the_page_and_in_markdown(risks):
    made, calibrated = risks
    found = made.to_dict()
    high = drawn_error(calibrated)
    assert found["chance_after"]["high"] == pytest.approx(high, rel=0.08)
    assert found["chance_after"]["ici"]["high"] > 0.0
    assert f"up to {found['chance']['high']:.4f} → {found['chance_after']['high']:.4f}" in (
        made.to_markdown()
    )
    assert f"up to {found['chance_after']['ici']['high']:.4f}" in made.to_html()


def test_error_bars_likewise(forecasts):
    made, _ = forecasts
    high = limits(repr(made), "ENCE")
    (part,) = made.to_dict()["outputs"]
    assert high[-1] == pytest.approx(part["criteria"]["after"]["ence"]["high"], abs=0.001)
    assert high[0] == pytest.approx(part["chance"]["ence"]["high"], abs=0.001)
    assert part["criteria"]["after"]["ence"] == part["chance_after"]["ence"]


def test_rows_of_the_fit_have_none(forecasts):
    _, made = forecasts
    (part,) = made.to_dict()["outputs"]
    assert part["chance_after"] is None
    assert "up to" in repr(made)
    assert re.search(r"up to [\d.]+$", repr(made), re.MULTILINE)
