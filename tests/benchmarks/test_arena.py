"""The arena: its arithmetic on hand-worked numbers, and a tiny run that is stopped, resumed and
reported.
"""

import numpy as np
import pytest
from benchmarks.arena import (
    __main__,
    automatic,
    cases,
    judged,
    predictions,
    results,
    run,
    scores,
    shifted,
    slices,
    table,
    tabular,
)
from benchmarks.arena.calibrators import LEFT_OUT, Limit, Method, code_of, discovered, without_words
from benchmarks.arena.report import report, sections

import calibrant as cb
from calibrant import metrics
from calibrant.core.estimators import offered

THREE = ["Identity", "TemperatureScaling", "OneVsRest(Platt)"]


# -- Arithmetic ------------------------------------------------------------------------------------

#: Three methods on four runs; the third did not enter the last run.
SCORE = np.array([[1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 3.0, 5.0], [3.0, 3.0, 1.0, np.nan]])


def test_win_shares_by_hand():
    # First against second: won, lost, tied, won. Against third (three runs): won, won, lost. Second
    # against third: won, won, lost.
    expected = np.array(
        [[np.nan, 2.5 / 4, 2 / 3], [1.5 / 4, np.nan, 2 / 3], [1 / 3, 1 / 3, np.nan]]
    )
    np.testing.assert_allclose(table.win_shares(SCORE), expected)


def test_win_rates_by_hand():
    np.testing.assert_allclose(
        table.win_rates(SCORE), [(2.5 / 4 + 2 / 3) / 2, (1.5 / 4 + 2 / 3) / 2, 1 / 3]
    )
    only_third = np.array([False, False, True])
    np.testing.assert_allclose(table.win_rates(SCORE, only_third), [2 / 3, 2 / 3, 0.0])


def test_win_rates_of_a_full_table_average_one_half():
    full = np.random.default_rng(0).integers(0, 4, (5, 9)).astype(float)
    assert table.win_rates(full).mean() == pytest.approx(0.5)


def test_mean_ranks_by_hand():
    # Ranks run by run: 1 2 3, 2 1 3, 2.5 2.5 1, 1 2 -.
    np.testing.assert_allclose(table.mean_ranks(SCORE), [6.5 / 4, 7.5 / 4, 7 / 3])


def test_share_worse_counts_more_than_half_a_percent_and_only_runs_entered():
    nothing = np.array([1.0, 1.0, 1.0, 1.0])
    score = np.array([[1.0049, 1.0051, 0.5, 2.0], [1.1, 1.0, np.nan, 1.0]])
    np.testing.assert_allclose(table.share_worse(score, nothing), [2 / 4, 1 / 3])


def test_change_is_the_median_percentage_and_its_interval_comes_from_cases():
    reference = np.array([1.0, 1.0, 2.0, 2.0])
    middle, low, high = table.change(
        np.array([0.9, 0.9, 2.2, 2.2]), reference, np.array([0, 0, 1, 1])
    )
    assert middle == pytest.approx(0.0, abs=1e-9)
    assert (low, high) == pytest.approx((-10.0, 10.0))


# -- Scores ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 5])
def test_scores_are_calibrants_metrics(n_classes):
    rng = np.random.default_rng(n_classes)
    P, y = rng.dirichlet(np.ones(n_classes), 400), rng.integers(0, n_classes, 400)
    assert scores.log_losses(P, y).mean() == pytest.approx(metrics.log_loss(y, P))
    assert scores.brier_scores(P, y).mean() == pytest.approx(metrics.brier_score(y, P))
    assert scores.top_label_error(P, y) == pytest.approx(metrics.expected_calibration_error(y, P))


@pytest.mark.parametrize(
    ("Q", "reason"),
    [
        (np.full((3, 2), np.nan), "not finite"),
        (np.zeros((3, 2)), "all zero"),
        (np.ones((3, 3)), "shape"),
    ],
)
def test_what_is_no_probability_is_refused(Q, reason):
    with pytest.raises(ValueError, match=reason):
        scores.checked(Q, (3, 2))


# -- Competitors -----------------------------------------------------------------------------------


def test_every_exported_calibrator_and_map_is_found():
    found = {method.name for method in discovered()}
    assert {
        "Identity",
        "TemperatureScaling",
        "StructuredMatrixScaling",
        "OneVsRest(Isotonic)",
        "OneVsRest(Beta)",
    } <= found
    assert not found & set(LEFT_OUT)
    maps = offered(cb.core.Map)
    assert {f"OneVsRest({cls.__name__})" for cls in maps} - found <= set(LEFT_OUT)


def test_the_fingerprint_of_a_method_follows_its_imports_and_no_others():
    code = {method.name: method.code for method in discovered()}
    assert code["TemperatureScaling"] != code["VectorScaling"] != code["OneVsRest(Isotonic)"]
    assert (
        code["OneVsRest(Isotonic)"]
        == code_of(cb.OneVsRest, cb.Isotonic)
        == code_of(cb.Isotonic, cb.OneVsRest)
    )
    # Words aside, and nothing but words: two sources that differ in their docstrings only are one.
    assert without_words('"""One."""\nx = 1  # one') == without_words('"""Two."""\nx = 1')
    assert without_words("x = 1") != without_words("x = 2")


def test_a_limit_keeps_a_method_out_of_large_runs():
    method = Method("slow", cb.calibrators.Identity, limit=Limit("slow", classes=10, cells=5_000))
    assert method.enters(500, 10)
    assert not method.enters(501, 10)
    assert not method.enters(50, 11)


class _Broken:
    def fit(self, P, y):
        raise RuntimeError("no")


def test_a_method_that_fails_leaves_the_predictions_as_they_were_and_says_so():
    P, y = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 0])
    result = run.one(Method("broken", _Broken), P, y, P, y)
    assert result["problem"] == "RuntimeError: no"
    np.testing.assert_allclose(result["log_loss"], -np.log([0.9, 0.2]), rtol=1e-6)


# -- The grid --------------------------------------------------------------------------------------


def test_the_default_grid_keeps_its_promise():
    runs = cases.grid()
    assert len(runs) <= 150
    assert len({r.name for r in runs}) == len(runs)
    assert {r.seed for r in runs} == {0}
    assert {r.size for r in runs} == set(cases.SIZES)
    assert set(cases.DATASETS) <= {r.case.group for r in runs}
    assert {f"{data}+{model}" for data in cases.DATASETS for model in cases.MODELS} >= {
        r.case.name for r in runs if "+" in r.case.name
    }
    assert {r.case.name.split("+")[1] for r in runs if "+" in r.case.name} == set(cases.MODELS)


def test_the_split_is_the_protocol():
    order = np.random.default_rng(3).permutation(11)
    fit, test = predictions.split(cases.Run(None, 4, 3), 11)
    np.testing.assert_array_equal(fit, order[:4])
    np.testing.assert_array_equal(test, order[5:])


def test_a_model_is_trained_once_and_its_predictions_kept(tmp_path, monkeypatch):
    case = cases.Case(
        "breast-cancer+naive-bayes", "breast-cancer", ("breast-cancer", "naive-bayes"), 569
    )
    P, y = predictions.load(case, tmp_path)
    assert P.shape == (569, 2)
    assert (P.argmax(axis=1) == y).mean() > 0.85
    monkeypatch.setattr(predictions, "_predict", None)
    np.testing.assert_array_equal(predictions.load(case, tmp_path)[0], P)


# -- A whole tiny arena ----------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """Three overconfident models' outputs as npz: two classes, two classes as (n,), three
    classes.
    """
    rng = np.random.default_rng(0)
    for name, n_classes in (("a", 2), ("b", 2), ("c", 3)):
        Z = rng.normal(size=(700, n_classes))
        P = np.exp(Z) / np.exp(Z).sum(axis=1, keepdims=True)
        y = (P.cumsum(axis=1) < rng.random((700, 1))).sum(axis=1)
        sharp = P**3 / (P**3).sum(axis=1, keepdims=True)
        np.savez(
            tmp_path / f"{name}.npz", probabilities=sharp[:, 1] if name == "b" else sharp, labels=y
        )
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    return tmp_path


def of_250(folder, seeds=1):
    """The runs of 250 rows."""
    return [r for r in cases.runs_of(folder, seeds) if r.size == 250]


def test_a_tiny_arena_runs_resumes_and_reports(folder, tmp_path):
    assert [(r.case.name, r.size) for r in cases.runs_of(folder, seeds=1)] == [
        (name, n) for name in "abc" for n in (100, 250)
    ]
    runs, out = of_250(folder), tmp_path / "results"
    assert run.race(runs[:2], names=THREE, folder=out) == 6
    kept = results.path_of(out, runs[0].name, "Identity")
    before = kept.stat().st_mtime_ns
    assert run.race(runs, names=THREE, folder=out) == 3, "only the third case was missing"
    assert kept.stat().st_mtime_ns == before
    assert run.race(runs[:1], names=["Identity"], folder=out, again=True) == 1
    results.save(
        out,
        runs[0].name,
        "Identity",
        **results.load(out, runs[0].name, "Identity") | {"code": "older"},
    )
    assert "run once more: Identity." in report(runs, out)
    assert run.race(runs, names=THREE, folder=out) == 1, "what older code made is made anew"
    found = table.collect(runs, out)
    assert found.methods == sorted(THREE)
    assert not found.failed.any()
    i, j = found.methods.index("Identity"), found.methods.index("TemperatureScaling")
    assert (found.score["log_loss"][j] < found.score["log_loss"][i]).all(), (
        "the cube of the truth is easy to undo"
    )
    text = report(runs, out)
    assert "Two classes: 2 runs of 2 cases" in text
    assert "More than two classes: 1 runs of 1 cases" in text
    assert any(out.glob("summary.*"))


def test_a_tiny_arena_with_a_peer_writes_its_page(folder, tmp_path):
    pytest.importorskip("matplotlib")
    runs, out, docs = of_250(folder), tmp_path / "results", tmp_path / "docs"
    run.race(runs, names=THREE, folder=out)
    for r in runs:
        # A peer that is exactly temperature scaling: half of the duel each, clearly better nowhere.
        copied = results.load(out, r.name, "TemperatureScaling") | {"source": "peer"}
        results.save(out, r.name, "copy", **copied)
    docs.mkdir()
    text = report(runs, out, docs)
    assert "copy" in text
    assert table.duel(table.collect(runs, out), "copy", "TemperatureScaling", "brier", out) == (
        0.5,
        0,
        0,
        3,
    )
    page = (docs / "arena.rst").read_text(encoding="utf-8")
    assert "**TemperatureScaling**" in page
    assert "- copy" in page
    assert (docs / "_static" / "arena_win_rates_1.png").stat().st_size > 1_000


def test_a_folder_of_ones_own_runs_from_the_command_line(folder, tmp_path, monkeypatch, capsys):
    out = tmp_path / "results"
    options = [
        "--folder",
        str(folder),
        "--seeds",
        "1",
        "--jobs",
        "1",
        "--results",
        str(out),
        "--methods",
        "Identity",
        "AutoCalibrator",
    ]
    monkeypatch.setattr("sys.argv", ["arena", *options])
    __main__.main()
    said = capsys.readouterr().out
    assert "6 runs, 2 of our methods, 0 peers." in said
    assert (
        "AutoCalibrator, log loss: win rate 1.000 and mean rank 1.0, above every single method"
        " (Identity 0.000 and 2.0)" in said
    )


def test_the_page_by_rows_counts_each_size_by_itself():
    pd = pytest.importorskip("pandas")
    from benchmarks.arena import by_rows

    losses = {"Identity": (1.0, 1.0, 1.0), "Good": (0.5, 1.02, 0.9), "theirs": (2.0, 0.5, 0.8)}
    sizes = (("a", 100), ("b", 100), ("a", 250))
    summary = pd.DataFrame(
        [
            {
                "method": m,
                "peer": m == "theirs",
                "case": case,
                "size": size,
                "seed": 0,
                "n_classes": 2,
                "log_loss": loss,
            }
            for m, row in losses.items()
            for (case, size), loss in zip(sizes, row, strict=True)
        ]
    )
    found, runs = by_rows.by_size(summary, 100)
    assert runs == 2
    # Good: one of two runs won against each other; worse than nothing in one of two.
    assert found == {"Identity": (0.5, 0.0), "Good": (0.5, 0.5), "theirs": (0.5, 0.5)}
    text = by_rows.page(summary)
    assert "Two classes (2 runs of 100 rows, 1 runs of 250 rows)" in text
    assert "   * - **Good**\n     - 0.500\n     - 50 %\n     - 0.500\n     - 0 %" in text
    assert "   * - theirs\n" in text
    assert "More than two classes" not in text


def test_a_method_from_outside_runs_beside_ours(folder, tmp_path, monkeypatch, capsys):
    (tmp_path / "their_package.py").write_text(
        "class Halfway:\n"
        "    def fit(self, P, y):\n        return self\n"
        "    def predict_proba(self, P):\n        return 0.5 * P + 0.5 / P.shape[1]\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    out = tmp_path / "results"
    options = [
        "--folder",
        str(folder),
        "--seeds",
        "1",
        "--jobs",
        "1",
        "--results",
        str(out),
        "--methods",
        "Identity",
        "TemperatureScaling",
    ]
    monkeypatch.setattr("sys.argv", ["arena", *options, "--method", "their_package:Halfway"])
    __main__.main()
    said = capsys.readouterr().out
    assert "6 runs, 2 of our methods, 1 peers." in said
    assert "Halfway" in said
    theirs, nothing = (
        results.load(out, "a~250~0", name)["log_loss"].mean() for name in ("Halfway", "Identity")
    )
    assert theirs < nothing
    for wrong, why in (
        ("their_package:Nobody", "has no attribute"),
        ("nowhere:X", "No module"),
        ("collections:Counter", "has no fit"),
    ):
        monkeypatch.setattr("sys.argv", ["arena", *options, "--method", wrong])
        with pytest.raises(SystemExit, match=why):
            __main__.main()


def test_where_the_automatic_choice_loses_is_said_with_numbers(folder, tmp_path):
    pytest.importorskip("matplotlib")
    runs, out, docs = of_250(folder), tmp_path / "results", tmp_path / "docs"
    run.race(runs, names=["Identity"], folder=out)
    for r in runs:
        base = results.load(out, r.name, "Identity")
        results.save(
            out,
            r.name,
            "AutoCalibrator",
            **base | {"log_loss": 0.9 * base["log_loss"], "status": "pooled"},
        )
        # A peer that is a tenth better still in two of three runs, and a little worse in the other.
        factor = 0.91 if r.case.name == "b" else 0.81
        results.save(
            out, r.name, "peer", **base | {"log_loss": factor * base["log_loss"], "source": "peer"}
        )
    docs.mkdir()
    text = report(runs, out, docs)
    assert (
        "AutoCalibrator, log loss: win rate 0.750 and mean rank 1.5, NOT above every single method"
        " (Identity 0.000 and 3.0" in text
    )
    part = dict(sections(table.shared(table.collect(runs, out))))["Two classes"]
    best, rows = automatic.lost(part, out)
    assert best == "peer"
    name, n, theirs, mine, change, errors, did = rows[0]
    assert (len(rows), name, n, did) == (1, runs[0].name, 250, "pooled")
    assert change == pytest.approx(100 * (0.9 / 0.81 - 1), rel=1e-4)
    assert mine > theirs
    assert errors > 1.96
    page = (docs / "arena.rst").read_text(encoding="utf-8")
    assert "Where AutoCalibrator loses, and why" in page
    assert "``peer`` is clearly better in 1 of 2 runs, 1 of them with at most 250" in page


def test_a_method_with_few_of_the_runs_is_left_out_by_name(folder, tmp_path):
    runs, out = of_250(folder, seeds=2), tmp_path / "results"
    run.race(runs, names=["Identity"], folder=out)
    run.race(runs[:1], names=["TemperatureScaling"], folder=out)
    text = report(runs, out)
    assert "Left out, fewer than half of these runs done: TemperatureScaling." in text
    assert "\nTemperatureScaling" not in text


def test_no_results_is_said(tmp_path):
    assert "run ours first" in report(cases.grid(), tmp_path)


def test_an_unknown_method_is_named():
    with pytest.raises(SystemExit, match="no such method: Nonsense"):
        run.chosen(discovered(), ["Nonsense"])


# -- Tabular sets ----------------------------------------------------------------------------------


def test_the_set_aside_half_is_about_half_and_no_set_is_named_twice():
    names = [
        *tabular.R_SETS,
        *(f"survset-{name}" for name in tabular.SURVSET),
        *tabular.STATSMODELS,
    ]
    assert len(set(names)) == len(names) >= 60
    assert 0.4 < np.mean([tabular.set_aside(name) for name in names]) < 0.6
    assert not any(word in name.lower() for name in names for word in ("protein", "naval", "wine"))


def test_words_become_indicators_and_what_is_missing_the_median():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": [1.0, np.nan, 3.0], "word": ["a", "b", "a"], "same": [1, 1, 1]})
    np.testing.assert_array_equal(
        tabular.numbers(frame), [[1.0, 1.0, 0.0], [2.0, 0.0, 1.0], [3.0, 1.0, 0.0]]
    )


def test_the_best_peer_the_peer_chosen_and_the_oracle_by_hand(tmp_path):
    runs = [cases.Run(cases.Case(f"tabular-x{j}+svm", "x", None, 500), 100, 0) for j in range(2)]
    ours, nothing, first, second = [0.5, 0.38], [0.6, 0.3], [0.5, 0.5], [0.55, 0.35]
    score = {
        "log_loss": np.array([ours, nothing, first, second]),
        "folds": np.array([[np.nan] * 2, [np.nan] * 2, [0.7, 0.3], [0.6, 0.4]]),
    }
    blank = np.zeros((4, 2))
    names, peer = ["AutoCalibrator", "Identity", "one", "two"], np.array([False, False, True, True])
    part = table.Table(
        names, peer, runs, np.arange(2), np.full(2, 2), score, blank, blank, blank, {}, {}
    )
    np.testing.assert_allclose(slices.chosen_peer(part), [0.55, 0.5])
    for j, r in enumerate(runs):
        for name, mean in (("AutoCalibrator", ours[j]), ("Identity", nothing[j])):
            # The second run is worse in every row, so clearly.
            results.save(tmp_path, r.name, name, log_loss=np.full(9, mean))
    cells = slices.rows(part, tmp_path)[0]
    # At the first run as good as the best peer, at the second worse than nothing; the oracle gains
    # 0.1.
    assert cells[:3] == ("all", "2", "0.4400")
    # Over the first peer tied and won, over the second won and lost.
    assert cells[4:8] == ("0.625", "50 %", "0 %", "0.20")
    assert cells[8:] == ("50.0 % (1.3, 98.7)", "1")


def test_thinned_out_rows_leave_a_quarter_of_one_class():
    labels = np.random.default_rng(0).integers(0, 2, 8_000)
    left = labels[
        shifted.kept(cases.Run(cases.Case("tabular-x+svm", "x", None, 8_000), 100, 0), labels)
    ]
    counts = np.sort(np.bincount(left))
    assert counts[0] == pytest.approx(1_000, abs=100)
    assert counts[1] == np.bincount(labels).max() or counts[1] == np.bincount(labels).min()


def test_goals_say_reached_or_missed():
    row = ("all", "2", "0.4", "-3 %", "0.9", "70 %", "10 %", "0.5", "2.0 % (0.1, 9.0)", "0")
    said = judged._goals({"aside": [row, ("100 rows", *row[1:8], "4.0 % (1.0, 9.0)", "1")]})
    assert "- win rate over peers, two classes: 0.9, to be at least 0.83: reached." in said
    assert (
        "- runs of 100 rows made worse, two classes, %: 4.0 % (1.0, 9.0), to be at most 3: missed."
        in said
    )
