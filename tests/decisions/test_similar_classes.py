import numpy as np

from calibrant.decisions.cells import _quantiles, similar_classes


def test_like_classes_are_together_and_rare_ones_apart():
    rng = np.random.default_rng(0)
    labels = np.concatenate([np.repeat(np.arange(20), 200), [20, 20]])
    score = np.where(labels % 2 == 0, 0.2, 0.7) + 0.05 * rng.random(len(labels))
    found = similar_classes(score, labels, np.ones(len(labels)), 22, 0.9)
    assert found[20] == found[21] == 0
    kinds = [set(found[start:20:2].tolist()) for start in (0, 1)]
    assert kinds[0].isdisjoint(kinds[1])
    assert 0 not in kinds[0] | kinds[1]


def test_with_no_class_large_enough_all_are_rare():
    assert similar_classes(np.ones(4), np.arange(4), np.ones(4), 5, 0.9).tolist() == [0] * 5


def test_a_class_is_described_by_quantiles_of_its_rows():
    assert _quantiles(np.arange(1.0, 11.0), np.ones(10)).tolist() == [5.0, 6.0, 7.0, 8.0, 9.0]
    # Masses 2, 9, 10: five to nine of ten.
    assert _quantiles(np.array([1.0, 2.0, 3.0]), np.array([2.0, 7.0, 1.0])).tolist() == [2.0] * 5
    assert _quantiles(np.array([1.0, 2.0, 3.0]), np.array([5.0, 1.0, 4.0])).tolist() == [
        1.0,
        2.0,
        3.0,
        3.0,
        3.0,
    ]


def test_half_as_many_clusters_as_the_rarest_class_has_rows_for_them():
    """Of 75 classes half of the rows go to the clusters: the rarest class placed has 12, so that
    there are 12 / 2 / 2 of them.
    """
    count = np.array([40] * 8 + [12, 8])
    labels = np.repeat(np.arange(10), count)
    score = labels / 10.0 + 0.001 * np.random.default_rng(0).random(len(labels))
    found = similar_classes(score, labels, np.ones(len(labels)), 75, 0.9)
    assert sorted(set(found[:9].tolist())) == [1, 2, 3]
    assert (found[9:] == 0).all()
    # Nine rows are needed at 90 %, of whatever weight.
    assert similar_classes(score, labels, np.where(labels == 9, 9.0 / 8.0, 1.0), 75, 0.9)[9] > 0
    # Classes that are described alike are one cluster, however many are wanted.
    assert (
        similar_classes(np.zeros(len(labels)), labels, np.ones(len(labels)), 75, 0.9)[:9].tolist()
        == [1] * 9
    )


def test_the_order_of_the_classes_changes_nothing():
    labels = np.repeat(np.arange(8), 20)
    score = np.random.default_rng(1).random(160) + labels % 3
    turned = np.array([3, 1, 4, 0, 5, 7, 2, 6])
    found = similar_classes(score, labels, np.ones(160), 60, 0.9)
    again = similar_classes(score, turned[labels], np.ones(160), 60, 0.9)
    np.testing.assert_array_equal(again[turned], found[:8])


def test_each_class_is_described_by_its_own_rows_in_the_order_of_their_scores():
    """Rows in no order; two classes are of one kind, two of another, and the last of its own: a
    quarter of half of 28 is three clusters.
    """
    rng = np.random.default_rng(2)
    labels = rng.permutation(np.repeat(np.arange(5), 28))
    low = np.array([0.0, 0.0, 1.0, 1.0, 5.0])
    score = low[labels] + 0.1 * rng.random(140)
    found = similar_classes(score, labels, np.ones(140), 25, 0.9)
    assert found[0] == found[1]
    assert found[2] == found[3]
    assert len(set(found[[0, 2, 4]].tolist())) == 3
    assert (found[:5] > 0).all()
    assert (found[5:] == 0).all()
