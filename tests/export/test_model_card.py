import numpy as np
import pytest

import calibrant as cb
from calibrant.export import model_card

yaml = pytest.importorskip("yaml")


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    p = rng.random(200)
    return cb.report(
        (rng.random(200) < p).astype(int), p, n_splits=2, calibrator=cb.calibrators.Identity()
    )


def test_the_metadata_are_the_reports_numbers(found):
    text = model_card(found, model='a "new": model', dataset="ward 7")
    _, head, body = text.split("---\n", 2)
    (entry,) = yaml.safe_load(head)["model-index"]
    (result,) = entry["results"]
    assert entry["name"] == 'a "new": model'
    assert result["task"]["type"] == "tabular-classification"
    said = {metric["type"]: metric for metric in result["metrics"]}
    for row in found.to_dict()["metrics"]:
        measured = row["after"] or row["before"]
        assert said[row["key"]]["value"] == measured["value"]
        if measured["low"] is not None:
            assert said[row["key"]]["args"] == {"low": measured["low"], "high": measured["high"]}
    assert body.strip() == found.to_markdown().strip()


def test_each_output_of_a_forecast_is_named():
    rng = np.random.default_rng(0)
    found = cb.report(
        rng.normal(size=(60, 2)),
        np.zeros((60, 2)),
        np.ones((60, 2)),
        calibrator=cb.StdScaling(),
        n_splits=2,
    )
    (entry,) = yaml.safe_load(model_card(found, model="m", dataset="d").split("---\n")[1])[
        "model-index"
    ]
    (result,) = entry["results"]
    assert result["task"]["type"] == "tabular-regression"
    assert len({metric["name"] for metric in result["metrics"]}) == len(result["metrics"])


def test_the_hub_reads_it(found):
    hub = pytest.importorskip("huggingface_hub")
    card = hub.ModelCard(
        model_card(found, model="triage", dataset="ward 7", task="text-classification")
    )
    assert {result.task_type for result in card.data.eval_results} == {"text-classification"}
    assert len(card.data.eval_results) == sum(
        (row["after"] or row["before"])["value"] is not None for row in found.to_dict()["metrics"]
    )
