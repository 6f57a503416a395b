"""G25: a list that is cut says so, in the command line and in Python."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import calibrant as cb
from calibrant.cli.group import group

pytest.importorskip("polars")


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """2,000 rows at 25 sites, which the model does not know to be alike."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "p": rng.uniform(0.2, 0.8, 2000),
            "site": rng.choice([f"s{i:02d}" for i in range(25)], 2000),
        }
    )
    frame["when"] = pd.Timestamp("2026-03-01") + pd.to_timedelta(np.arange(2000) // 500, unit="D")
    frame["label"] = (
        rng.random(2000) < np.clip(frame.p + 0.3 * (frame.site < "s22"), 0.0, 1.0)
    ).astype(int)
    path = tmp_path_factory.mktemp("lists") / "log.parquet"
    frame.to_parquet(path)
    return path, frame


def printed(*arguments):
    result = CliRunner().invoke(group, [str(one) for one in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_audit_says_how_many_groups_it_shows_and_shows_all(log):
    path, frame = log
    asked = "audit", path, "--groups", "site"
    cut = printed(*asked)
    assert "12 of 25 shown: --all" in cut
    whole = printed(*asked, "--all")
    assert "shown:" not in whole
    assert all(site in whole for site in frame.site.unique())


def test_monitor_says_how_many_slices_and_alarms_it_shows(log):
    path, frame = log
    asked = "monitor", path, "--time", "when", "--by", "site"
    cut = printed(*asked)
    found = cb.monitor(
        cb.evaluate(frame, probabilities="p", target="event", by="site", time="when")
    )
    assert len(found.alarms) > 12
    assert "12 of 25 shown: --all" in cut
    assert f"12 of {len(found.alarms)} shown: --all" in cut
    whole = printed(*asked, "--all")
    assert "shown:" not in whole
    assert sum(line.startswith("s") and ": " in line for line in whole.splitlines()) == len(
        found.alarms
    )


def test_results_shown_in_python_are_tables_that_say_when_they_are_cut(log):
    _, frame = log
    found = cb.audit(frame.label, frame.p, frame.site)
    assert "11 of 25 shown" in repr(found)  # the sentence takes two of the 15 lines
    evaluation = cb.evaluate(frame, probabilities="p", target="event", by="site")
    assert "12 of 25 shown" in repr(cb.monitoring.worst_slices(evaluation))
