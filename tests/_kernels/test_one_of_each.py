import numpy as np

from calibrant._kernels.draws import one_of_each


def test_one_row_of_each_cluster_whatever_their_order():
    rng = np.random.default_rng(0)
    cluster, score = np.append(np.arange(50), rng.integers(0, 50, 250)), rng.random(300)
    loss, weight = (rng.random(300) < 0.2).astype(float), np.ones(300)
    rows = one_of_each(cluster, score, loss, weight, 0)
    assert (cluster[rows] == np.arange(50)).all()
    order = rng.permutation(300)
    again = one_of_each(cluster[order], score[order], loss[order], weight[order], 0)
    assert (score[rows] == score[order][again]).all()


def test_each_row_is_as_likely_as_its_weight():
    cluster, score = np.repeat(np.arange(3000), 2), np.tile([0.1, 0.9], 3000)
    rows = one_of_each(cluster, score, np.zeros(6000), np.tile([1.0, 3.0], 3000), 0)
    assert abs(np.mean(score[rows] == 0.9) - 0.75) < 4 * np.sqrt(0.75 * 0.25 / 3000)
