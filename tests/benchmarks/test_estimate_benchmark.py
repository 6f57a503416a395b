"""The peers' formulas and the shifts of the benchmark of estimates without labels."""

import numpy as np
import pytest
from benchmarks.time.estimate import by_chances, measured, true_metrics
from benchmarks.time.moved_rows import cases
from sklearn.metrics import log_loss, roc_auc_score


def test_expected_metrics_by_hand():
    # Chances .2, .5, .8 at scores .1, .6, .9: right .8, .5, .8.
    found = by_chances(np.array([0.2, 0.5, 0.8]), np.array([0.1, 0.6, 0.9]))
    assert found["accuracy"] == pytest.approx(0.7)
    # Half of each row's own pair counts too: .2 * .4 + .5 * (.8 + .25) + .8 * (1.3 + .1) of 2.25.
    assert found["event_auroc"] == pytest.approx((0.08 + 0.525 + 1.12) / 2.25)


def test_labels_give_the_true_metrics():
    rng = np.random.default_rng(0)
    q = rng.random(500)
    y = (rng.random(500) < q).astype(int)
    found = true_metrics(y, q)
    assert found["event_auroc"] == pytest.approx(roc_auc_score(y, q))
    assert found["log_loss"] == pytest.approx(log_loss(y, q))
    assert found["accuracy"] == pytest.approx(np.mean((q > 0.5) == y))


def test_there_are_enough_shifts_and_one_is_measured():
    listed = cases()
    kinds = [case.kind for case in listed]
    assert len(kinds) >= 20
    assert {"simulated", "tilted", "natural"} == set(kinds)
    found = measured(listed[0], 1)
    assert set(found) == {"accuracy", "event_auroc", "log_loss"}
    assert all(np.abs(one["ours"]).max() < 0.2 for one in found.values())
