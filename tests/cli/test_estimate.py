"""``calibrant estimate``: the function's estimate on files, and its gate."""

import json

import numpy as np
import pytest

import calibrant as cb

pytest.importorskip("click")
pytest.importorskip("rich")


@pytest.fixture
def tables(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=1200) + np.repeat([0.5, -0.5], 600)
    p = (1.0 / (1.0 + np.exp(-2.0 * x))).round(6)
    y = (rng.random(1200) < p).astype(int)
    z = x.round(6)
    lines = [f"{a},{b},{c}" for a, b, c in zip(p, z, y, strict=True)]
    (tmp_path / "old.csv").write_text("\n".join(["p,x,label", *lines[:600]]) + "\n", "utf-8")
    new = [line.rsplit(",", 1)[0] for line in lines[600:]]
    (tmp_path / "new.csv").write_text("\n".join(["p,x", *new]) + "\n", "utf-8")
    mean = rng.normal(size=1200).round(6)
    came = (mean + rng.normal(size=1200)).round(6)
    head, rows = "mean,std,y", [f"{a},1.0,{b}" for a, b in zip(mean, came, strict=True)]
    (tmp_path / "f_old.csv").write_text("\n".join([head, *rows[:600]]) + "\n", "utf-8")
    (tmp_path / "f_new.csv").write_text("\n".join([head, *rows[600:]]) + "\n", "utf-8")
    return p, z, y, mean, came


def test_it_is_the_estimate_of_the_library(run, tables):
    p, x, y, *_ = tables
    command = ("estimate", "new.csv", "--reference", "old.csv")
    want = cb.estimate_performance(p[600:], reference=(p[:600], y[:600]))
    said = " ".join(run(*command).output.split())
    assert said.startswith(f"accuracy: {want.value:.4g} [{want.low:.4g}, {want.high:.4g}]")
    assert "cannot be seen without labels" in said
    assert want.low <= ((p > 0.5) == y)[600:].mean() <= want.high
    options = ("--features", "x", "--metric", "log_loss", "--metric", "accuracy", "--json")
    first, second = json.loads(run(*command, *options).output)
    X = (x[:600, None], x[600:, None])
    want = cb.estimate_performance(p[600:], reference=(p[:600], y[:600]), X=X, metric="log_loss")
    assert first["value"] == pytest.approx(want.value, rel=1e-6)
    assert second["metric"] == "accuracy"


def test_forecasts_and_gates(run, tables):
    *_, mean, came = tables
    said = run("estimate", "f_new.csv", "--reference", "f_old.csv", "--json").output
    (one,) = json.loads(said)
    want = cb.estimate_performance(
        (mean[600:], np.ones(600)),
        reference=((mean[:600], np.ones(600)), came[:600]),
        metric="mae",
    )
    assert one["value"] == pytest.approx(want.value, rel=1e-6)
    command = ("estimate", "new.csv", "--reference", "old.csv", "--fail-if")
    run(*command, "accuracy<0.2")
    run(*command, "accuracy<0.99", code=3)
    assert "must be one of" in run(*command[:-1], "--metric", "ece", code=1).output


def test_weights_of_the_labelled_rows_are_said_to_be_unused(run, tables, tmp_path):
    rows = (tmp_path / "old.csv").read_text("utf-8").split()
    ends = ["weight", *["2"] * (len(rows) - 1)]
    weighted = "\n".join(f"{row},{end}" for row, end in zip(rows, ends, strict=True))
    (tmp_path / "weighted.csv").write_text(weighted + "\n", "utf-8")
    found = run("estimate", "new.csv", "--reference", "weighted.csv")
    assert "the weights of weighted.csv are not used: an estimate takes none" in found.stderr
    assert found.stdout == run("estimate", "new.csv", "--reference", "old.csv").stdout
