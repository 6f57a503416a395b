"""A person with error bars: is she told when intervals pass and the std tell nothing?"""

import json

import numpy as np
import pytest
from scipy import stats

import calibrant as cb
from calibrant.regression import ForecastIdentity, IntervalCalibration

pytest.importorskip("jinja2")
runner = pytest.importorskip("click.testing").CliRunner()

PASSES = "The intervals pass on average, but the std hardly tell large errors from small"
SEEDS = 40


def useless(seed, n=1500):
    """Mean, std and outcome; every std is drawn at random, and intervals of all levels hold."""
    rng = np.random.default_rng([seed, 1])
    std = np.exp(0.5 * rng.standard_normal(n))
    # Errors have the law of std times a normal score, with the std of another row.
    return np.zeros(n), std, rng.permutation(std) * rng.standard_normal(n)


def useful(seed, n=1500, spread=0.5):
    """Mean, std and outcome; every std is that of its own error."""
    rng = np.random.default_rng([seed, 2])
    std = np.exp(spread * rng.standard_normal(n))
    return np.zeros(n), std, std * rng.standard_normal(n)


def told(mean, std, y, calibrator):
    found = cb.report(y, mean, std, calibrator=calibrator, n_resamples=2).to_dict()
    return any(PASSES in caution for caution in found["cautions"]), found["outputs"][0]["criteria"]


def test_random_std_are_named_in_every_sample():
    for seed in range(10):
        was_told, criteria = told(*useless(seed), IntervalCalibration())
        assert was_told
        assert criteria["after"]["passes"] == {"interval": True, "std": False}
        low, high = (criteria["after"]["correlation"][end] for end in ("low", "high"))
        assert -0.15 < low < high < 0.15


@pytest.mark.parametrize("spread", [0.5, 0.1, 0.02])
def test_good_std_raise_no_alarm_beyond_the_level(spread):
    alarms = sum(told(*useful(seed, 600, spread), ForecastIdentity())[0] for seed in range(SEEDS))
    assert alarms <= stats.binom.ppf(0.999, SEEDS, 0.025)


def test_the_command_tells_her_and_names_what_mends_it(tmp_path):
    mean, std, _ = useless(2, 2500)
    y = np.random.default_rng(5).standard_normal(2500)  # one std would be right for all rows
    table = tmp_path / "forecasts.csv"
    lines = ["mean,std,y", *(f"{a},{b},{c}" for a, b, c in zip(mean, std, y, strict=True))]
    table.write_text("\n".join(lines), "utf-8")
    from calibrant.cli.group import group

    pages = {}
    for method in ("interval", "std", "isotonic-variance"):
        page = tmp_path / f"{method}.html"
        found = runner.invoke(
            group, ["report", str(table), "--method", method, "-o", str(page), "--json"]
        )
        assert found.exit_code == 0, found.output
        criteria = json.loads(found.output)["outputs"][0]["criteria"]
        pages[method] = criteria["after"]["passes"], page.read_text("utf-8")
    assert {name: passes["std"] for name, (passes, _) in pages.items()} == {
        "interval": False,
        "std": False,
        "isotonic-variance": True,
    }
    assert "does not mend the std criterion" in pages["interval"][1]
    assert PASSES in pages["interval"][1]
    assert "mends the std criterion" in pages["isotonic-variance"][1]
