"""The benchmarks' small network: its gradients, and that it learns."""

import numpy as np
import pytest
from benchmarks.small_network import SmallNetwork, adam, momentum, train


def test_gradients_are_those_of_finite_differences():
    rng = np.random.default_rng(0)
    network, X, y = (
        SmallNetwork((3, 5, 4, 2), rng),
        rng.normal(size=(7, 3)),
        rng.normal(size=(7, 2)),
    )
    for offset in network.offsets:
        offset += rng.normal(size=offset.shape)
    found = network.gradients(X, lambda out: 2.0 * (out - y))
    for parameter, gradient in zip(network.parameters, found, strict=True):
        expected = np.empty_like(parameter)
        for i in np.ndindex(parameter.shape):
            losses = []
            for step in (1e-6, -2e-6):
                parameter[i] += step
                losses.append(np.square(network(X) - y).sum(axis=1).mean())
            parameter[i] += 1e-6
            expected[i] = (losses[0] - losses[1]) / 2e-6
        np.testing.assert_allclose(gradient, expected, atol=1e-7)


@pytest.mark.parametrize(("steps", "epochs"), [(adam, 30), (momentum, 150)])
def test_it_learns_a_parabola(steps, epochs):
    rng = np.random.default_rng(1)
    X = rng.uniform(-1.0, 1.0, (640, 1))
    network = SmallNetwork((1, 20, 20, 1), rng)
    train(
        network,
        X,
        lambda rows, out: out - X[rows] ** 2,
        steps(network.parameters, rate=1e-2),
        rng,
        epochs,
    )
    assert np.abs(network(X) - X**2).mean() < 0.03
