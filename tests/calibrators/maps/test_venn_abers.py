import time

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from calibrant.calibrators import VennAbers
from calibrant.errors import InputError


def brute_force(score, correct, weight, new):
    """p0 and p1 by adding the new row to the data and refitting."""
    out = []
    for label in (0.0, 1.0):
        s, c, w = np.append(score, new), np.append(correct, label), np.append(weight, 1.0)
        unique, inverse = np.unique(s, return_inverse=True)
        mass = np.bincount(inverse, weights=w)
        fit = isotonic_regression(np.bincount(inverse, weights=w * c) / mass, weights=mass).x
        out.append(fit[np.searchsorted(unique, new)])
    return out


def problems():
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 7, 40, 200):
        for levels in (3, 1000):
            score = rng.integers(0, levels, n) / levels
            yield score, (rng.random(n) < score).astype(float), rng.integers(1, 4, n).astype(float)
            yield score, (rng.random(n) < 0.5).astype(float), rng.random(n) + 0.1
            yield score, np.ones(n), np.ones(n)
            yield score, np.zeros(n), np.ones(n)
            yield -score, (score > 0.5).astype(float), np.ones(n)


def test_agrees_with_refitting_at_every_place():
    for score, correct, weight in problems():
        m = VennAbers().fit(score, correct, sample_weight=weight)
        unique = np.unique(score)
        places = np.concatenate(
            [unique, unique[:-1] + 0.5 * np.diff(unique), [unique[0] - 1, unique[-1] + 1]]
        )
        p0, p1 = m.predict_interval(places)
        truth = np.array([brute_force(score, correct, weight, s) for s in places])
        np.testing.assert_allclose(np.column_stack([p0, p1]), truth, atol=1e-12)


@pytest.mark.parametrize(
    "m",
    [
        VennAbers(),
        VennAbers(objective="brier"),
        VennAbers(n_splits=4),
        VennAbers(objective="brier", n_splits=3),
    ],
)
def test_prediction_lies_between_p0_and_p1(m):
    for score, correct, weight in problems():
        p0, p1 = m.fit(score, correct, sample_weight=weight).predict_interval(score)
        p = m.predict(score)
        assert (p0 <= p + 1e-15).all()
        assert (p <= p1 + 1e-15).all()
        assert ((p > 0) & (p < 1)).all()


def test_point_values_are_minimax():
    m = VennAbers().fit([0.1, 0.2, 0.3, 0.4, 0.5], [0, 1, 0, 0, 1])
    p0, p1 = m.predict_interval([0.25, 0.45])
    p = m.predict([0.25, 0.45])
    np.testing.assert_allclose(np.log(p1 / p), np.log((1 - p0) / (1 - p)), atol=1e-12)
    q = m.set_params(objective="brier").predict([0.25, 0.45])
    np.testing.assert_allclose((1 - q) ** 2 - (1 - p1) ** 2, q**2 - p0**2, atol=1e-12)


def test_golden_values():
    """Pooled by hand: outcomes 0 1 0 0 1 at .1 to .5, and a 0 or a 1 put in at each place."""
    m = VennAbers().fit([0.1, 0.2, 0.3, 0.4, 0.5], [0, 1, 0, 0, 1])
    p0, p1 = m.predict_interval([0.05, 0.2, 0.35, 0.6])
    np.testing.assert_allclose(p0, [0, 0.25, 0.25, 0.5], atol=1e-12)
    np.testing.assert_allclose(p1, [0.4, 0.5, 0.5, 1.0], atol=1e-12)


def test_cross_version_is_the_geometric_pool_of_its_parts():
    rng = np.random.default_rng(1)
    score = rng.random(60)
    correct = (rng.random(60) < score).astype(float)
    order = np.argsort(score)
    parts = [
        VennAbers().fit(score[order[k::3]], correct[order[k::3]]).predict_interval([0.4, 0.7])
        for k in range(3)
    ]
    yes = np.prod([p1 for _, p1 in parts], axis=0) ** (1 / 3)
    no = np.prod([1 - p0 for p0, _ in parts], axis=0) ** (1 / 3)
    np.testing.assert_allclose(
        VennAbers(n_splits=3).fit(score, correct).predict([0.4, 0.7]), yes / (yes + no), rtol=1e-12
    )


def test_one_of_the_pair_is_calibrated_and_the_width_shrinks_with_n():
    rng = np.random.default_rng(2)
    width = []
    for n in (100, 1600):
        score = rng.random(n)
        p0, p1 = (
            VennAbers()
            .fit(score, rng.random(n) < score)
            .predict_interval(np.linspace(0.1, 0.9, 50))
        )
        width.append((p1 - p0).mean())
    assert width[1] < 0.5 * width[0]


def test_prediction_is_a_look_up():
    """Ten times the calibration rows cost a prediction far less than ten times the time."""
    rng = np.random.default_rng(3)
    new = rng.random(20_000)
    spent = []
    for n in (2_000, 20_000):
        score = rng.random(n)
        m = VennAbers().fit(score, rng.random(n) < score)
        m.predict(new)
        runs = []
        for _ in range(5):
            start = time.process_time()
            m.predict(new)
            runs.append(time.process_time() - start)
        spent.append(min(runs))
    assert spent[1] < 4 * spent[0] + 1e-3


@pytest.mark.parametrize("options", [{"objective": "nll"}, {"n_splits": 1}])
def test_unknown_options_are_refused(options):
    with pytest.raises(InputError, match=next(iter(options))):
        VennAbers(**options).fit([0.1, 0.2], [0, 1])
