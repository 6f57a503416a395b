"""A small network, trained before on simulated tasks, that weighs four scalings: ``python -m benchmarks.experiments.calibration_prior``.

Each simulated task has 2 to 20 classes, 60 to 2,000 rows, and predictions that are too bold or too timid, wrong for single classes, bent
and noisy. Temperature, structured vector, structured matrix and ensemble matrix scaling are fitted on it; from ten numbers that describe
the task the network gives the weights with which they and the predictions as they are, are averaged, so that the log loss on other rows of
the task is least. It never sees a stored output. ``--tasks`` says how many are simulated.
"""

import argparse
import warnings
from functools import cache

import numpy as np
from benchmarks.experiments.beside_structured import show
from benchmarks.small_network import SmallNetwork, adam
from scipy.special import softmax

import calibrant as cb
from calibrant.errors import CalibrationWarning

MEMBERS = (cb.Identity, cb.TemperatureScaling, cb.StructuredVectorScaling, cb.StructuredMatrixScaling, cb.EnsembleMatrixScaling)
HIDDEN, EPOCHS, BATCH = 16, 400, 50
TEST_ROWS = 400
DEFAULT_TASKS = 600
SMALLEST = 1e-12


def simulated(rng):
    """(P, y) of a task, its last 400 rows to judge by."""
    n_classes, n = int(np.exp(rng.uniform(np.log(2), np.log(20.99)))), int(np.exp(rng.uniform(np.log(60), np.log(2_000)))) + TEST_ROWS
    y = rng.choice(n_classes, n, p=rng.dirichlet(np.full(n_classes, 20.0)))
    Z = rng.normal(size=(n, n_classes))
    Z[np.arange(n), y] += rng.uniform(0.5, 4.0)
    Z *= rng.uniform(0.5, 3.0)
    true = Z * np.exp(rng.normal(0.0, 0.5))
    bent = np.sign(true) * np.abs(true) ** np.exp(rng.normal(0.0, 0.15))
    mixed = bent @ (np.eye(n_classes) + rng.normal(0.0, rng.uniform(0.0, 0.1), (n_classes, n_classes)))
    shifted = mixed + rng.normal(0.0, rng.uniform(0.0, 0.7), n_classes)
    return np.clip(softmax(shifted, axis=1), SMALLEST, 1.0), y


def fitted(P, y):
    """The members, fitted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        return [member().fit(P, y) for member in MEMBERS]


def described(P, y, members):
    """Ten numbers of a task: its rows and classes, how sure and how right the predictions are, and what each member gains in sample."""
    own, (n, n_classes) = np.arange(len(y)), P.shape
    losses = [-np.log(np.maximum(m.predict_proba(P)[own, y], SMALLEST)).mean() for m in members]
    sure, right = P.max(axis=1).mean(), (P.argmax(axis=1) == y).mean()
    gains = np.diff(losses)
    size = [np.log(n) - 6.0, np.log(n_classes) - 1.5, np.log(n_classes**2 / n)]
    return np.array([*size, sure, right, losses[0], *np.clip(10.0 * gains, -5.0, 5.0)])


@cache
def trained(n_tasks=DEFAULT_TASKS, seed=0):
    """The network: 16 hidden units, 261 weights."""
    rng = np.random.default_rng(seed)
    told, chances = [], []
    for _ in range(n_tasks):
        P, y = simulated(rng)
        fit = slice(None, len(y) - TEST_ROWS)
        members = fitted(P[fit], y[fit])
        told.append(described(P[fit], y[fit], members))
        P_test, y_test = P[len(y) - TEST_ROWS :], y[len(y) - TEST_ROWS :]
        chances.append([m.predict_proba(P_test)[np.arange(TEST_ROWS), y_test] for m in members])
    X, chances = np.array(told), np.maximum(np.array(chances), SMALLEST)
    network = SmallNetwork((X.shape[1], HIDDEN, len(MEMBERS)), rng)
    step = adam(network.parameters, rate=3e-3)
    for _ in range(EPOCHS):
        for rows in np.array_split(rng.permutation(n_tasks), max(1, n_tasks // BATCH)):
            step(network.gradients(X[rows], lambda outputs, rows=rows: _derivative(outputs, chances[rows])))
    return network


def _derivative(outputs, chances):
    """Of -log of the average's probability, (T, J, rows) -> (T, J), through the softmax of the weights."""
    weights = softmax(outputs, axis=1)
    mean = np.einsum("tj,tjn->tn", weights, chances)
    share = np.einsum("tjn,tn->tj", chances, 1.0 / mean) / chances.shape[2]
    return weights * (1.0 - share)


class CalibrationPrior:
    """The average of five scalings by the network's weights."""

    def __init__(self, network):
        self.network = network

    def fit(self, P, y):
        self.members_ = fitted(P, y)
        self.weights_ = softmax(self.network(described(P, y, self.members_)[None]), axis=1)[0]
        return self

    def predict_proba(self, P):
        return sum(w * m.predict_proba(P) for w, m in zip(self.weights_, self.members_, strict=True))


def methods(n_tasks=DEFAULT_TASKS):
    """name -> makes it; trained at the first call."""
    return {"network's average of scalings": lambda: CalibrationPrior(trained(n_tasks))}


METHODS = methods()

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=DEFAULT_TASKS)
    show(methods(parser.parse_args().tasks))
