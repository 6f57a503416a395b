import numpy as np
import pytest
from scipy.optimize import linprog

from calibrant._kernels import conformal
from calibrant._kernels.conformal import conditional_limits, order_statistic


def drawn(n, seed=0):
    rng = np.random.default_rng(seed)
    points = np.column_stack([np.ones(n), rng.random((n, 2)) < 0.4, rng.normal(size=n)]).astype(
        float
    )
    return points, rng.random(n) * (1.0 + points[:, 1])


def dual(points, scores, weight, phi, score, level):
    """The new row's variable, of the program of all rows."""
    w = np.append(weight, 1.0)
    bounds = np.column_stack([(level - 1.0) * w, level * w])
    return linprog(
        -np.append(scores, score),
        A_eq=np.vstack([points, phi]).T,
        b_eq=np.zeros(len(phi)),
        bounds=bounds,
    ).x[-1]


@pytest.mark.parametrize("n", [8, 9, 57, 99, 100, 4001])
def test_with_nothing_but_ones_it_is_the_order_statistic(n):
    scores = np.random.default_rng(n).random(n)
    found = conditional_limits(np.ones((n, 1)), scores, np.ones(n), np.ones((3, 1)), 0.9)
    expected = order_statistic(np.sort(scores), np.arange(1.0, n + 1.0), 0.9)
    np.testing.assert_allclose(found, np.full(3, expected), atol=2e-9, rtol=0)
    assert (found >= expected).all()


@pytest.mark.parametrize("u", [None, 0.05, 0.5, 0.95])
def test_it_is_where_the_dual_variable_passes_its_mark(u):
    points, scores = drawn(80)
    weight = np.random.default_rng(1).integers(1, 4, 80).astype(float)
    new = drawn(6, seed=2)[0]
    mark = 0.8 - 1e-6 if u is None else u - 0.2
    limits = conditional_limits(
        points, scores, weight, new, 0.8, None if u is None else np.full(6, u)
    )
    assert np.isfinite(limits).sum() >= 5
    for phi, limit in zip(new, limits, strict=True):
        if np.isfinite(limit):
            assert dual(points, scores, weight, phi, limit - 1e-6, 0.8) <= mark
            assert dual(points, scores, weight, phi, limit + 1e-6, 0.8) >= mark


def test_rows_far_from_the_fit_are_left_out_without_an_effect(monkeypatch):
    points, scores = drawn(3000)
    new = drawn(5, seed=1)[0]
    found = conditional_limits(points, scores, np.ones(3000), new, 0.9)
    monkeypatch.setattr(conformal, "BESIDES", 10_000)
    monkeypatch.setattr(conformal, "FIRST", 10_000)
    np.testing.assert_allclose(
        found, conditional_limits(points, scores, np.ones(3000), new, 0.9), rtol=1e-10
    )


def test_far_from_all_rows_nothing_bounds_a_limit():
    points, scores = drawn(200)
    far = np.array([[1.0, 0.0, 0.0, 1e4], [1.0, 0.0, 0.0, 0.0]])
    assert np.isinf(conditional_limits(points, scores, np.ones(200), far, 0.9)).tolist() == [
        True,
        False,
    ]
    assert (
        conditional_limits(points, scores, np.ones(200), far, 0.9, np.array([0.05, 0.5]))[0]
        == -np.inf
    )


def test_columns_that_depend_on_each_other_change_nothing():
    points, scores = drawn(300)
    twice = np.column_stack([points, points[:, 1], 1.0 - points[:, 1]])
    one = conditional_limits(points, scores, np.ones(300), points[:20], 0.9)
    np.testing.assert_allclose(
        conditional_limits(twice, scores, np.ones(300), twice[:20], 0.9), one, atol=1e-7
    )
