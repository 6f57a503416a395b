"""Draws that follow what rows hold, neither their names nor their order."""

import numpy as np
from scipy import stats

from calibrant._numerics import bootstrap as kernel
from calibrant._numerics.bootstrap import (
    content_seed,
    halves,
    numbered_by_content,
    one_of_each,
    placed_codes,
    row_codes,
    uniform_of_rows,
)

# -- content order ------------------------------------------------------------------------------
# Parts are numbered by what they hold.


def test_names_and_the_order_of_rows_change_no_number():
    rng = np.random.default_rng(0)
    part, mark, weight = rng.integers(0, 20, 300), rng.random(300), rng.integers(1, 4, 300) * 1.0
    found = numbered_by_content(part, mark, weight)
    renamed, order = rng.permutation(20)[part], rng.permutation(300)
    np.testing.assert_array_equal(numbered_by_content(renamed, mark, weight), found)
    shuffled = numbered_by_content(part[order], mark[order], weight[order])
    np.testing.assert_array_equal(shuffled, found[order])
    assert len(np.unique(found)) == len(np.unique(np.column_stack([found, part]), axis=0)) == 20


def test_a_weight_is_a_repetition_and_parts_that_are_alike_keep_their_order():
    part, mark = np.array([0, 1, 2]), np.array([0.4, 0.1, 0.1])
    assert numbered_by_content(part, mark, np.array([1.0, 2.0, 2.0])).tolist()[1:] in (
        [0, 1],
        [1, 2],
    )
    often, once = np.repeat(part, [3, 1, 2]), np.array([3.0, 1.0, 2.0])
    found = numbered_by_content(often, np.repeat(mark, [3, 1, 2]), np.ones(6))
    assert found.tolist() == np.repeat(numbered_by_content(part, mark, once), [3, 1, 2]).tolist()


# -- halves -------------------------------------------------------------------------------------
# Halves that do not depend on how rows are written.


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


# -- one of each --------------------------------------------------------------------------------


def test_one_row_of_each_cluster_whatever_their_order():
    rng = np.random.default_rng(0)
    cluster, score = np.append(np.arange(50), rng.integers(0, 50, 250)), rng.random(300)
    loss, weight = (rng.random(300) < 0.2).astype(float), np.ones(300)
    rows = one_of_each(cluster, score, loss, weight)
    assert (cluster[rows] == np.arange(50)).all()
    order = rng.permutation(300)
    again = one_of_each(cluster[order], score[order], loss[order], weight[order])
    assert (score[rows] == score[order][again]).all()


def test_each_row_is_as_likely_as_its_weight():
    cluster, score = np.repeat(np.arange(3000), 2), np.tile([0.1, 0.9], 3000)
    rows = one_of_each(cluster, score, np.zeros(6000), np.tile([1.0, 3.0], 3000))
    assert abs(np.mean(score[rows] == 0.9) - 0.75) < 4 * np.sqrt(0.75 * 0.25 / 3000)


def test_the_seed_counts_rows_by_weight_and_differs_between_data_sets():
    rng = np.random.default_rng(1)
    score, loss, weight = rng.random(40), rng.random(40), rng.integers(1, 4, 40).astype(float)
    rows = rng.permutation(np.repeat(np.arange(40), weight.astype(int)))
    seed = content_seed(score, loss, weight)
    assert content_seed(score[rows], loss[rows], np.ones(len(rows))) == seed
    assert content_seed(loss, score, weight) != seed
    assert len({content_seed(rng.random(9), np.zeros(9), np.ones(9)) for _ in range(50)}) == 50


# -- row draws ----------------------------------------------------------------------------------


def test_draws_are_uniform_and_each_seed_has_its_own():
    P = np.random.default_rng(0).dirichlet(np.ones(3), 20_000)
    for values in (P, P.astype(np.float32), P.astype(np.float16)[:2000], (P[:, :2] * 1000).round()):
        codes = row_codes(np.unique(values, axis=0))
        draws = [uniform_of_rows(codes, seed) for seed in (0, 1)]
        assert stats.kstest(draws[0], "uniform").pvalue > 1e-3
        assert abs(np.corrcoef(*draws)[0, 1]) < 4 / np.sqrt(len(codes))


def test_a_row_has_its_draw_wherever_it_is():
    P = np.random.default_rng(0).dirichlet(np.ones(7), 40_000)
    codes = row_codes(P)
    assert (row_codes(P[30_000:30_010]) == codes[30_000:30_010]).all()
    assert (row_codes(P[:, ::-1]) == codes).all()
    assert (
        row_codes(P[:10].astype(np.float32))
        == row_codes(P[:10].astype(np.float32).astype(np.float64))
    ).all()
    assert row_codes(np.array([[0.0, 1.0]])) == row_codes(np.array([[-0.0, 1.0]]))
    draws = uniform_of_rows(codes, 3)
    assert draws.min() > 0.0
    assert draws.max() < 1.0


def test_equal_rows_have_codes_of_their_places():
    codes = placed_codes(np.full((500, 2), 0.5))
    assert len(np.unique(codes)) == 500
    assert stats.kstest(uniform_of_rows(codes, 0), "uniform").pvalue > 1e-3
    again = placed_codes(np.full((3, 2), 0.5))
    assert again.tolist() == codes[:3].tolist()
    assert row_codes(np.full((3, 2), 0.5))[0] not in codes
