"""Factors of the classes, shrunk towards the model's own rates."""

import numpy as np
import pytest

from calibrant.calibrators.temperature import ClassOffsets


def _rows(n=4_000, offset=-1.5, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.normal(-2.0, 1.0, n)
    y = (rng.random(n) < 1.0 / (1.0 + np.exp(-z))).astype(int)
    p = 1.0 / (1.0 + np.exp(-(z - offset)))
    return np.column_stack([1.0 - p, p]), y


def test_many_rows_find_the_offset():
    P, y = _rows()
    cal = ClassOffsets().fit(P, y)
    assert np.log(cal.factors_[1] / cal.factors_[0]) == pytest.approx(-1.5, abs=0.15)
    assert cal.predict_proba(P)[:, 1].mean() == pytest.approx(y.mean(), rel=0.01)


def test_a_class_without_rows_keeps_a_part_of_what_the_model_expects():
    P = np.array([[0.99, 0.01], [0.97, 0.03]] * 50)
    Q = ClassOffsets().fit(P, np.zeros(100, dtype=int)).predict_proba(P)
    # Two rows were expected: the factor is about one third.
    assert Q[:, 1].mean() == pytest.approx(0.02 / 3.0, rel=0.02)
    assert (Q[1::2, 1] > Q[::2, 1]).all()


def test_the_shrunk_rates_are_met_for_any_number_of_classes():
    rng = np.random.default_rng(1)
    P = rng.dirichlet([5.0, 0.5, 0.1, 0.01], 300)
    y = np.where(rng.random(300) < 0.05, 1, 0)
    Q = ClassOffsets().fit(P, y, sample_weight=np.full(300, 2.0)).predict_proba(P)
    mean = P.mean(axis=0)
    target = mean * (2.0 * np.bincount(y, minlength=4) + 1.0) / (600.0 * mean + 1.0)
    np.testing.assert_allclose(Q.mean(axis=0), target / target.sum(), rtol=1e-8)


def test_zeros_and_ones_of_the_model_stay():
    P = [[1.0, 0.0], [0.6, 0.4], [1.0, 0.0]]
    Q = ClassOffsets().fit(P, [0, 1, 0]).predict_proba(P)
    assert Q[0].tolist() == [1.0, 0.0]
    assert Q[1, 1] > 0.4
