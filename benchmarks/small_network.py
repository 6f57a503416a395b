"""A small fully connected network of rectified linear units, in NumPy. The loss is the caller's:
training takes its derivative.
"""

from itertools import pairwise

import numpy as np

BATCH = 64


class SmallNetwork:
    """Layers of ``widths`` (inputs first, outputs last), drawn as He et al. 2015 do;
    ``network(X)`` gives (n, outputs).
    """

    def __init__(self, widths, rng):
        self.weights = [rng.normal(size=(a, b)) * np.sqrt(2.0 / a) for a, b in pairwise(widths)]
        self.offsets = [np.zeros(b) for b in widths[1:]]

    @property
    def parameters(self):
        """All arrays that training changes in place."""
        return [*self.weights, *self.offsets]

    def __call__(self, X):
        return self._layers(X)[-1]

    def _layers(self, X):
        layers = [X]
        for k, (weight, offset) in enumerate(zip(self.weights, self.offsets, strict=True)):
            layer = layers[-1] @ weight + offset
            layers.append(layer if k == len(self.weights) - 1 else np.maximum(layer, 0.0))
        return layers

    def gradients(self, X, derivative):
        """Gradients of the batch's mean loss, as ``parameters`` are ordered;
        ``derivative(outputs)``: (n, outputs), of each row's loss.
        """
        layers = self._layers(X)
        back = derivative(layers[-1]) / len(X)
        weights, offsets = [], []
        for k in reversed(range(len(self.weights))):
            weights.append(layers[k].T @ back)
            offsets.append(back.sum(axis=0))
            back = (back @ self.weights[k].T) * (layers[k] > 0.0)
        return [*reversed(weights), *reversed(offsets)]


def momentum(parameters, rate=1e-3, memory=0.9):
    """Stochastic gradient descent with momentum: gives the function that makes one step."""
    speed = [np.zeros_like(p) for p in parameters]

    def step(gradients):
        for p, v, g in zip(parameters, speed, gradients, strict=True):
            v *= memory
            v += g
            p -= rate * v

    return step


def adam(parameters, rate=1e-3, first=0.9, second=0.999):
    """Adam: gives the function that makes one step."""
    means, squares, count = (
        [np.zeros_like(p) for p in parameters],
        [np.zeros_like(p) for p in parameters],
        0,
    )

    def step(gradients):
        nonlocal count
        count += 1
        for p, m, v, g in zip(parameters, means, squares, gradients, strict=True):
            m += (1.0 - first) * (g - m)
            v += (1.0 - second) * (g * g - v)
            p -= rate * (m / (1.0 - first**count)) / (np.sqrt(v / (1.0 - second**count)) + 1e-8)

    return step


def train(network, X, derivative, step, rng, epochs):
    """Batches of 64 in a new order each epoch; ``derivative(rows, outputs)`` is that of each
    row's loss.
    """
    for _ in range(epochs):
        order = rng.permutation(len(X))
        for rows in np.array_split(order, max(1, len(X) // BATCH)):
            step(network.gradients(X[rows], lambda outputs, rows=rows: derivative(rows, outputs)))
    return network
