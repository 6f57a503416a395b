"""ENCE: bins of equal count, its null, and the sketch."""

import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import InputError

ence = metrics.expected_normalized_calibration_error


def _perfect(n, seed=0, shape=1.0):
    rng = np.random.default_rng(seed)
    std = np.exp(shape * rng.normal(size=n))
    return std * rng.normal(size=n), np.zeros(n), std


def _by_hand(y, mean, std, n_bins):
    parts = np.array_split(np.argsort(std), n_bins)
    rmv = np.array([np.sqrt(np.mean(std[p] ** 2)) for p in parts])
    rmse = np.array([np.sqrt(np.mean((y - mean)[p] ** 2)) for p in parts])
    return np.mean(np.abs(rmv - rmse) / rmv)


@pytest.mark.parametrize("n_bins", [1, 4, 10])
def test_it_is_the_formula(n_bins):
    y, mean, std = _perfect(600)
    assert ence(y, mean, std, n_bins=n_bins) == pytest.approx(
        _by_hand(y, mean, std, n_bins), rel=1e-12
    )


def test_bins_keep_thirty_rows():
    y, mean, std = _perfect(95)
    assert ence(y, mean, std) == ence(y, mean, std, n_bins=3)


def test_the_null_of_a_perfect_model_is_what_theory_says():
    # sqrt(N / (pi n)): 0.126 at n = 200 and N = 10, which needs the rule of 30 rows a bin out of
    # the way: 6 bins.
    _, mean, std = _perfect(200, shape=0.3)
    null = ence.null(mean, std)
    assert null.value == pytest.approx(np.sqrt(6 / (np.pi * 200)), rel=0.08)
    values = [
        ence(np.random.default_rng(1000 + k).normal(size=200) * std, mean, std) for k in range(300)
    ]
    assert null.value == pytest.approx(np.mean(values), rel=0.05)
    assert np.mean(np.array(values) <= null.high) == pytest.approx(0.95, abs=0.03)


def test_the_null_of_many_rows_agrees_with_simulation():
    _, mean, std = _perfect(30_000, shape=0.8)
    null = ence.null(mean, std)
    values = [
        ence(np.random.default_rng(1000 + k).normal(size=30_000) * std, mean, std)
        for k in range(60)
    ]
    assert null.value == pytest.approx(np.mean(values), rel=0.1)


def test_the_sketch_is_near_the_sorted_value():
    y, mean, std = _perfect(50_000)
    y = 1.3 * y
    assert ence(y, mean, std, cells=256) == pytest.approx(ence(y, mean, std), abs=1e-3)


def test_a_std_in_any_unit():
    y, mean, std = _perfect(300)
    for unit in (1e-15, 1e15):
        assert ence(unit * y, mean, unit * std) == pytest.approx(ence(y, mean, std), rel=1e-9)
        assert np.isfinite(ence(unit * y, mean, unit * std, cells=64))


def test_a_bad_std_names_its_rows():
    with pytest.raises(InputError, match=r"row 1 is 0.*row 2 is nan.*\(2 in all\)"):
        ence([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, np.nan])


def test_outputs_on_their_own():
    y, mean, std = _perfect(300)
    both = ence(
        np.column_stack([y, 2 * y]), np.column_stack([mean, mean]), np.column_stack([std, std])
    )
    assert both.tolist() == [ence(y, mean, std), ence(2 * y, mean, std)]
