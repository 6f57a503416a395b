import numpy as np
import pytest

from calibrant._kernels.bootstrap import draw_shared_hits, hit_drawer, score_drawer, shared_share


def clusters(n_clusters=2000, size=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(0.05, 0.95, n_clusters * size), np.repeat(np.arange(n_clusters), size), rng


def test_the_share_is_that_of_the_pairs_by_hand():
    score, hit, cluster = (
        np.array([0.2, 0.5, 0.9, 0.4]),
        np.array([0.0, 1.0, 1.0, 0.0]),
        np.array([0, 1, 1, 0]),
    )
    seen = 2.0 * ((-0.2) * (-0.4) + 0.5 * 0.1)
    most = 2.0 * ((0.2 - 0.2 * 0.4) + (0.5 - 0.5 * 0.9))
    assert shared_share(score, hit, cluster) == pytest.approx(seen / most)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_drawn_outcomes_have_the_share_and_the_probabilities_asked_for(share):
    score, cluster, rng = clusters()
    hits = draw_shared_hits(score, cluster, share, 20, rng)
    assert np.mean([shared_share(score, hit, cluster) for hit in hits]) == pytest.approx(
        share, abs=0.02
    )
    assert hits.mean() == pytest.approx(score.mean(), abs=0.01)
    low = score < 0.2
    assert hits[:, low].mean() == pytest.approx(score[low].mean(), abs=0.01)


def test_rows_of_their_own_clusters_share_nothing():
    score, _, rng = clusters()
    assert shared_share(score, (rng.random(len(score)) < score) * 1.0, np.arange(len(score))) == 0.0


def test_a_weight_is_so_many_rows_of_the_cluster():
    score, cluster, rng = clusters(n_clusters=500)
    hit = (rng.random(500)[cluster] < score) * 1.0
    draw = hit_drawer(score, hit, np.full(len(score), 2.0), cluster)
    drawn = np.array([draw(rng) for _ in range(20)])
    assert set(np.unique(drawn)) <= {0.0, 0.5, 1.0}
    assert drawn.mean() == pytest.approx(score.mean(), abs=0.01)


@pytest.mark.parametrize("alike", [0.0, 0.6])
def test_drawn_scores_are_as_alike_as_those_seen(alike):
    _, cluster, rng = clusters()
    own, common = rng.standard_normal((2, len(cluster)))
    seen = np.sqrt(1.0 - alike) * own + np.sqrt(alike) * common[cluster]
    draw = score_drawer(seen, cluster)
    drawn = draw(rng)
    assert drawn.std() == pytest.approx(1.0, abs=0.03)
    first, second = drawn.reshape(-1, 4)[:, :2].T
    assert np.corrcoef(first, second)[0, 1] == pytest.approx(alike, abs=0.06)


def test_scores_that_do_not_vary_or_are_alone_are_drawn_apart():
    for score, cluster in (
        (np.zeros(4), np.array([0, 0, 1, 1])),
        (np.array([1.0, -2.0, 0.5]), np.arange(3)),
    ):
        again = np.random.default_rng(0).standard_normal(len(score))
        assert score_drawer(score, cluster)(np.random.default_rng(0)).tolist() == again.tolist()
    assert (
        score_drawer(np.ones(3), None)(np.random.default_rng(0)).tolist()
        == np.random.default_rng(0).standard_normal(3).tolist()
    )


def test_the_likeness_of_scores_by_hand():
    """Scores of 1, 2, 4, -3 about their mean of 1; pairs 0 x 1 and 3 x -4, twice each, over two
    pairs twice, against 26 / 4.
    """
    score, cluster, rng = (
        np.array([1.0, 2.0, 4.0, -3.0]),
        np.array([0, 0, 1, 1]),
        np.random.default_rng(1),
    )
    assert (
        score_drawer(score, cluster)(rng).tolist()
        == np.random.default_rng(1).standard_normal(4).tolist()
    )
    score = np.array([1.0, 2.0, 4.0, 3.0])
    # About 2.5: -1.5 x -.5 and 1.5 x .5, over 5 / 4.
    alike, rng = 0.75 / 1.25, np.random.default_rng(1)
    expected = (
        np.sqrt(1.0 - alike) * rng.standard_normal(4)
        + np.sqrt(alike) * rng.standard_normal(2)[cluster]
    )
    np.testing.assert_allclose(
        score_drawer(score, cluster)(np.random.default_rng(1)), expected, rtol=1e-12
    )
    # Scores beyond 40 count as 40.
    far, near = (
        score_drawer(np.array([end, end, 0.0, 1.0]), cluster)(np.random.default_rng(2)).tolist()
        for end in (90.0, 40.0)
    )
    assert far == near
