"""Tests of the section on later rows without labels."""

import json

import numpy as np
import pytest
from scipy.special import expit

import calibrant as cb
from calibrant.errors import InputError


def rows(rng, n, mean=0.0, spread=1.0):
    z = rng.normal(mean, spread, n)
    return z, expit(1.5 * z), (rng.random(n) < expit(z)).astype(int)


def test_a_fall_of_the_ranking_is_told_before_labels_come():
    rng = np.random.default_rng(0)
    (_, p, y), (_, new, then) = rows(rng, 3000), rows(rng, 2000, -0.5, 0.5)
    found = cb.report(y, p, new=new, n_resamples=0)
    since = found.to_dict()["since"]
    auroc = since["rows"][0]
    true = cb.metrics.event_auroc(then, new)
    assert auroc["low"] <= true <= auroc["high"] < auroc["before"]
    assert auroc == {
        **cb.estimate_performance(new, reference=(p, y), metric="event_auroc").to_dict(),
        "metric": "AUROC",
        "key": "event_auroc",
    }
    assert "the model is worse: AUROC of about" in since["sentence"]
    assert since["sentence"] in found.to_markdown()
    assert "Since then: later rows without labels" in found.to_html()
    assert json.loads(found.to_json())["since"] == since
    assert "new=new" in found.to_dict()["call"][1]


def test_classes_and_forecasts_have_their_own_metrics_and_nothing_is_said_without_rows():
    rng = np.random.default_rng(0)
    z, p, y = rows(rng, 600)
    P = np.column_stack([1.0 - p, 0.5 * p, 0.5 * p])
    found = cb.report(y, P, new=P, n_resamples=0, n_splits=2).to_dict()
    assert [row["key"] for row in found["since"]["rows"]] == ["accuracy", "log_loss", "brier_score"]
    assert "no better and no worse beyond chance" in found["since"]["sentence"]
    forecast = z, np.full(600, 0.5)
    outcome = z + 0.5 * rng.normal(size=600)
    found = cb.report(outcome, *forecast, new=forecast, n_resamples=0).to_dict()
    assert [row["key"] for row in found["since"]["rows"]] == ["mae", "rmse"]
    assert cb.report(y, p, n_resamples=0, n_splits=2).to_dict()["since"] is None


def test_rows_unlike_any_other_are_not_judged():
    rng = np.random.default_rng(0)
    z, _, _ = rows(rng, 400)
    found = cb.report(z, z, np.full(400, 0.4), new=(z + 9.0, np.full(400, 0.6)), n_resamples=0)
    assert "cannot be told" in found.to_dict()["since"]["sentence"]


def test_weights_and_clusters_are_refused():
    _, p, y = rows(np.random.default_rng(0), 200)
    with pytest.raises(InputError, match=r"new takes rows of equal weight .* got cluster"):
        cb.report(y, p, new=p, cluster=np.arange(200) // 2, n_resamples=0)
