import numpy as np

from calibrant.decisions.similar_classes import similar_classes


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
