"""H30: out-of-fold rows of several maps were pooled in one ranking, so that increasing maps, which
change no ranking, were called worse.
"""

import numpy as np
import pytest

import calibrant as cb


def drawn(seed, n=400, slope=2.0):
    """(y, p): outcomes, and overconfident risks of them."""
    rng = np.random.default_rng(seed)
    z = rng.normal(-1.0, 1.3, n)
    return (rng.random(n) < 1 / (1 + np.exp(-z))).astype(int), 1 / (1 + np.exp(-slope * z))


def scores_of(result):
    return {row["key"]: row for row in result.to_dict()["metrics"]}


@pytest.mark.parametrize("target", [1, "answer"])
def test_an_increasing_map_changes_no_ranking(target):
    y, p = drawn(0)
    options = {"calibrator": cb.OneVsRest(cb.Platt()), "n_resamples": 100}
    if target == "answer":
        # Three classes of which one map of the confidence keeps the order.
        rng = np.random.default_rng(1)
        honest = rng.dirichlet(np.ones(3), 400)
        y = (rng.random(400)[:, None] > honest.cumsum(axis=1)).sum(axis=1)
        p = honest**2 / (honest**2).sum(axis=1, keepdims=True)
        options["calibrator"] = cb.ConfidenceCalibrator(map=cb.Platt())
    scores = scores_of(cb.report(y, p, target=target, **options))
    keys = ("event_auroc",) if target == 1 else ("confidence_auroc", "aurc")
    for key in keys:
        row = scores[key]
        assert row["change"]["value"] == pytest.approx(0.0, abs=1e-12)
        assert row["change"]["meaning"] == "no clear change"
        assert row["after"]["value"] == pytest.approx(row["before"]["value"], abs=1e-12)


def test_with_weights_and_clusters_neither():
    y, p = drawn(4)
    cluster = np.arange(400) // 4
    options = {"calibrator": cb.OneVsRest(cb.Platt()), "n_resamples": 100}
    weighted = cb.report(y, p, sample_weight=1.0 + np.arange(400) % 3, **options)
    for made in (weighted, cb.report(y, p, cluster=cluster, **options)):
        row = scores_of(made)["event_auroc"]
        assert row["change"]["value"] == pytest.approx(0.0, abs=1e-12)
        assert row["change"]["meaning"] == "no clear change"
