"""Binned, convolved kernel sums against the direct sum in log space."""

import numpy as np
import pytest

from calibrant._numerics import kernel_sums
from calibrant._numerics import kernel_sums as search

SIZE = 512


@pytest.fixture
def points():
    rng = np.random.default_rng(3)
    score = rng.beta(4.0, 1.5, 400)
    return score, (rng.random(400) < score).astype(float), rng.integers(1, 4, 400).astype(float)


def _binned(points, bandwidth, reflect=False):
    score, correct, weight = points
    low, step, mass = kernel_sums.deposit(
        score, correct, weight, np.zeros(len(score), dtype=np.intp), 1, SIZE
    )
    width = np.array([bandwidth]) / step
    transform = kernel_sums.spectrum(mass, reflect)
    sums = kernel_sums.gaussian_sums(transform, width, SIZE, reflect)[0]
    return (
        low[0] + step[0] * np.arange(SIZE),
        sums,
        kernel_sums.cell_error(transform, width, SIZE, reflect)[0],
    )


def _direct(at, points, bandwidth, kind):
    score, correct, weight = points
    rows = correct == kind
    return np.exp(kernel_sums.direct_log_sums(at, score[rows], weight[rows], bandwidth))


@pytest.mark.parametrize("bandwidth", [0.005, 0.02, 0.1, 1.0])
@pytest.mark.parametrize("kind", [0, 1])
def test_sums_keep_the_stated_bound_between_nodes(points, bandwidth, kind):
    grid, sums, bound = _binned(points, bandwidth)
    at = np.random.default_rng(0).uniform(grid[0], grid[-1], 2000)
    error = np.abs(np.interp(at, grid, sums[kind]) - _direct(at, points, bandwidth, kind))
    allowed = np.interp(at, grid, bound[kind])
    assert (error <= allowed + 1e-12).all()
    assert error.max() > 0.01 * allowed.max()  # the bound is not idle


def test_deposit_keeps_the_weight_and_the_mean_of_each_group():
    rng = np.random.default_rng(0)
    score, group, weight = rng.random(300), rng.integers(0, 3, 300), rng.random(300)
    low, step, mass = kernel_sums.deposit(score, np.ones(300), weight, group, 4, SIZE)
    assert mass[:, 0].sum() == 0.0
    assert mass[3].sum() == 0.0  # a group with no points
    for g in range(3):
        rows = group == g
        nodes = low[g] + step[g] * np.arange(SIZE)
        assert mass[g, 1].sum() == pytest.approx(weight[rows].sum(), rel=1e-12)
        assert mass[g, 1] @ nodes == pytest.approx(weight[rows] @ score[rows], rel=1e-9)


def test_reflection_mirrors_the_points_at_both_ends(points):
    grid, sums, _ = _binned(points, 0.3, reflect=True)
    score, correct, weight = points
    low, high = grid[0], grid[-1]
    period = 2.0 * (high - low)
    shifts = period * np.arange(-6, 7)
    score = (np.concatenate([score, 2 * low - score])[None, :] + shifts[:, None]).ravel()
    both = (score, np.tile(correct, 2 * len(shifts)), np.tile(weight, 2 * len(shifts)))
    assert sums[1] == pytest.approx(_direct(grid, both, 0.3, 1.0), rel=1e-3)


def test_direct_log_sums_do_not_underflow():
    logs = kernel_sums.direct_log_sums(np.array([0.0, 1e6]), np.array([0.0]), np.array([2.0]), 0.1)
    assert logs[0] == pytest.approx(np.log(2.0))
    assert np.isfinite(logs[1])
    assert np.isneginf(
        kernel_sums.direct_log_sums(np.zeros(1), np.zeros(0), np.zeros(0), 1.0)
    ).all()


@pytest.mark.parametrize("reflect", [False, True])
def test_gaps_take_the_nearest_points(reflect):
    score = np.array([0.0, 0.01, 0.99, 1.0])
    _, step, mass = kernel_sums.deposit(
        score, np.array([0.0, 0, 1, 1]), np.ones(4), np.zeros(4, dtype=np.intp), 1, SIZE
    )
    width = np.array([0.01]) / step
    sums = kernel_sums.gaussian_sums(kernel_sums.spectrum(mass, reflect), width, SIZE, reflect)
    assert sums[0, :, SIZE // 2].sum() < 1e-8
    kernel_sums.fill_gaps(sums, mass, width, reflect)
    share = sums[0, 1] / sums[0].sum(axis=0)
    assert np.isfinite(share).all()
    assert share[SIZE // 4] < 1e-6
    assert share[3 * SIZE // 4] > 1.0 - 1e-6
    assert (np.diff(share) >= -1e-8).all()  # rounding of 1e-16 over the noise floor of 1e-8


def test_sums_point_by_point_at_the_nodes():
    rng = np.random.default_rng(0)
    mass, width, size = rng.random((2, 2, 12)), np.array([0.8, 3.0]), 12
    node = np.arange(size)
    found = kernel_sums.gaussian_sums(kernel_sums.spectrum(mass), width, size)
    for m in range(2):
        kernel = np.exp(-0.5 * ((node[:, None] - node) / width[m]) ** 2)
        np.testing.assert_allclose(found[m], mass[m] @ kernel, atol=1e-10)
    mirrored = kernel_sums.gaussian_sums(kernel_sums.spectrum(mass, True), width, size, True)
    for m in range(2):
        kernel = sum(
            np.exp(-0.5 * ((node[:, None] - sign * node - turn * 22) / width[m]) ** 2)
            for sign in (1, -1)
            for turn in range(-4, 5)
        )
        np.testing.assert_allclose(mirrored[m], mass[m] @ kernel.T, atol=1e-8)


def test_deposit_by_hand():
    """Two groups of three nodes: the first from 0 to 4, steps of 2; the second all at 7."""
    score, correct = np.array([0.0, 1.0, 4.0, 7.0, 7.0]), np.array([1, 0, 1, 0, 1])
    low, step, mass = kernel_sums.deposit(
        score, correct, np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([0, 0, 0, 1, 1]), 3, 3
    )
    assert (low.tolist(), step.tolist()) == ([0.0, 7.0, 0.0], [2.0, 0.0, 0.0])
    assert mass[0].tolist() == [[1.0, 1.0, 0.0], [1.0, 0.0, 3.0]]
    assert mass[1].tolist() == [[4.0, 0.0, 0.0], [5.0, 0.0, 0.0]]
    assert mass[2].tolist() == [[0.0] * 3, [0.0] * 3]


def test_the_bound_on_curvature_is_the_largest_near_by():
    for u in (0.0, 0.2, 0.5, 0.9, 1.2, 1.6, 1.8, 2.5):
        for spread in (0.01, 0.1, 0.3):
            v = np.linspace(u - 3 * spread, u + 3 * spread, 40_001)
            largest = (np.abs(v * v - 1) * np.exp(-0.5 * v * v)).max()
            np.testing.assert_allclose(
                kernel_sums._curvature(np.array([u]), np.array([spread])), [largest], rtol=1e-4
            )


def test_gaps_are_filled_by_direct_sums_at_the_floor():
    mass = np.zeros((1, 2, 60))
    mass[0, 0, 0], mass[0, 1, 4] = 2.0, 3.0
    sums = kernel_sums.gaussian_sums(kernel_sums.spectrum(mass), np.array([1.0]), 60)
    filled = kernel_sums.fill_gaps(sums.copy(), mass, np.array([1.0]))
    floor = 1e-8 * 5.0
    far = np.flatnonzero(sums[0].sum(axis=0) < floor)
    assert far.min() > 8
    logs = np.log([2.0, 3.0])[:, None] - 0.5 * (far - np.array([[0.0], [4.0]])) ** 2
    share = np.exp(logs - np.logaddexp(*logs))
    np.testing.assert_allclose(filled[0][:, far], floor * share, atol=1e-20)
    np.testing.assert_array_equal(filled[0][:, :8], sums[0][:, :8])
    assert kernel_sums.direct_log_sums(np.zeros(2), np.zeros(0), np.zeros(0), 1.0).tolist() == [
        -np.inf,
        -np.inf,
    ]


def test_a_kernel_on_a_circle_is_summed_over_three_turns_either_way():
    length, width = 20, np.array([0.9, 6.0, 30.0])
    distance = np.arange(11)
    turns = np.arange(-3, 4)[:, None] * length
    expected = [np.exp(-0.5 * ((distance + turns) / w) ** 2).sum(axis=0) for w in width]
    np.testing.assert_allclose(
        kernel_sums._kernel(width, length, True, kernel_sums._gaussian), expected
    )
    alone = [np.exp(-0.5 * (distance / w) ** 2) for w in width]
    np.testing.assert_allclose(
        kernel_sums._kernel(width, length, False, kernel_sums._gaussian), alone
    )
    np.testing.assert_allclose(
        kernel_sums._kernel(width[:1], length, True, kernel_sums._gaussian), alone[:1]
    )


# -- bandwidth search ---------------------------------------------------------------------------
# The ladder of bandwidths: what counts as a wiggle, where it starts, where it stops.


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
