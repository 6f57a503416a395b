"""G18: without options, ``cb.monitor``, ``cb.metrics.compare`` and their commands answer one
question in the same words.
"""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import calibrant as cb
from calibrant.cli.group import group

pytest.importorskip("polars")


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """(path, frame) of risks by two models, dated; those of the first drift."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"p": rng.uniform(0.05, 0.95, 3000)})
    frame["q"] = frame["p"] ** 1.5
    frame["when"] = pd.Timestamp("2026-03-01") + pd.to_timedelta(np.arange(3000) // 200, unit="D")
    late = np.arange(3000) >= 1600
    frame["label"] = (rng.random(3000) < np.where(late, 0.7 * frame["p"], frame["p"])).astype(int)
    path = tmp_path_factory.mktemp("watching") / "log.parquet"
    frame.to_parquet(path)
    return path, frame


def told(*arguments):
    result = CliRunner().invoke(group, [str(one) for one in arguments])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_column_of_risks_is_watched_as_the_risk_of_the_event(log):
    path, frame = log
    found = told("monitor", path, "--risk", "p", "--time", "when", "--json")
    own = cb.monitor(cb.evaluate(frame, probabilities="p", time="when")).to_dict()
    assert found["overall"]["curve"].keys() == own["overall"]["curve"].keys()
    assert found["overall"]["curve"]["log_evidence"] == pytest.approx(
        own["overall"]["curve"]["log_evidence"]
    )
    assert found["overall"]["advice"]["reason"] == own["overall"]["advice"]["reason"]


def test_two_models_of_an_event_are_compared_by_the_same_scores(log):
    path, frame = log
    found = told("compare", path, "--risk", "p", "--risk", "q", "--json")
    own = cb.metrics.compare(frame["label"], {"p": frame["p"], "q": frame["q"]}).to_dict()
    assert found["rows"] == own["rows"]
