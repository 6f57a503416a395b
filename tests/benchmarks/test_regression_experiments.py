"""The regression paper's experiments, small: what is known of the problems is found, and every
figure is drawn.
"""

import shutil

import numpy as np
import pytest
from benchmarks.papers import stored
from benchmarks.papers.regression import data, figures, measure, network, tables
from benchmarks.papers.regression.methods import METHODS

SYNTHETIC = {"epochs": 1, "n_train": 640, "n_fit": 400, "n_test": 800}
BOXES = {"n_fit": 400, "n_test": 600}


def test_std_scaling_finds_the_known_factor_of_each_box_output():
    problem = data.boxes("trained", 0, n_fit=20_000, n_test=1)
    np.testing.assert_allclose(
        METHODS["STD scaling"].fit(problem.fit[:2], problem.fit[2]).scale_, data.FACTOR, rtol=0.02
    )
    np.testing.assert_allclose(
        problem.std.std(axis=0) / problem.std.mean(axis=0), data.SPREAD, rtol=0.05
    )


def test_the_network_learns_mean_and_std():
    rng = np.random.default_rng(0)
    x, y = data.draw(rng, 16_000)
    at = np.linspace(0.2, 1.0, 9)
    mean, std = network.trained(x, y, at, seed=0, epochs=8)
    assert np.abs(mean - at).mean() < 0.1
    assert np.abs(std / at - 1.0).mean() < 0.15


def test_random_uncertainty_is_right_by_intervals_and_wrong_by_the_ence():
    true = data.synthetic("true", 0, n_fit=3_000, n_test=10_000)
    random = data.Problem(
        true.mean, np.random.default_rng(5).uniform(1.0, 10.0, 13_000), true.y, true.true_std, 3_000
    )
    rows = measure.judged(random, tables.PAPERS_METHODS)
    assert rows["before"]["ENCE"] == pytest.approx(0.85, abs=0.02)
    assert rows["interval"]["interval error"] < 0.02
    assert min(rows[m]["ENCE"] for m in ("STD scaling", "interval")) > 0.3
    assert abs(rows["interval"]["rank correlation"]) < 0.05
    assert (
        max(measure.judged(true, ("before",))["before"][k] for k in ("interval error", "ENCE"))
        < 0.05
    )


def test_equation_13_counts_one_tail():
    assert tables.one_tail_variance() == pytest.approx(0.5 - 1.0 / (2.0 * np.pi))


def test_the_cauchy_example_holds_on_average_only():
    found = tables.cauchy(n=20_000)
    assert found["interval error"] < 0.01
    assert found["the same, tenth of rows with the smallest scale"] < 0.5


def test_all_tables_and_claims_are_there(capsys, monkeypatch, tmp_path):
    out = tables.run(1, SYNTHETIC, BOXES)
    shutil.copytree(stored.HERE / "regression", tmp_path / "regression")
    monkeypatch.setattr(stored, "HERE", tmp_path)
    tables.keep(out)
    said = capsys.readouterr().out
    for name in ("synthetic", "boxes", "claims"):
        n = len(stored.read("regression", name)) - 1
        assert f"regression/stored/{name}.csv: {n} of {n} rows stored" in said
    assert set(out["synthetic"]) == {"random", "trained", "true"}
    claims = dict(tables.claims(out))
    assert all(np.isfinite(number) for numbers in claims.values() for _, number, _ in numbers)
    assert claims["both leave c_v as it is (section 4.2, table 1, simulated boxes)"][0][1] < 1e-6, (
        "neither method changes the coefficient of variation, whatever the rows"
    )
    tables.show_table_1(out["boxes, trained"], out["factors, trained"])
    assert "tw" in capsys.readouterr().out


def test_all_figures_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    panels = {name: len(figure.axes) for name, figure in figures.drawn(0, SYNTHETIC, BOXES)}
    assert panels == {
        "figure_1": 3,
        "figure_2_simulated": 12,
        "figure_3": 1,
        "figure_4": 4,
        "figure_5": 3,
        "figure_6": 8,
        "cauchy": 3,
    }
