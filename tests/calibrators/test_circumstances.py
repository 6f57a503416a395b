"""Clusters of rows, and class rates at use."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError
from calibrant.metrics import log_loss


def test_copies_told_apart_by_their_cluster_count_as_the_things_they_are():
    """Ten copies of 30 rows: folds by chance see each thing on both sides and believe a map that
    has learned the noise; clusters do not.
    """
    gained = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        p = rng.uniform(0.05, 0.95, 30)
        y = (rng.uniform(size=30) < p).astype(int)
        P, cluster = np.repeat(p, 10) + rng.normal(0, 0.002, 300), np.repeat(np.arange(30), 10)
        order = rng.permutation(300)
        told = cb.AutoCalibrator(max_cost=15.0).fit(
            P[order], np.repeat(y, 10)[order], cluster=cluster[order]
        )
        untold = cb.AutoCalibrator(max_cost=15.0).fit(P[order], np.repeat(y, 10)[order])
        p_new = rng.uniform(0.05, 0.95, 4000)
        y_new = rng.uniform(size=4000) < p_new
        gained.append(
            log_loss(y_new, untold.predict_proba(p_new))
            - log_loss(y_new, told.predict_proba(p_new))
        )
    assert np.mean(gained) > 0.02


def test_cluster_must_name_every_row():
    with pytest.raises(InputError, match="cluster"):
        cb.AutoCalibrator().fit([0.2] * 30, [0, 1] * 15, cluster=[1, 2])


def test_unlabelled_predictions_move_the_class_rates():
    rng = np.random.default_rng(0)
    score = lambda y: rng.normal(np.where(y == 1, 1.0, -1.0), 1.0)  # noqa: E731
    y, y_new = (
        (rng.uniform(size=3000) < 0.5).astype(int),
        (rng.uniform(size=6000) < 0.1).astype(int),
    )
    p, p_new = (1.0 / (1.0 + np.exp(-2.0 * score(labels))) for labels in (y, y_new))
    told = cb.AutoCalibrator(max_cost=15.0).fit(p, y, unlabeled=p_new)
    untold = cb.AutoCalibrator(max_cost=15.0).fit(p, y)
    assert 0.08 < told.shift_.frequencies_[1] < 0.25
    assert untold.shift_ is None
    assert log_loss(y_new, told.predict_proba(p_new)) < 0.8 * log_loss(
        y_new, untold.predict_proba(p_new)
    )


def test_it_is_saved_with_the_rest(tmp_path):
    rng = np.random.default_rng(1)
    p, y = rng.uniform(size=200), rng.integers(0, 2, 200)
    cal = cb.AutoCalibrator(methods=["temperature scaling"]).fit(p, y, unlabeled=p**2)
    cal.save(tmp_path / "one.json")
    np.testing.assert_array_equal(
        cb.load(tmp_path / "one.json").predict_proba(p), cal.predict_proba(p)
    )
