import numpy as np
import pytest

from calibrant.core.folds import dealt
from calibrant.core.groups import clustered
from calibrant.core.predictions import read
from calibrant.errors import InputError


def data(n=100, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return p, (rng.random(n) < p).astype(int)


def test_every_row_goes_to_one_use():
    p, y = data()
    parts = dealt(read(p, y), [0.25, 0.25, 0.5])
    assert [len(rows) for rows, _ in parts] == [25, 25, 50]
    assert sorted(np.concatenate([rows for rows, _ in parts]).tolist()) == list(range(100))


def test_a_repeated_row_may_go_to_both():
    p, y = data(10)
    (a, one), (b, two) = dealt(read(p, y, sample_weight=np.full(10, 10.0)), [0.5, 0.5])
    total = np.bincount(np.concatenate([a, b]), weights=np.concatenate([one, two]))
    assert total.tolist() == [10.0] * 10
    assert one.sum() == 50.0


def test_the_order_of_rows_changes_nothing():
    p, y = data()
    order = np.random.default_rng(1).permutation(100)
    one, other = (
        dealt(read(p, y), [0.3, 0.7])[0][0],
        dealt(read(p[order], y[order]), [0.3, 0.7])[0][0],
    )
    assert sorted(p[one]) == sorted(p[order][other])


def test_clusters_stay_whole():
    p, y = data()
    cluster = np.arange(100) // 4
    (a, _), (b, _) = dealt(clustered(read(p, y), cluster), [0.4, 0.6])
    assert len(set(cluster[a])) == 10
    assert set(cluster[a]).isdisjoint(cluster[b])


def test_too_few():
    with pytest.raises(InputError, match="2 rows cannot be split into 3 parts"):
        dealt(read([0.1, 0.9], [0, 1]), [0.3, 0.3, 0.4])


def test_labels_of_a_model_that_says_one_thing_are_not_dealt_out_by_their_ranks():
    # One draw for all data sets of a size dealt out the same ranks of the labels each time.
    rng = np.random.default_rng(0)
    said = np.arange(10, 0, -1) / 55
    ranks = set()
    for _ in range(20):
        y = rng.choice(10, size=60, p=said)
        rows = dealt(read(np.tile(said, (60, 1)), y, classes=range(10)), [0.5, 0.5])[1][0]
        ranks.add(tuple(np.isin(np.argsort(y, kind="stable"), rows).tolist()))
    assert len(ranks) == 20


def test_the_order_of_classes_changes_nothing():
    rng = np.random.default_rng(0)
    P, y = rng.dirichlet(np.ones(3), 60), rng.integers(0, 3, 60)
    one, other = (dealt(read(Q, z), [0.5, 0.5])[0][0] for Q, z in ((P, y), (P[:, ::-1], 2 - y)))
    np.testing.assert_array_equal(one, other)
