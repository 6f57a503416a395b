"""G23: forecasts of a number can be monitored, in Python and in the command line, and what
raises no alarm there is right.
"""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import calibrant as cb
from calibrant.cli.group import group
from calibrant.errors import InputError

pytest.importorskip("polars")
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


def deliveries(seed=0, factor=2.0):
    """Twenty days of 150 deliveries; the error bars hold what they say until day 10, and then
    are too narrow by a factor.
    """
    rng = np.random.default_rng(seed)
    day = np.repeat(np.arange(20), 150)
    frame = pd.DataFrame(
        {"mean": rng.uniform(1.0, 9.0, len(day)), "std": rng.uniform(0.5, 2.0, len(day))}
    )
    frame["when"] = pd.Timestamp("2026-03-01") + pd.to_timedelta(day, unit="D")
    frame["y"] = frame["mean"] + frame["std"] * rng.normal(size=len(day)) * np.where(
        day < 10, 1.0, factor
    )
    return frame


def quantiles(frame):
    """The same forecasts as quantiles at five levels."""
    values = cb.NormalForecast(frame["mean"], frame["std"]).quantile(LEVELS)
    columns = {f"q_{level}": values[:, j] for j, level in enumerate(LEVELS)}
    return pd.DataFrame({"when": frame["when"], "y": frame["y"], **columns})


def watched(path, *more):
    result = CliRunner().invoke(group, ["monitor", str(path), "--time", "when", "--json", *more])
    assert result.exit_code == 0, result.output
    return json.loads(result.output)["overall"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize(
    "made", [lambda frame: frame, quantiles], ids=["mean and std", "quantiles"]
)
def test_the_command_finds_error_bars_that_become_too_narrow(tmp_path, made, suffix):
    for factor, alarm in ((2.0, True), (1.0, False)):
        frame, path = made(deliveries(factor=factor)), tmp_path / f"{factor}.{suffix}"
        frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
        found = watched(path)
        assert found["alarm"] == alarm
        if alarm:
            assert "2026-03-11" <= found["advice"]["since"] <= "2026-03-12"


def test_python_and_the_command_say_the_same_of_forecasts(tmp_path):
    frame = deliveries()
    frame.to_parquet(tmp_path / "log.parquet")
    try:
        own = cb.monitor(cb.evaluate(frame, label="y", mean="mean", std="std", time="when"))
    except InputError as error:
        pytest.fail(f"forecasts cannot be monitored: {error}")
    found = watched(tmp_path / "log.parquet")
    assert found["curve"]["log_evidence"] == pytest.approx(own.overall.path_)
    assert found["advice"] == json.loads(json.dumps(own.overall.advice().to_dict(), default=str))


def test_an_alarm_of_calibrated_forecasts_is_as_rare_as_said():
    """Of 20 streams without a fault, looked at each day, at most one in twenty on average has an
    alarm.
    """
    try:
        alarms = [
            cb.monitor(
                cb.evaluate(
                    deliveries(seed, factor=1.0), label="y", mean="mean", std="std", time="when"
                )
            ).overall.alarm_
            for seed in range(20)
        ]
    except InputError as error:
        pytest.fail(f"forecasts cannot be monitored: {error}")
    assert sum(alarms) <= 3
