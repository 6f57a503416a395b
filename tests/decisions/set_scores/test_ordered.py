import numpy as np

from calibrant.decisions.set_scores import Ordered


def test_mass_of_the_interval_before_the_level_and_a_part_of_its_own():
    P = np.array([[0.25, 0.125, 0.5, 0.125]])
    # Level 2 starts; levels 1 and 3 are equal, so the lower one enters, then 0, then 3.
    assert Ordered().of_all(P, np.zeros(1)).tolist() == [[0.625, 0.5, 0.0, 0.875]]
    assert Ordered().of_all(P, np.ones(1)).tolist() == [[0.875, 0.625, 0.5, 1.0]]
    assert Ordered().of_labels(P, np.array([3]), np.array([0.5])).tolist() == [0.9375]


def test_the_lower_of_two_equal_peaks_starts():
    P, u = np.array([[0.5, 0.0, 0.5], [0.25, 0.5, 0.25]]), np.ones(2)
    assert Ordered().of_all(P, u).tolist() == [[0.5, 0.5, 1.0], [0.75, 0.5, 1.0]]


def test_the_last_level_has_the_mass_1_whatever_the_rounding():
    P = np.random.default_rng(3).dirichlet(np.full(7, 0.5), 300)
    assert (Ordered().of_all(P, np.ones(300)).max(axis=1) == 1.0).all()


def test_intervals_are_those_that_grow_level_by_level():
    rng = np.random.default_rng(0)
    for _ in range(200):
        counts = rng.integers(0, 4, rng.integers(2, 9))
        counts[rng.integers(len(counts))] += 1
        p, u = counts / 32.0, rng.integers(0, 5) / 4.0
        place = int(np.argmax(p))
        low, high, held, said = place, place, p[place], {place: u * p[place]}
        while high - low + 1 < len(p):
            below = p[low - 1] if low > 0 else -1.0
            above = p[high + 1] if high + 1 < len(p) else -1.0
            place = low - 1 if below >= above else high + 1
            low, high = min(low, place), max(high, place)
            said[place] = held + u * p[place]
            held += p[place]
        found = Ordered().of_all(p[None], np.array([u]))[0]
        assert found.tolist() == [said[k] for k in range(len(p))]


def test_coverage_of_a_true_law_is_the_limit_itself():
    """A level is within t for a share (t - mass before) / p of the draws: p of these sum to t."""
    P = np.random.default_rng(1).multinomial(64, np.full(6, 1 / 6), 100) / 64.0
    before, after = Ordered().of_all(P, np.zeros(100)), Ordered().of_all(P, np.ones(100))
    assert (after - before == P).all()
    for t in (0.0, 0.125, 0.5, 0.90625, 1.0):
        assert (np.clip(t - before, 0.0, P).sum(axis=1) == t).all()


def test_levels_within_any_limit_have_no_gap():
    rng = np.random.default_rng(2)
    P, u = rng.dirichlet(np.full(7, 0.3), 300), rng.random(300)
    inside = np.zeros(P.shape, dtype=bool)
    for t in np.linspace(0.0, 1.0, 41):
        found = Ordered().within(P, u, np.array([[t]]))
        assert (np.diff(found.astype(int), axis=1, prepend=0) == 1).sum(axis=1).max() <= 1
        assert not (inside & ~found).any()
        inside = found
