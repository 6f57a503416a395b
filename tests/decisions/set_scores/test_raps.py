import numpy as np

from calibrant.decisions.set_scores import PENALTIES, Aps, Raps, best_raps


def test_ranks_beyond_the_free_ones_cost():
    P, u = np.array([[0.5, 0.125, 0.375]]), np.array([1.0])
    assert Raps(0.25, 1).of_all(P, u).tolist() == [[0.5, 1.5, 1.125]]
    assert Raps(0.25, 1).of_labels(P, np.array([1]), u).tolist() == [1.5]
    assert Raps(0.25, 1).within(P, u, np.array([[1.2]])).tolist() == [[True, False, True]]
    assert Raps(0.25, 1).span(3) == (0.0, 1.5)


def test_no_penalty_is_aps():
    P, u = np.random.default_rng(0).dirichlet(np.ones(5), 30), np.random.default_rng(1).random(30)
    assert (Raps(0.0, 2).of_all(P, u) == Aps().of_all(P, u)).all()


def test_the_quick_way_to_a_set_is_the_slow_one():
    rng = np.random.default_rng(0)
    for _ in range(50):
        counts = rng.integers(0, 4, (20, 6)) + 0.01
        P, u = counts / counts.sum(axis=1, keepdims=True), rng.random(20)
        score = Raps(0.1, 2)
        for limit in (0.3, 1.1, rng.random() * 1.4, score.of_all(P, u)[3, 1]):
            assert (score.within(P, u, np.array([[limit]])) == (score.of_all(P, u) <= limit)).all()


def test_a_long_noisy_tail_is_penalised():
    """Half of the rows are sure and at times wrong; the others spread their mass, and have the
    answer first all the same.
    """
    rng = np.random.default_rng(2)
    y, spread = rng.integers(0, 100, 1000), np.arange(1000) < 500
    P = rng.dirichlet(np.ones(100), 1000) * np.where(spread, 0.8, 0.05)[:, None]
    said = np.where(~spread & (rng.random(1000) < 0.25), (y + 1) % 100, y)
    P[np.arange(1000), said] += np.where(spread, 0.2, 0.95)
    found = best_raps(P, y, np.ones(1000), rng.random(1000), 0.8)
    assert found.penalty > 0.0
    assert found.free == 1


def test_the_smallest_mean_set_of_all_that_are_tried():
    """Every penalty and number of free ranks, by the scores of all classes; the first of equals."""
    rng, chosen = np.random.default_rng(3), set()
    for tail in (0.02, 0.1, 0.3, 1.0) * 4:
        y, u, weight = rng.integers(0, 12, 80), rng.random(80), rng.integers(1, 4, 80).astype(float)
        P = (
            tail * rng.dirichlet(np.full(12, 0.5), 80)
            + 0.1 * np.eye(12)[np.where(rng.random(80) < 0.7, y, (y + 1) % 12)]
        )
        P /= P.sum(axis=1, keepdims=True)
        rank = (P[np.arange(80), y][:, None] <= P).sum(axis=1)
        usual = min(k for k in range(13) if weight @ (rank <= k) >= 0.8 * weight.sum() - 1e-9)
        sizes = {}
        for penalty in PENALTIES:
            for free in sorted({1, 2, 5, usual})[: None if penalty else 1]:
                score = Raps(penalty, free)
                own = np.repeat(score.of_labels(P, y, u), weight.astype(int))
                limit = np.sort(own)[int(np.ceil(0.8 * (len(own) + 1))) - 1]
                sizes[penalty, free] = weight @ (score.of_all(P, u) <= limit).sum(axis=1)
        found = best_raps(P, y, weight, u, 0.8)
        assert sizes[found.penalty, found.free] == min(sizes.values())
        chosen.add((found.penalty, found.free))
    assert len(chosen) > 4
