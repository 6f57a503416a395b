from dataclasses import replace

import numpy as np
import pytest

from calibrant import metrics
from calibrant._numerics.smoothing import loess_matrix, pooled_scores, score_grid, weighted_quantile
from calibrant.core.groups import in_order
from calibrant.core.predictions import read
from calibrant.errors import InputError

RNG = np.random.default_rng(0)
P = RNG.random(400)
Y = (RNG.random(400) < P).astype(int)


def loess_at(x, y, at, span=0.75):
    """One local quadratic fit, written out."""
    distance = np.abs(x - at)
    width = np.sort(distance)[int(span * len(x)) - 1]
    kernel = np.maximum(1 - (distance / width) ** 3, 0) ** 3
    design = np.vander(x - at, 3, increasing=True)
    root = np.sqrt(kernel)
    return np.linalg.lstsq(design * root[:, None], y * root, rcond=None)[0][0]


def test_the_smoother_is_a_local_quadratic_fit():
    x = np.sort(P)
    hits = Y[np.argsort(P)].astype(float)
    grid = np.array([0.1, 0.5, 0.93])
    got = loess_matrix(x, np.ones(400), grid, 0.75) @ hits
    assert got == pytest.approx([loess_at(x, hits, t) for t in grid], abs=1e-9)


def test_mean_median_and_tail_are_in_order():
    y = (RNG.random(400) < P**2).astype(int)
    e50, e90 = metrics.calibration_e50(y, P), metrics.calibration_e90(y, P)
    assert e50 <= e90 <= metrics.integrated_calibration_index(y, P, quantile=1.0)
    curve = np.array([loess_at(P, y.astype(float), t) for t in P])
    assert metrics.integrated_calibration_index(y, P) == pytest.approx(
        np.mean(np.abs(curve - P)), abs=1e-9
    )
    assert e90 == pytest.approx(np.quantile(np.abs(curve - P), 0.9), abs=5e-3)


def test_weights_count_in_the_quantile():
    values, mass = np.array([3.0, 1.0, 2.0]), np.array([1.0, 2.0, 1.0])
    assert [weighted_quantile(values, mass, q) for q in (0.0, 0.5, 0.51, 0.75, 0.76, 1.0)] == [
        1.0,
        1.0,
        2.0,
        2.0,
        3.0,
        3.0,
    ]


def test_many_scores_are_pooled_with_little_change():
    rng = np.random.default_rng(1)
    p = rng.random(12_000)
    y = (rng.random(12_000) < p**1.5).astype(int)
    fine, coarse = (
        metrics.integrated_calibration_index(y, p),
        metrics.integrated_calibration_index(y, np.round(p, 3)),
    )
    assert fine == pytest.approx(coarse, abs=1e-3)


def test_many_scores_are_within_a_thousandth_of_every_score():
    p = np.random.default_rng(3).beta(0.4, 4, 3000)
    y = (np.random.default_rng(4).random(3000) < p**0.8).astype(int)
    exact = np.abs(np.array([loess_at(p, y, t) for t in p[:600]]) - p[:600])
    x, mass, index = pooled_scores(p, np.ones(3000))
    grid = score_grid(x, mass, 500)
    curve = np.interp(
        p[:600], grid, loess_matrix(x, mass, grid, 0.75) @ (np.bincount(index, weights=y) / mass)
    )
    assert np.abs(curve - p[:600]) == pytest.approx(exact, abs=1e-3)
    assert metrics.integrated_calibration_index(y, p) == pytest.approx(exact.mean(), abs=2e-3)


def test_what_calibrated_scores_show():
    record = read(P, Y)
    found = metrics.integrated_calibration_index.null_of(record, n_draws=100)
    drawn = [
        metrics.integrated_calibration_index(
            (np.random.default_rng([9, k]).random(400) < P).astype(int), P
        )
        for k in range(60)
    ]
    assert found.value == pytest.approx(np.mean(drawn), abs=0.004)
    assert 0.0 < found.low < found.value < found.high
    assert found == metrics.integrated_calibration_index.null_of(record, n_draws=100)
    assert (
        metrics.integrated_calibration_index((RNG.random(400) < P**2).astype(int), P) > found.high
    )


def test_the_spline_may_smooth():
    y = (RNG.random(400) < P**2).astype(int)
    loess, spline = (
        metrics.integrated_calibration_index(y, P, smoother=smoother)
        for smoother in ("loess", "spline")
    )
    assert spline == pytest.approx(loess, abs=0.01)
    curve = metrics.spline_curve(y, P, n_draws=20, n_points=200)
    assert spline == pytest.approx(
        np.mean(np.abs(np.interp(P, curve.score, curve.observed) - P)), abs=1e-3
    )


@pytest.mark.parametrize("options", [{"quantile": 2.0}, {"span": 0.0}, {"smoother": "lowess"}])
def test_refusals(options):
    with pytest.raises(InputError, match="must be"):
        metrics.integrated_calibration_index(Y, P, **options)


@pytest.mark.parametrize("scores", [np.linspace(0.0, 1.0, 101), np.array([0.0, 1.0])])
def test_outcomes_drawn_by_score_have_the_law_of_those_drawn_by_row(scores):
    rng = np.random.default_rng(0)
    p = rng.choice(scores, 4_000)
    y = (rng.random(4_000) < p).astype(int)
    y[0], p[0] = 1, 1.0
    index = metrics.integrated_calibration_index
    by_score = index.null_of(read(p, y), n_draws=2_000)
    # Weights that sum to the rows, but are not all 1, are drawn by row.
    by_row = index.null_of(read(p, y, sample_weight=np.ones(4_000) * (1.0 + 1e-12)), n_draws=2_000)
    of_score = np.array([by_score.value, by_score.low, by_score.high])
    of_row = np.array([by_row.value, by_row.low, by_row.high])
    np.testing.assert_allclose(of_score, of_row, rtol=0.06, atol=1e-9)
    assert of_score[0] > 0.0 or len(scores) == 2


@pytest.mark.parametrize("options", [{}, {"quantile": 0.9}, {"smoother": "spline"}])
def test_draws_smoothed_together_are_those_smoothed_alone(options):
    rng = np.random.default_rng(9)
    score, weight = np.round(rng.random(300), 2), rng.random(300)
    value = replace(metrics.integrated_calibration_index, **options)._prepared(score, weight)
    draws = [(rng.random(300) < score) * 1.0 for _ in range(70)]
    assert value.each(iter(draws)) == pytest.approx([value(hit) for hit in draws], abs=1e-14)
    assert value.each([]) == []


def test_an_ordered_record_has_the_smoother_of_its_rows():
    rng = np.random.default_rng(10)
    record = read(rng.random(400), rng.integers(0, 2, 400))
    metric = metrics.integrated_calibration_index
    smoother = metric._smoothed_of(record)[3]
    assert metric._smoothed_of(in_order(record))[3] is smoother
    assert metric._smoothed_of(record.take(np.arange(300)))[3] is not smoother
