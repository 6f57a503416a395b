"""The ladder of bandwidths: what counts as a wiggle, where it starts, where it stops."""

import numpy as np
import pytest

from calibrant._kernels import kernel_sums
from calibrant._kernels import kernel_sums as search

SIZE = 512


def test_sign_changes_are_counted_by_hand():
    up = np.linspace(0.0, 1.0, 9)
    curves = np.array(
        [
            up,
            up[::-1],
            np.concatenate([up[:5], up[3::-1]]),
            [0, 1, 0, 1, 0, 1, 0, 1, 0],
            [0, 0, 1, 1, 1, 2, 2, 1, 1],
            np.zeros(9),
            up + 1e-7 * (-1.0) ** np.arange(9),
            1e-7 * (-1.0) ** np.arange(9),
        ],
        dtype=float,
    )
    assert search.sign_changes(curves).tolist() == [0, 0, 1, 7, 1, 0, 0, 0]


def test_silverman_agrees_with_the_formula_and_takes_weights_as_repetition():
    rng = np.random.default_rng(1)
    score, weight = rng.normal(size=2000), rng.integers(1, 4, 2000)
    repeated = np.repeat(score, weight)
    masses = []
    for s, w in [(score, weight.astype(float)), (repeated, np.ones(len(repeated)))]:
        _, step, mass = kernel_sums.deposit(
            s, np.ones(len(s)), w, np.zeros(len(s), dtype=np.intp), 1, SIZE
        )
        masses.append(mass)
    iqr = np.subtract(*np.quantile(repeated, [0.75, 0.25]))
    expected = 0.9 * min(repeated.std(ddof=1), iqr / 1.34) * len(repeated) ** -0.2
    assert search.silverman_width(masses[0])[0] * step[0] == pytest.approx(expected, rel=0.02)
    assert search.silverman_width(masses[0]) == pytest.approx(
        search.silverman_width(masses[1]), rel=1e-9
    )


def test_first_calm_width_is_the_first_of_the_ladder_that_qualifies():
    rng = np.random.default_rng(5)
    score = rng.random(300)
    correct = (rng.random(300) < 0.3 + 0.5 * score).astype(float)
    _, _, mass = kernel_sums.deposit(
        score, correct, np.ones(300), np.zeros(300, dtype=np.intp), 1, SIZE
    )
    transform, rate = kernel_sums.spectrum(mass), np.array([correct.mean()])
    width, found, tried = search.first_calm_width(mass, transform, 2, 1.0, rate)
    widths, changes = np.array(tried[0]).T
    assert found.all()
    assert widths[0] == pytest.approx(search.first_width(mass)[0])
    assert np.allclose(widths[1:] / widths[:-1], search.RUNG)
    assert (changes[:-1] > 2).all()
    assert changes[-1] <= 2
    assert width[0] == widths[-1]


def test_groups_searched_together_or_alone_get_the_same_widths():
    rng = np.random.default_rng(6)
    score, group = rng.random(900), rng.integers(0, 3, 900)
    correct = (rng.random(900) < score ** (1.0 + group)).astype(float)
    _, _, mass = kernel_sums.deposit(score, correct, np.ones(900), group, 3, SIZE)
    transform, rate = kernel_sums.spectrum(mass), mass[:, 1].sum(axis=1) / mass.sum(axis=(1, 2))
    together = search.first_calm_width(mass, transform, 2, 1.0, rate)[0]
    loss_together = search.least_loss_width(mass, transform, 1.0, rate)[0]
    for g in range(3):
        one = slice(g, g + 1)
        assert search.first_calm_width(mass[one], transform[one], 2, 1.0, rate[one])[0][
            0
        ] == pytest.approx(together[g], rel=1e-12)
        assert search.least_loss_width(mass[one], transform[one], 1.0, rate[one])[0][
            0
        ] == pytest.approx(loss_together[g], rel=1e-12)


def test_least_loss_is_the_left_out_loss_point_by_point():
    rng = np.random.default_rng(7)
    node = np.sort(rng.choice(SIZE, 60, replace=False))
    score = node / (SIZE - 1.0)
    score[0], score[-1] = 0.0, 1.0
    node[0], node[-1] = 0, SIZE - 1
    correct = (rng.random(60) < score).astype(float)
    _, _, mass = kernel_sums.deposit(
        score, correct, np.ones(60), np.zeros(60, dtype=np.intp), 1, SIZE
    )
    rate = np.array([(correct.sum() + 0.5) / 61.0])
    _, tried = search.least_loss_width(mass, kernel_sums.spectrum(mass), 1.0, rate)
    for width, loss in (tried[0][0], tried[0][len(tried[0]) // 2]):
        kernel = np.exp(-0.5 * ((node[:, None] - node) / width) ** 2)
        np.fill_diagonal(kernel, 0.0)
        p = (kernel @ correct + rate) / (kernel.sum(axis=1) + 1.0)
        expected = -np.mean(correct * np.log(p) + (1 - correct) * np.log(1 - p))
        assert loss == pytest.approx(expected, abs=1e-9)


def test_the_left_out_loss_by_hand():
    """Sums of 3 wrong and 2 right at one node, one of each kind left out; nothing left: the
    rate; kept half a point from 0 and 1.
    """
    sums, mass = np.array([[[3.0, 0.5], [2.0, 1.0]]]), np.array([[[2.0, 0.0], [1.0, 1.0]]])
    wrong, right, last = (
        (3 - 1 + 0.6) / (2 + 2 + 1),
        (2 - 1 + 0.4) / (1 + 3 + 1),
        (0.0 + 0.4) / (0.5 + 1),
    )
    expected = -(2 * np.log(wrong) + np.log(right) + np.log(last))
    np.testing.assert_allclose(search._left_out_loss(sums, mass, 1.0, np.array([0.4])), [expected])
    alone = search._left_out_loss(
        np.array([[[0.0], [1.0]]]), np.array([[[0.0], [1.0]]]), 0.0, np.array([0.3])
    )
    np.testing.assert_allclose(alone, [-np.log(0.3)])
    floor = search._left_out_loss(
        np.array([[[5.0], [1.0]]]), np.array([[[5.0], [1.0]]]), 0.0, np.array([0.3])
    )
    np.testing.assert_allclose(floor, [-5 * np.log(0.8) - np.log(0.5 / 7)])


def test_confidences_by_hand_and_where_the_ladder_starts():
    found = search.confidence(np.array([[[3.0, 0.0], [1.0, 0.0]]]), 2.0, np.array([0.25]))
    np.testing.assert_allclose(found, [[1.5 / 6, 0.25]])
    few = np.zeros((1, 2, 400))
    few[0, 1, [0, 399]] = 1.0
    np.testing.assert_allclose(search.first_width(few), 0.2 * search.silverman_width(few))
    few[0, 1] = 0.0
    few[0, 1, [10, 12]] = 1.0
    assert search.first_width(few).tolist() == [2.0]


def test_left_out_probabilities_stay_half_a_row_from_0_and_1():
    """Three rows that came true beside seven more of their kind: 1 - 1 / 8; and as many that did
    not, which nothing beside them says.
    """
    sums, none = np.array([[[0.0], [11.0]], [[11.0], [0.0]]]), np.zeros((2, 1))
    mass = np.array([[[0.0], [3.0]], [[3.0], [0.0]]])
    found = search._left_out_loss(sums, mass, none, np.array([0.5, 0.5]))
    np.testing.assert_allclose(found, -3.0 * np.log(0.875))
    # A lone row against ten of the other kind: half a row from 0.
    lone = search._left_out_loss(
        np.array([[[10.0], [1.0]]]), np.array([[[0.0], [1.0]]]), none[:1], np.array([0.5])
    )
    np.testing.assert_allclose(lone, -np.log(0.25))
