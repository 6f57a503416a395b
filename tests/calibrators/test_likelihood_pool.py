"""The base of wrappers: right on the whole, as simple as few rows ask, as bent as many show."""

import numpy as np
import pytest

import calibrant as cb


def problem(n, seed=0, shift=0.0, bend=0.0):
    """(risks, outcomes, truth) with log-odds that are moved and bent."""
    rng = np.random.default_rng(seed)
    z = rng.normal(0.0, 1.5, n)
    truth = 1.0 / (1.0 + np.exp(-z - shift - bend * np.sin(2.0 * z)))
    return 1.0 / (1.0 + np.exp(-z)), (rng.random(n) < truth).astype(int), truth


def loss(q, y):
    return -np.log(np.where(y == 1, q, 1.0 - q)).mean()


@pytest.mark.parametrize("n", [100, 3000])
@pytest.mark.parametrize(("shift", "bend"), [(-2.0, 0.0), (1.0, 1.0)])
def test_the_mean_of_its_risks_is_the_rate(n, shift, bend):
    p, y, _ = problem(n, 3, shift, bend)
    risks = cb.calibrators.LikelihoodPool().fit(p, y).predict_proba(p)[:, 1]
    # Platt's smoothed targets count one event and one row without it more.
    assert abs(risks.mean() - y.mean()) < 1.0 / n


def test_few_rows_are_given_the_simplest_map_and_many_the_one_that_bends():
    few = cb.calibrators.LikelihoodPool().fit(*problem(80, 1, -1.0)[:2])
    named = dict(zip((type(one).__name__ for one in few.maps_), few.weights_, strict=True))
    # Of 80 rows without a bend the spline is a straight line: it is Platt scaling by another name.
    assert named["Platt"] + named["Spline"] > 0.6
    many = cb.calibrators.LikelihoodPool().fit(*problem(6000, 1, bend=1.0)[:2])
    assert [type(one).__name__ for one in many.maps_] == ["Spline"]
    assert (
        many.explain()
        == "Every row is calibrated by an average, weighted by likelihood: spline 1.00."
    )


def test_it_is_near_the_best_of_its_members():
    members = [
        cb.OneVsRest(one)
        for one in (
            cb.Platt(),
            cb.calibrators.Beta(),
            cb.calibrators.QuadraticScaling(),
            cb.calibrators.Spline(),
        )
    ]
    behind = []
    for seed in range(6):
        p, y, truth = problem(1000, seed, -1.0, 0.3)
        q = cb.calibrators.LikelihoodPool().fit(p, y).predict_proba(p)[:, 1]
        of_members = [member.fit(p, y).predict_proba(p)[:, 1] for member in members]
        new = np.random.default_rng(100 + seed).random(1000) < truth
        behind.append(loss(q, new) - min(loss(one, new) for one in of_members))
    assert np.mean(behind) < 0.003


def test_weights_are_those_of_the_criterion():
    p, y, _ = problem(500, 4, 0.5)
    cal = cb.calibrators.LikelihoodPool(keep_order=True).fit(p, y)
    maps = [
        one.fit(p, y)
        for one in (cb.Platt(), cb.calibrators.Beta(), cb.calibrators.QuadraticScaling())
    ]
    criterion = np.array(
        [
            500 * loss(one.predict(p), y) + 0.5 * k * np.log(500)
            for one, k in zip(maps, (2, 3, 3), strict=True)
        ]
    )
    expected = np.exp(criterion.min() - criterion)
    np.testing.assert_allclose(cal.weights_, expected / expected.sum(), rtol=1e-9)
    q = np.sum([w * one.predict([0.3]) for w, one in zip(cal.weights_, maps, strict=True)])
    np.testing.assert_allclose(cal.predict_proba([0.3])[0, 1], q)


def test_the_order_is_kept_where_asked():
    rng = np.random.default_rng(0)
    p = rng.random(3000)
    y = (rng.random(3000) < 0.5 + 0.4 * np.sin(6.0 * p)).astype(int)
    grid = np.linspace(0.01, 0.99, 99)
    assert (
        np.diff(cb.calibrators.LikelihoodPool(keep_order=True).fit(p, y).predict_proba(grid)[:, 1])
        >= 0.0
    ).all()
    assert (
        np.diff(cb.calibrators.LikelihoodPool().fit(p, y).predict_proba(grid)[:, 1]) < 0.0
    ).any()


def test_three_classes_have_an_offset_each():
    rng = np.random.default_rng(0)
    P = rng.dirichlet([1.0, 1.0, 1.0], 4000)
    odds = P * [3.0, 1.0, 0.5]
    y = (rng.random((4000, 1)) > (odds / odds.sum(axis=1, keepdims=True)).cumsum(axis=1)).sum(
        axis=1
    )
    cal = cb.calibrators.LikelihoodPool().fit(P, y)
    np.testing.assert_allclose(cal.predict_proba(P).mean(axis=0), np.bincount(y) / 4000, atol=0.005)
    assert "structured vector scaling" in cal.explain()
