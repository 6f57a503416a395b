"""The main job on real predictions: a network's outputs on CIFAR-10, from the command line."""

import json

import numpy as np
import pytest

from calibrant.datasets.sets import data_folder, stored

NAME = "network_outputs/wideresnet-16-4-cifar10"


@pytest.fixture
def data():
    """Read before ``run`` changes the folder: CALIBRANT_DATA may be relative."""
    return stored(NAME)


@pytest.mark.data
@pytest.mark.skipif(not (data_folder() / f"{NAME}.npz").is_file(), reason="needs CALIBRANT_DATA")
def test_temperature_scaling_reaches_the_exact_optimum(data, run, tmp_path):
    order = np.random.default_rng(0).permutation(10_000)
    for name, rows in (("fit", order[:5000]), ("test", order[5000:])):
        np.savez(
            tmp_path / f"{name}.npz",
            probabilities=data["probabilities"][rows],
            labels=data["labels"][rows],
        )
    run("fit", "fit.npz", "--method", "temperature", "-o", "model.calibrant")
    found = json.loads(
        run("evaluate", "test.npz", "--calibrator", "model.calibrant", "--json").stdout
    )
    assert found["calibrator"]["evaluation"] == "held-out"
    after = {row["key"]: row["after"]["value"] for row in found["metrics"]}
    assert abs(after["log_loss"] - 0.2603) < 1e-4
    assert after["ece"] < 0.012
