"""Halves that do not depend on how rows are written."""

import numpy as np

from calibrant._kernels import draws as kernel
from calibrant._kernels.draws import halves


def test_repeated_rows_and_weights_are_the_same_rows_in_any_order():
    rng = np.random.default_rng(0)
    keys, weight = rng.normal(size=(20, 2)), rng.integers(1, 5, 20).astype(float)
    first, second = halves(keys, weight)
    np.testing.assert_array_equal(first + second, weight)
    assert first.sum() == weight.sum() // 2
    order = rng.permutation(20)
    np.testing.assert_array_equal(halves(keys[order], weight[order])[0], first[order])
    row = np.repeat(np.arange(20), weight.astype(int))
    each = halves(keys[row], np.ones(len(row)))[0]
    np.testing.assert_array_equal(np.bincount(row, weights=each), first)


def test_clusters_and_rows_of_broken_weight_stay_whole():
    rng = np.random.default_rng(0)
    keys, cluster = rng.normal(size=(40, 1)), np.repeat(np.arange(8), 5)
    first, _ = halves(keys, np.ones(40), cluster)
    assert sorted(first.reshape(8, 5).sum(axis=1).tolist()) == [0.0] * 4 + [5.0] * 4
    broken = np.full(40, 0.5)
    assert sorted(halves(keys, broken)[0].tolist()) == [0.0] * 20 + [0.5] * 20


def test_a_half_is_a_sample_of_the_outcomes_and_no_fixed_choice_of_their_ranks():
    # With one draw for all data sets of 269 rows, the order statistic at 0.9 of the second half was
    # the same rank in all of them: 230.
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(200):
        y = rng.random(269)
        second = np.sort(y[halves(y[:, None], np.ones(269))[1] > 0.0])
        covered.append(second[int(np.ceil((len(second) + 1) * 0.9)) - 1])
    assert abs(np.mean(covered) - 123 / 136) < 4 * np.std(covered) / 200**0.5
    assert np.std(covered) > 0.02


def test_each_half_has_half_of_the_rows():
    keys = np.random.default_rng(0).random((11, 2))
    for weight, first in ((np.ones(11), 5.0), (np.full(11, 2.0), 11.0)):
        one, other = halves(keys, weight)
        assert (one.sum(), (one + other).tolist()) == (first, weight.tolist())
    broken = np.full(11, 0.5)
    one, other = halves(keys, broken)
    assert (np.count_nonzero(one), np.count_nonzero(one * other)) == (5, 0)
    cluster = np.array([0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 4])
    one, _ = halves(keys, np.ones(11), cluster)
    assert len(np.unique(cluster[one > 0])) == 2


def test_the_draw_depends_on_what_the_rows_hold_and_not_on_units():
    keys = np.random.default_rng(0).random((40, 2))
    first = halves(keys, np.ones(40))[0]
    np.testing.assert_array_equal(first, halves(3.0 + 100.0 * keys, np.ones(40))[0])
    assert (first != halves(keys**2, np.ones(40))[0]).any()
    constant = np.column_stack([keys[:, 0], np.ones(40)])
    assert halves(constant, np.ones(40))[0].sum() == 20.0


def test_very_many_rows_are_not_written_out(monkeypatch):
    keys, weight = np.random.default_rng(0).random((4, 1)), np.full(4, 3.0)
    monkeypatch.setattr(kernel, "MOST", 12.0)
    split = halves(keys, weight)[0]
    assert split.sum() == 6.0
    monkeypatch.setattr(kernel, "MOST", 11.0)
    assert sorted(halves(keys, weight)[0].tolist()) == [0.0, 0.0, 3.0, 3.0]
