"""The caution of rows that are looks at one thing."""

import warnings

import numpy as np
import pytest

import calibrant as cb
from calibrant.calibrators.look_alike import caution_look_alike, neighbours_nearest
from calibrant.core.predictions import read
from calibrant.errors import CalibrationWarning


def looks(n_things, n_looks, seed, n_classes=3):
    rng = np.random.default_rng(seed)
    y = np.repeat(rng.integers(0, n_classes, n_things), n_looks)
    P = np.repeat(rng.dirichlet(np.ones(n_classes), n_things), n_looks, axis=0)
    return rng.dirichlet(np.ones(n_classes), len(y)) * 0.05 + 0.95 * P, y


def test_looks_at_one_thing_are_nearest_and_shuffled_rows_are_not():
    P, y = looks(100, 5, 0)
    found, chance, n = neighbours_nearest(read(P, y))
    assert found > 5.0 * chance
    assert n > 100
    with pytest.warns(CalibrationWarning, match="pass cluster="):
        caution_look_alike(read(P, y))
    order = np.random.default_rng(1).permutation(len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        caution_look_alike(read(P[order], y[order]))


@pytest.mark.parametrize("seed", range(20))
def test_rows_of_their_own_are_not_cautioned_of_sorted_or_not(seed):
    P, y = looks(400, 1, seed, 4)
    order = np.argsort(y, kind="stable")
    caution_look_alike(read(P, y))
    caution_look_alike(read(P[order], y[order]))


@pytest.mark.parametrize("blocks", [1, 5])
def test_rows_sorted_by_their_risk_are_not_cautioned_of(blocks):
    """As rows that are merged by fold and score."""
    rng = np.random.default_rng(3)
    p = np.sort(rng.random((blocks, 2000 // blocks)), axis=1).ravel()
    record = read(p, (rng.random(len(p)) < p).astype(int))
    found, chance, _ = neighbours_nearest(record)
    assert found > 5.0 * chance
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        caution_look_alike(record)


def test_many_classes_in_one_short_block_each_are_cautioned_of():
    P, y = np.full((200, 40), 1 / 40), np.repeat(np.arange(40), 5)
    with pytest.warns(CalibrationWarning, match="each of 40 classes"):
        caution_look_alike(read(P, y))


def test_the_automatic_choice_cautions_unless_told_the_clusters():
    P, y = looks(60, 4, 2)
    with pytest.warns(CalibrationWarning, match="pass cluster="):
        cb.AutoCalibrator(methods=["temperature scaling"]).fit(P, y)
    cb.AutoCalibrator(methods=["temperature scaling"]).fit(
        P, y, cluster=np.repeat(np.arange(60), 4)
    )
