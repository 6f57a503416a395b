"""A person with few labels and a model that is too sure asks what its scores are worth."""

import json

import numpy as np
import pytest

from calibrant import metrics

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")


def world(seed, n=400, n_classes=3):
    """Logits that are twice the true ones, labels, and the true probabilities."""
    rng = np.random.default_rng(seed)
    logits = 1.5 * rng.normal(size=(n, n_classes))
    truth = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return 2.0 * logits, (truth.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1), truth


def test_over_and_underconfidence_and_the_latent_function_are_those_of_the_world(run, tmp_path):
    covered = {"overconfidence": 0, "underconfidence": 0, "band": []}
    for seed in range(8):
        logits, y, truth = world(seed)
        np.savez(tmp_path / "logits.npz", logits=logits, labels=y)
        command = ("report", "logits.npz", "--method", "gaussian-process", "-o", "r.json")
        run(*command, "--force")
        found = json.loads((tmp_path / "r.json").read_text())
        scores = {row["key"]: row for row in found["metrics"]}
        # Expected over and underconfidence of the model, from the true probabilities.
        said, right = np.exp(logits), truth.max(axis=1)
        confidence = (said / said.sum(axis=1, keepdims=True)).max(axis=1)
        expected = {
            "overconfidence": confidence @ (1.0 - right) / (1.0 - right).sum(),
            "underconfidence": (1.0 - confidence) @ right / right.sum(),
        }
        for key, value in expected.items():
            before = scores[key]["before"]
            covered[key] += before["low"] <= value <= before["high"]
        assert scores["overconfidence"]["change"]["meaning"] == "smaller"
        assert scores["underconfidence"]["change"]["meaning"] == "larger"
        wrong = 1.0 - scores["accuracy"]["after"]["value"]
        o, u = (scores[key]["after"]["value"] for key in expected)
        assert abs(o * wrong - u * (1.0 - wrong)) < 0.05
        assert found["verdict"]["model"] == "overconfident"
        # The true function halves the score; softmax does not see its level.
        at = {name: np.array(values) for name, values in found["latent"].items()}
        rows = (at["score"] > np.quantile(logits, 0.05)) & (at["score"] < np.quantile(logits, 0.95))
        half = at["score"] / 2.0
        level = (np.interp(logits, at["score"], at["mean"]) - logits / 2.0).mean()
        inside = (at["low"] <= half + level) & (half + level <= at["high"])
        covered["band"].append(inside[rows].mean())
    assert covered["overconfidence"] >= 6
    assert covered["underconfidence"] >= 6
    assert np.mean(covered["band"]) > 0.9


def test_evaluate_prints_both_with_intervals(run, tmp_path):
    logits, y, _ = world(0)
    np.savez(tmp_path / "logits.npz", logits=logits, labels=y)
    said = run("evaluate", "logits.npz").stdout
    interval = metrics.overconfidence.interval(y, logits, inputs="logit")
    line = next(line for line in said.splitlines() if "overconfidence" in line)
    assert f"{interval.value:.4f} [{interval.low:.4f}, {interval.high:.4f}]" in line
