"""Cells: mass and mean kept, exact ends apart, and a fit to them is the fit to the rows."""

import numpy as np
import pytest

import calibrant as cb
from calibrant._kernels.bins import in_cells


def scores(n=20_000, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n) * 3.0
    correct = (rng.uniform(size=n) < 1 / (1 + np.exp(-0.7 * x - 0.2 * np.sin(x)))).astype(float)
    return 1 / (1 + np.exp(-x)), correct, rng.integers(1, 4, n).astype(float)


def test_mass_and_mean_of_each_outcome_are_kept_in_fewer_rows():
    score, correct, weight = scores()
    mean, outcome, mass = in_cells(score, correct, weight)
    assert len(mean) < len(score) / 10
    for value in (0.0, 1.0):
        rows, cells = correct == value, outcome == value
        assert mass[cells].sum() == pytest.approx(weight[rows].sum())
        assert mass[cells] @ mean[cells] == pytest.approx(weight[rows] @ score[rows])


def test_exact_ends_and_their_neighbours_stay_apart():
    score, correct, weight = scores()
    score[:50], score[50:90] = 0.0, 1.0
    inner = score[90:]
    mean, _, _ = in_cells(score, correct, weight)
    assert {0.0, 1.0} <= set(np.unique(mean).round(15))
    kept = np.sort(mean[(mean > 1e-12) & (mean < 1 - 1e-12)])
    assert kept[0] == pytest.approx(inner.min(), rel=1e-14)
    assert kept[-1] == pytest.approx(inner.max(), rel=1e-14)


def test_few_rows_stay_as_they_are():
    score, correct, weight = (a[:900] for a in scores())
    assert in_cells(score, correct, weight)[0] is score


@pytest.mark.parametrize(
    "map",
    [
        cb.Platt(),
        cb.Platt(scale="probability"),
        cb.Beta(),
        cb.maps.QuadraticScaling(),
        cb.maps.Spline(),
    ],
    ids=str,
)
def test_maps_cannot_tell_the_difference(map):
    score, correct, weight = scores()
    whole = map.fit(score, correct, sample_weight=weight).predict(score)
    near = map.fit_checked(*in_cells(score, correct, weight)).predict(score)
    np.testing.assert_allclose(near, whole, atol=2e-4)
    loss = [
        -np.average(np.log(np.where(correct == 1, q, 1 - q)), weights=weight) for q in (whole, near)
    ]
    assert loss[1] == pytest.approx(loss[0], abs=1e-6)
