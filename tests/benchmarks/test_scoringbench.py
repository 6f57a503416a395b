"""ScoringBench's protocol: its scores beside the numbers of its own code, its folds and files."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from benchmarks.regression_arena import scoringbench  # noqa: E402

#: What ``scoringbench.metrics.compute_metrics`` (fc34bdc, torch 2.13) gives of ``test_its_scores``.
RECORDED = {
    "mae": 2.4,
    "rmse": 3.50714,
    "r2": 0.299633,
    "crps": 1.8562,
    "log_score": 1.4065,
    "sharpness": 1.37457,
    "dispersion": 0.734741,
    "coverage_90": 0.666667,
    "interval_score_90": 19.7959,
    "coverage_95": 0.666667,
    "interval_score_95": 32.3265,
    "crls": 3.60153,
    "cde_loss": -0.285834,
    "wcrps_left": 0.688567,
    "wcrps_right": 0.459195,
    "wcrps_center": 0.347406,
    "energy_score_beta_0.1": 0.541007,
    "energy_score_beta_0.3": 0.662989,
    "energy_score_beta_0.5": 0.852802,
    "energy_score_beta_0.7": 1.13921,
    "energy_score_beta_0.9": 1.56786,
    "energy_score_beta_1.0": 1.8562,
    "energy_score_beta_1.1": 2.20895,
    "energy_score_beta_1.3": 3.16961,
    "energy_score_beta_1.5": 4.61292,
    "energy_score_beta_1.7": 6.78732,
    "energy_score_beta_1.8": 8.26028,
    "energy_score_beta_1.9": 10.0716,
    "cressie_read_lambda_-0.5": 1.94003,
    "cressie_read_lambda_-0.2": 1.50222,
    "cressie_read_lambda_0.2": 1.38896,
}


def test_its_scores():
    middle, spread = np.array([[0.0], [2.0], [-1.0]]), np.array([[1.0], [0.5], [2.0]])
    masses, edges = scoringbench.histogram(middle + spread * np.linspace(-2.0, 2.0, 99))
    found = scoringbench.scores(masses, edges, np.array([0.3, 2.9, -7.0]))
    assert found == pytest.approx(RECORDED, rel=2e-5)


def test_a_histogram_has_a_bin_beyond_either_end_and_its_quantiles_in_order():
    quantiles = np.linspace(0.0, 98.0, 99)[None, ::-1]
    masses, edges = scoringbench.histogram(quantiles)
    np.testing.assert_allclose(edges[0], np.arange(-1.0, 100.0))
    assert masses.sum() == pytest.approx(1.0)


def test_folds_are_its_own():
    found = list(scoringbench.folds(10_000))
    assert [(len(train), len(test)) for train, test in found] == [(2_400, 600)] * 5
    assert all(not set(train) & set(test) for train, test in found)
    # Its caps are drawn with the seeds 42 * 10007 + fold, and one more for the test rows.
    from sklearn.model_selection import KFold

    train, test = list(KFold(5, shuffle=True, random_state=42).split(np.zeros(10_000)))[1]
    for rows, cap, k, part in ((train, 2_400, 1, 0), (test, 600, 2, 1)):
        drawn = np.random.default_rng(42 * 10_007 + k).choice(rows, cap, replace=False)
        np.testing.assert_array_equal(found[1][part], drawn)


def test_the_command_writes_its_files_and_ranks(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(0)
    data, output, theirs = (tmp_path / name for name in ("data", "output", "theirs"))
    data.mkdir()
    X = rng.normal(size=(200, 2))
    y = X[:, 0] + 0.3 * rng.normal(size=200)
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(word="w", outcome=y)
    frame.to_csv(data / "small.csv", index=False)
    options = ["--data", str(data), "--output", str(output), "--models", "mean-variance"]
    monkeypatch.setattr(scoringbench.MODELS["mean-variance"], "__defaults__", (0.5, 15))
    theirs.mkdir()
    rows = [{"model": "best", "dataset": "small", "fold": k, "crps": 0.0} for k in range(5)]
    pd.DataFrame(rows).to_parquet(theirs / "best.parquet")
    monkeypatch.setattr("sys.argv", ["x", *options, "--beside", str(theirs)])
    scoringbench.main()
    printed = capsys.readouterr().out
    assert "small: 3 new results" in printed
    assert printed.splitlines()[1].split() == [
        "best",
        "rank",
        "1.00",
        "crps",
        "0.0000",
        "(1",
        "sets)",
    ]
    file = output / "raw" / "mean-variance+AutoRegressionCalibrator" / "small.parquet"
    kept = pd.read_parquet(file)
    assert list(kept["fold"]) == [0, 1, 2, 3, 4]
    assert set(RECORDED) <= set(kept.columns)
    assert 0.05 < kept["crps"].mean() < 0.6
    scoringbench.main()
    assert "small: 0 new results" in capsys.readouterr().out
