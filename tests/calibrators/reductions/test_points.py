"""Smaller training sets keep every class; signals on reduced data and the bytes they keep."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.calibrators.reductions import (
    AveragePool,
    ClassCentroids,
    PrincipalComponents,
    RandomFeatures,
    RandomSubset,
)
from calibrant.errors import InputError


@pytest.fixture(scope="module")
def images():
    """Three kinds of 8 x 8 images: 300 with labels, and 40 to score."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 200, (3, 2, 2)).repeat(4, axis=1).repeat(4, axis=2)
    y, y_new = rng.integers(0, 3, 300), rng.integers(0, 3, 40)
    return [
        (np.clip(kinds[k] + rng.normal(0, 25, (len(k), 8, 8)), 0, 255).astype(np.uint8), k)
        for k in (y, y_new)
    ]


@pytest.mark.parametrize("reduction", [RandomSubset, ClassCentroids])
def test_every_class_keeps_its_share(images, reduction):
    X, y = images[0]
    small, labels = reduction(4).reduce(X, y)
    assert np.bincount(labels).tolist() == (np.bincount(y) // 16).tolist()
    assert len(small) == len(labels)
    rare, of = reduction(4).reduce(X[:4], np.array([0, 1, 1, 2]))
    assert of.tolist() == [0, 1, 2]
    assert len(rare) == 3
    again, _ = reduction(4).reduce(X, y)
    assert (again == small).all()


def test_subset_rows_are_rows(images):
    X, y = images[0]
    small, labels = RandomSubset(2).reduce(X, y)
    for row, label in zip(small[:5], labels[:5], strict=True):
        assert label in y[(row == X).all(axis=(1, 2))]


@pytest.mark.parametrize(
    "options",
    [
        {"features": AveragePool(2)},
        {"features": PrincipalComponents(2)},
        {"features": RandomFeatures(2)},
        {"points": RandomSubset(2)},
        {"points": ClassCentroids(2)},
    ],
)
def test_signals_on_reduced_data_ship_fewer_bytes_and_still_tell(images, options, tmp_path):
    (X, y), (X_new, y_new) = images
    right = np.concatenate([y_new, (y_new + 1) % 3])
    P, X_new = np.eye(3)[right], np.concatenate([X_new, X_new])
    whole = cb.calibrators.FastSeparation().fit(P, right, X=X_new, reference=(X, y))
    small = cb.calibrators.FastSeparation(**options).fit(P, right, X=X_new, reference=(X, y))
    assert small.nbytes_ < 0.8 * whole.nbytes_
    score = small.score(P, X=X_new)
    assert np.corrcoef(score, whole.score(P, X=X_new))[0, 1] > 0.8
    assert score[:40].mean() > 0.0 > score[40:].mean()
    if not isinstance(options.get("features"), AveragePool):
        assert (cb.load(small.save(tmp_path / "s.calibrant")).score(P, X=X_new) == score).all()


@pytest.mark.parametrize("reduction", [RandomSubset, ClassCentroids])
def test_bad_step(reduction):
    with pytest.raises(InputError, match="t must"):
        reduction(0).reduce(np.zeros((3, 4)), [0, 1, 1])
