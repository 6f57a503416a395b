"""H20: copies of rows prove nothing, behind every door; honest ties do."""

import warnings

import numpy as np
import pytest
from click.testing import CliRunner

import calibrant as cb
from calibrant.cli.group import group
from calibrant.errors import CalibrationWarning


def rows(seed, distinct=150, a=10.0):
    rng = np.random.default_rng(seed)
    p = rng.beta(a, 1.0, distinct)
    return p, (rng.random(distinct) < p).astype(int)


@pytest.mark.filterwarnings("ignore::calibrant.errors.CalibrationWarning")
def test_150_rows_six_times_certify_no_more_than_150_rows():
    """The largest true rate of errors is 1 / 11, so that a certificate of .08 may be broken."""
    broken = 0
    for seed in range(60):
        p, y = (np.repeat(part, 6) for part in rows(seed))
        rule = cb.SelectiveClassifier(0.08, when_uncertain="accept_none").fit(p, y)
        assert rule.n_ == 150.0
        t = min(max(rule.threshold_, 0.5), 1.0 - 1e-9)
        error = 1.0 - (10.0 / 11.0) * (1.0 - t**11) / (1.0 - t**10)
        broken += bool(rule.accepted_ and error > 0.08)
    assert broken <= 60 * 0.05 + 3.0 * np.sqrt(60 * 0.05 * 0.95)


def test_every_door_warns_of_copies():
    p, y = (np.repeat(part, 6) for part in rows(0))
    doors = {
        "selective": lambda: cb.SelectiveClassifier(0.2).fit(p, y),
        "scores": lambda: cb.SelectiveClassifier(0.2).fit_scores(p, 1 - y),
        "sets": lambda: cb.ConformalSets().fit(p, y),
        "rates": lambda: cb.decisions.NeymanPearsonClassifier(0.4).fit(p, y),
        "choice": lambda: cb.AutoCalibrator().fit(p, y),
    }
    silent = []
    for name, door in doors.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            door()
        if not any("repeat an earlier one" in str(one.message) for one in caught):
            silent.append(name)
    assert silent == []


@pytest.mark.parametrize("law", ["two digits", "few leaves", "saturated", "sharp"])
def test_ties_of_honest_scores_are_counted(law):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        p = {
            "two digits": rng.beta(8.0, 1.0, 900).round(2),
            "few leaves": rng.beta(6.0, 1.0, 40)[rng.integers(0, 40, 900)],
            "saturated": (1.0 / (1.0 + np.exp(-rng.normal(4.0, 4.0, 900)))).astype(np.float16),
            "sharp": rng.random(900).round(2),
        }[law].astype(np.float64)
        y = (p > 0.5 if law == "sharp" else rng.random(900) < p).astype(int)
        with warnings.catch_warnings():
            warnings.simplefilter("error", CalibrationWarning)
            rule = cb.SelectiveClassifier(0.4).fit(p, y)
        assert rule.n_ == 900.0


def test_the_command_asks_whether_a_column_is_a_cluster(tmp_path):
    rng = np.random.default_rng(0)
    market = np.repeat(np.arange(30), 40)
    level = rng.normal(0.0, 1.0, 30)
    p = 1.0 / (1.0 + np.exp(-(level[market] + rng.normal(0.0, 0.7, 1200))))
    y = (rng.random(30) < 1.0 / (1.0 + np.exp(-level)))[market].astype(int)
    free = (rng.random(1200) < p).astype(int)
    for outcome, asked in ((y, True), (free, False)):
        table = tmp_path / "markets.csv"
        lines = (f"m{m},{a:.6f},{b}" for m, a, b in zip(market, p, outcome, strict=True))
        table.write_text("market,risk,label\n" + "\n".join(lines))
        call = ["decide", str(table), "--max-error", "0.49", "--force"]
        result = CliRunner().invoke(group, [*call, "-o", str(tmp_path / "rule.calibrant")])
        words = " ".join(result.output.split())
        assert ("pass --cluster market" in words) is asked
