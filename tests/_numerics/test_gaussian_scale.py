"""A factor of std by Gaussian processes: cells by hand, the mode by its equations, Laplace's
evidence written out.
"""

import numpy as np

from calibrant._numerics.gaussian_process_fit import (
    AMPLITUDES,
    Cells,
    mode,
    pool,
    process_basis,
    radial,
    search,
)

RNG = np.random.default_rng(0)
X = np.linspace(0.0, 1.0, 12)
CELLS = Cells(RNG.uniform(5, 20, 12), RNG.uniform(0.5, 2.0, 12), [X])


def test_the_kernel_and_its_root():
    np.testing.assert_allclose(
        radial(np.array([1.0]), np.array([1.0, 3.0]), 2.0), [[1.0, np.exp(-0.5)]]
    )
    points = np.array([0.0, 0.5, 1.0])
    basis = process_basis(X, points, 0.7)
    between, own = radial(X, points, 0.7), radial(points, points, 0.7)
    np.testing.assert_allclose(
        basis.features @ basis.features.T, between @ np.linalg.inv(own) @ between.T, atol=1e-9
    )
    np.testing.assert_allclose(between @ basis.root, basis.features)


def test_rows_are_pooled_in_cells_of_equal_weight():
    x, square, weight = (
        np.array([0.0, 0.1, 0.2, 1.0]),
        np.array([1.0, 3.0, 5.0, 7.0]),
        np.array([1.0, 1.0, 1.0, 3.0]),
    )
    cells = pool([x], square, weight, 2)
    np.testing.assert_allclose(cells.weight, [3.0, 3.0])
    np.testing.assert_allclose(cells.square, [3.0, 7.0])
    np.testing.assert_allclose(cells.inputs[0], [0.1, 1.0])
    # Halves of the weight, cut in the middle of the range besides; the highest stands alone.
    assert len(pool([np.array([0.0, 0.6, 0.9, 1.0])], np.arange(4.0), np.ones(4), 2).weight) == 4
    assert pool(
        [np.array([0.0, 0.1, 0.8, 0.9, 1.0])], np.arange(5.0), np.ones(5), 2
    ).weight.tolist() == [2.0, 2.0, 1.0]
    both = pool([x, x[::-1]], square, weight, 2)
    np.testing.assert_allclose(both.weight.sum(), 6.0)
    assert len(both.inputs) == 2


def test_the_mode_solves_its_equations_and_its_evidence_is_laplaces():
    features = process_basis(X, np.array([0.0, 0.5, 1.0]), 0.5).features
    found = mode(CELLS, features)
    design, prior = (
        np.column_stack([np.ones(12), features]),
        np.append(0.0, np.ones(features.shape[1])),
    )
    g = design @ found.coefficients
    ratio = CELLS.square * np.exp(-2.0 * g)
    np.testing.assert_allclose(
        (CELLS.weight * (1 - ratio)) @ design + prior * found.coefficients, 0.0, atol=1e-6
    )
    value = CELLS.weight @ (g + 0.5 * ratio) + 0.5 * prior @ found.coefficients**2
    hessian = (design.T * (2.0 * CELLS.weight * ratio)) @ design + np.diag(prior)
    np.testing.assert_allclose(found.evidence, -value - 0.5 * np.linalg.slogdet(hessian)[1])
    assert found.status == "converged"
    constant = mode(CELLS, np.empty((12, 0)))
    np.testing.assert_allclose(
        constant.coefficients, 0.5 * np.log(CELLS.weight @ CELLS.square / CELLS.weight.sum())
    )


def test_a_process_is_taken_in_where_it_makes_the_data_ten_times_more_probable():
    points = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
    flat = Cells(np.full(12, 50.0), np.full(12, 1.44), [X])
    chosen, weights, best = search(flat, [points])
    assert chosen[0][0] == 0.0
    np.testing.assert_allclose(weights[0], 0.0)
    np.testing.assert_allclose(best.coefficients, [np.log(1.2)])
    bent = Cells(np.full(12, 200.0), np.exp(2.0 * np.sin(3.0 * X)), [X, X[::-1] ** 2])
    chosen, weights, best = search(bent, [points, points])
    assert max(amplitude for amplitude, _ in chosen) in AMPLITUDES
    g = best.coefficients[0] + sum(
        radial(x, points, length) @ w
        for x, (_, length), w in zip(bent.inputs, chosen, weights, strict=True)
    )
    np.testing.assert_allclose(g, np.sin(3.0 * X), atol=0.1)
