"""Train the small network that weighs four scalings, on simulated tasks:
``python -m benchmarks.pretrained_average``.

Each simulated task has 2 to 20 classes, 60 to 2,000 rows, and predictions that are overconfident or
underconfident, wrong for single classes, distorted and noisy. Temperature, structured vector,
structured matrix and ensemble matrix scaling are fitted on it; from ten numbers that describe the
task, the network predicts weights that average them with the unchanged predictions and minimise the
log loss on other rows of the task. It never sees a stored output. The library has it as
``PretrainedAverage``; this writes the package's table of its 261 numbers.
"""

import json
import warnings
from functools import cache
from pathlib import Path

import numpy as np
from benchmarks.small_network import SmallNetwork, adam
from scipy.special import softmax

from calibrant.calibrators import ensembles
from calibrant.calibrators.ensembles import MEMBERS, fitted_members, task_numbers
from calibrant.core.predictions import read
from calibrant.errors import CalibrationWarning

TABLE = Path(ensembles.__file__).with_name("pretrained_average.json")
HIDDEN, EPOCHS, BATCH = 16, 400, 50
TEST_ROWS = 400
DEFAULT_TASKS = 600
DECIMALS = 6
SMALLEST = 1e-12


def simulated(rng):
    """(P, y) of a task, its last 400 rows to judge by."""
    n_classes, n = (
        int(np.exp(rng.uniform(np.log(2), np.log(20.99)))),
        int(np.exp(rng.uniform(np.log(60), np.log(2_000)))) + TEST_ROWS,
    )
    y = rng.choice(n_classes, n, p=rng.dirichlet(np.full(n_classes, 20.0)))
    Z = rng.normal(size=(n, n_classes))
    Z[np.arange(n), y] += rng.uniform(0.5, 4.0)
    Z *= rng.uniform(0.5, 3.0)
    true = Z * np.exp(rng.normal(0.0, 0.5))
    bent = np.sign(true) * np.abs(true) ** np.exp(rng.normal(0.0, 0.15))
    mixed = bent @ (
        np.eye(n_classes) + rng.normal(0.0, rng.uniform(0.0, 0.1), (n_classes, n_classes))
    )
    shifted = mixed + rng.normal(0.0, rng.uniform(0.0, 0.7), n_classes)
    return np.clip(softmax(shifted, axis=1), SMALLEST, 1.0), y


@cache
def trained(n_tasks=DEFAULT_TASKS, seed=0):
    """The network: 16 hidden units, 261 weights."""
    rng = np.random.default_rng(seed)
    told, chances = [], []
    for _ in range(n_tasks):
        P, y = simulated(rng)
        record, P_test, y_test = (
            read(P[:-TEST_ROWS], y[:-TEST_ROWS]),
            P[-TEST_ROWS:],
            y[-TEST_ROWS:],
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CalibrationWarning)
            members = fitted_members(record)
        told.append(task_numbers(record, members))
        chances.append([m.predict_proba(P_test)[np.arange(TEST_ROWS), y_test] for m in members])
    X, chances = np.array(told), np.maximum(np.array(chances), SMALLEST)
    network = SmallNetwork((X.shape[1], HIDDEN, len(MEMBERS)), rng)
    step = adam(network.parameters, rate=3e-3)
    for _ in range(EPOCHS):
        for rows in np.array_split(rng.permutation(n_tasks), max(1, n_tasks // BATCH)):
            step(
                network.gradients(
                    X[rows], lambda outputs, rows=rows: _derivative(outputs, chances[rows])
                )
            )
    return network


def _derivative(outputs, chances):
    """Of -log of the average's probability, (T, J, rows) -> (T, J), through the softmax of the
    weights.
    """
    weights = softmax(outputs, axis=1)
    mean = np.einsum("tj,tjn->tn", weights, chances)
    share = np.einsum("tjn,tn->tj", chances, 1.0 / mean) / chances.shape[2]
    return weights * (1.0 - share)


def table(network):
    """The network as the package keeps it, JSON text: six decimals, so that another machine's
    rounding gives the same.
    """
    layers = [
        {"weights": weight.round(DECIMALS).tolist(), "offsets": offset.round(DECIMALS).tolist()}
        for weight, offset in zip(network.weights, network.offsets, strict=True)
    ]
    return json.dumps(layers) + "\n"


if __name__ == "__main__":
    TABLE.write_text(table(trained()), encoding="utf-8")
