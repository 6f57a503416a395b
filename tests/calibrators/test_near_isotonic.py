import numpy as np
import pytest
from scipy.optimize import isotonic_regression, minimize

from calibrant._numerics.isotonic import near_isotonic_path
from calibrant.calibrators import NearIsotonic


def objective(p, z, w, penalty):
    return 0.5 * np.sum(w * (z - p) ** 2) + penalty * np.maximum(-np.diff(p), 0.0).sum()


def expand(starts, value, m):
    return np.repeat(value, np.diff(np.append(starts, m)))


def solve(z, w, penalty):
    """The same optimum from the dual: p = z - D'u / w, a box-constrained quadratic in u in [0,
    penalty].
    """
    m = len(z)
    D = np.eye(m - 1, m) - np.eye(m - 1, m, 1)

    def dual(u):
        r = D.T @ u
        return 0.5 * np.sum(r**2 / w) - u @ (D @ z), D @ (r / w) - D @ z

    u = minimize(
        dual,
        np.zeros(m - 1),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, penalty)] * (m - 1),
        options={"ftol": 1e-16, "gtol": 1e-12},
    ).x
    return z - D.T @ u / w


@pytest.mark.parametrize("seed", range(6))
def test_every_breakpoint_is_the_optimum_of_its_penalty(seed):
    rng = np.random.default_rng(seed)
    m = 15
    z = (rng.random(m) < np.linspace(0.2, 0.8, m)).astype(float) if seed % 2 else rng.random(m)
    w = rng.integers(1, 4, m).astype(float) if seed < 3 else rng.random(m) + 0.2
    for starts, value, _, _ in near_isotonic_path(z, w):
        p = expand(starts, value, m)
        falls = np.flatnonzero(np.diff(p) < -1e-9)
        # Where it still falls, the pull is the penalty itself: it follows from the block's shift.
        moved = np.cumsum(w * (z - p))
        if not len(falls):
            break
        penalty = float(moved[falls[0]])
        np.testing.assert_allclose(moved[falls], penalty, atol=1e-9)
        assert objective(p, z, w, penalty) <= objective(solve(z, w, penalty), z, w, penalty) + 1e-7


def test_the_path_ends_at_the_isotonic_fit():
    rng = np.random.default_rng(0)
    z, w = rng.random(200), rng.random(200) + 0.1
    *_, (starts, value, _, _) = near_isotonic_path(z, w)
    np.testing.assert_allclose(
        expand(starts, value, 200), isotonic_regression(z, weights=w).x, atol=1e-10
    )


def test_perfect_ranking_is_isotonic_and_does_not_crash():
    m = NearIsotonic(prior_weight=0).fit([0.0, 1.0], [0, 1])
    assert m.predict([0.0, 1.0]).tolist() == [0.0, 1.0]


def test_it_may_fall_where_the_data_insist():
    rng = np.random.default_rng(1)
    score = rng.random(2000)
    truth = np.where(score < 0.5, 0.9, 0.1)
    m = NearIsotonic().fit(score, rng.random(2000) < truth)
    p = m.predict([0.25, 0.75])
    assert p[0] > 0.6
    assert p[1] < 0.4


def test_weights_sum_to_one_and_outputs_stay_inside():
    rng = np.random.default_rng(2)
    score = rng.random(400)
    m = NearIsotonic().fit(score, rng.random(400) < score)
    assert m.model_weight_.sum() == pytest.approx(1.0)
    p = m.predict(np.linspace(0, 1, 100))
    assert ((p > 0) & (p < 1)).all()
