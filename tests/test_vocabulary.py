"""A report says the keys of the metrics."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.core.metric_kinds import Metric


def test_a_report_says_the_keys_of_the_metrics():
    rng = np.random.default_rng(0)
    p = rng.random(200)
    y = (rng.random(200) < p).astype(int)
    offered = (getattr(metrics, name) for name in metrics.__all__)
    by_key = {metric.key: metric for metric in offered if isinstance(metric, Metric)}
    for row in cb.report(y, p, n_resamples=0).to_dict()["metrics"]:
        metric = by_key[row["key"]]
        assert row["name"] == metric.name
        assert row["before"]["value"] == pytest.approx(metric(y, p), rel=1e-12), row["key"]
