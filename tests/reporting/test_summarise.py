import json

import numpy as np
import pytest
from scipy import stats

import calibrant as cb
from calibrant import metrics
from calibrant.errors import InputError


def summarise(*given, **options):
    return cb.report(*given, **options).to_dict()


@pytest.fixture(scope="module")
def sharp():
    """2,000 rows whose probabilities are twice as sure, in log odds, as they should be."""
    rng = np.random.default_rng(3)
    P = rng.dirichlet(np.ones(3), 2000)
    y = (rng.random(2000)[:, None] > P.cumsum(axis=1)).sum(axis=1)
    Q = P**2.0
    return y, P, Q / Q.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def automatic(sharp):
    """What the default calibrator makes of them: made once, it is the slowest."""
    y, _, Q = sharp
    return summarise(y[:800], Q[:800], n_resamples=100)


def by_key(summary):
    return {row["key"]: row for row in summary["metrics"]}


def test_is_plain_json(automatic):
    assert json.loads(json.dumps(automatic, allow_nan=False)) == automatic


def test_numbers_are_those_of_the_metrics(sharp):
    y, _, Q = sharp
    cal = cb.TemperatureScaling().fit(Q[:1000], y[:1000])
    rows = by_key(summarise(y[1000:], Q[1000:], calibrator=cal, n_resamples=100))
    after = cal.predict_proba(Q[1000:])
    for key, metric in [
        ("accuracy", metrics.accuracy),
        ("log_loss", metrics.log_loss),
        ("brier_score", metrics.brier_score),
        ("ece", metrics.expected_calibration_error),
        ("classwise_ece", metrics.classwise_calibration_error),
    ]:
        assert rows[key]["before"]["value"] == pytest.approx(metric(y[1000:], Q[1000:]), abs=1e-12)
        assert rows[key]["after"]["value"] == pytest.approx(metric(y[1000:], after), abs=1e-12)
        assert rows[key]["change"]["value"] == pytest.approx(
            rows[key]["after"]["value"] - rows[key]["before"]["value"]
        )


def test_paired_interval_of_a_mean_is_that_of_the_comparison(sharp):
    y, _, Q = sharp
    cal = cb.TemperatureScaling().fit(Q[:1000], y[:1000])
    row = by_key(summarise(y[1000:], Q[1000:], calibrator=cal, n_resamples=100))["log_loss"][
        "change"
    ]
    pair = {"before": Q[1000:], "after": cal.predict_proba(Q[1000:])}
    found = metrics.compare(y[1000:], pair, metrics=[metrics.log_loss]).rows[0]
    assert (row["value"], row["low"], row["high"]) == pytest.approx(
        (found.difference, found.low, found.high), rel=1e-5
    )
    own = np.arange(1000), y[1000:]
    d = -np.log(pair["after"][own]) + np.log(pair["before"][own])
    half = stats.t.ppf(0.975, 999) * d.std(ddof=1) / np.sqrt(1000)
    # A row of the other outcome may be missing: the limit on its side lies farther out.
    assert row["low"] < d.mean() - half
    assert row["high"] == pytest.approx(d.mean() + half, abs=0.05 * half)


def test_verdict_on_an_overconfident_model(automatic):
    assert automatic["verdict"]["model"] == "overconfident"
    assert automatic["verdict"]["calibration"] == "use"
    assert automatic["verdict"]["sentence"].startswith("The model is too sure: ")
    assert ", and the log loss falls by " in automatic["verdict"]["sentence"]
    assert automatic["calibrator"]["evaluation"] == "out-of-fold"
    assert automatic["confidence"]["in_sample"]
    assert by_key(automatic)["log_loss"]["change"]["meaning"] == "better"


def test_verdict_on_an_underconfident_model(sharp):
    y, P, _ = sharp
    flat = np.sqrt(P) / np.sqrt(P).sum(axis=1, keepdims=True)
    assert (
        summarise(y, flat, calibrator=cb.TemperatureScaling(), n_resamples=100)["verdict"]["model"]
        == "underconfident"
    )


def test_verdict_on_an_honest_model(sharp):
    y, P, _ = sharp
    summary = summarise(y, P, calibrator=cb.TemperatureScaling(), n_resamples=100)
    assert summary["verdict"]["model"] == "calibrated"
    assert summary["verdict"]["calibration"] == "no clear gain"


def test_a_harmful_calibrator_is_refused(sharp):
    y, P, Q = sharp
    harmful = cb.TemperatureScaling().fit(P, Q.argmax(axis=1))
    summary = summarise(y, P, calibrator=harmful, n_resamples=100)
    assert summary["verdict"]["calibration"] == "do not use"


def test_in_sample_numbers_are_found_out_and_drive_nothing(sharp):
    y, _, Q = sharp
    cal = cb.ConfidenceCalibrator().fit(Q, y)
    summary = summarise(y, Q, calibrator=cal, n_resamples=100)
    assert summary["calibrator"]["evaluation"] == "in-sample"
    assert summary["confidence"]["in_sample"]
    assert summary["verdict"]["calibration"] == "unknown"
    assert summary["classes"]["of"] == "before"
    assert any("in-sample" in caution for caution in summary["cautions"])
    fresh = summarise(
        y[:900],
        Q[:900],
        calibrator=cb.ConfidenceCalibrator().fit(Q[900:], y[900:]),
        n_resamples=100,
    )
    assert fresh["calibrator"]["evaluation"] == "held-out"
    assert not fresh["confidence"]["in_sample"]
    assert (
        summarise(y, Q, calibrator=cal, in_sample=False, n_resamples=100)["calibrator"][
            "evaluation"
        ]
        == "held-out"
    )


def test_held_out_rows(sharp):
    y, _, Q = sharp
    summary = summarise(
        y[:1000],
        Q[:1000],
        calibrator=cb.TemperatureScaling(),
        test=(y[1000:], Q[1000:]),
        n_resamples=100,
    )
    cal = cb.TemperatureScaling().fit(Q[:1000], y[:1000])
    assert summary["data"]["n"] == 1000
    assert summary["calibrator"]["n_fit"] == 1000
    assert by_key(summary)["log_loss"]["after"]["value"] == pytest.approx(
        metrics.log_loss(y[1000:], cal.predict_proba(Q[1000:]))
    )
    with pytest.raises(InputError, match="fitted already"):
        summarise(y, Q, calibrator=cal, test=(y, Q))


def test_identity_is_a_plain_evaluation(sharp):
    y, _, Q = sharp
    summary = summarise(y, Q, calibrator=cb.calibrators.Identity(), n_resamples=100)
    assert summary["calibrator"]["evaluation"] == "none"
    assert by_key(summary)["ece"]["after"] is None
    assert summary["curves"]["after"] is None


def test_logits_give_the_numbers_of_their_probabilities(sharp):
    y, _, Q = sharp
    a = summarise(y, Q, calibrator=cb.TemperatureScaling(), n_resamples=100)
    b = summarise(
        y, np.log(Q) + 3.0, calibrator=cb.TemperatureScaling(), inputs="logit", n_resamples=100
    )
    for left, right in zip(a["metrics"], b["metrics"], strict=True):
        assert left["after"]["value"] == pytest.approx(right["after"]["value"], abs=1e-9)


def test_weights_are_repetition(sharp):
    y, _, Q = (a[:300] for a in sharp)
    weight = np.arange(300) % 3
    rows = np.repeat(np.arange(300), weight)
    cal = cb.TemperatureScaling().fit(Q, y)
    a = summarise(y, Q, calibrator=cal, sample_weight=weight, in_sample=False, n_resamples=100)
    with pytest.warns(cb.errors.CalibrationWarning, match="repeat an earlier one"):
        b = summarise(y[rows], Q[rows], calibrator=cal, in_sample=False, n_resamples=100)
    assert a["data"]["n"] == b["data"]["n"]
    for left, right in zip(a["metrics"], b["metrics"], strict=True):
        assert left["after"]["value"] == pytest.approx(right["after"]["value"])
    assert [row["class"] for row in a["classes"]["rows"]] == [
        row["class"] for row in b["classes"]["rows"]
    ]
    assert a["curves"]["before"]["n"] == b["curves"]["before"]["n"]


def test_worst_class_leads_and_a_class_of_one_row_does_not():
    rng = np.random.default_rng(0)
    P = np.full((601, 4), 0.02)
    predicted = np.r_[np.repeat([0, 1, 2], 200), 3]
    P[np.arange(601), predicted] = 0.94
    y = predicted.copy()
    wrong = np.r_[np.arange(0, 200, 20), np.arange(200, 400, 2), np.arange(400, 600, 16), 600]
    y[wrong] = (y[wrong] + 1) % 4
    y[y == 3] = np.where(rng.random((y == 3).sum()) < 0.5, 0, 1)
    y[0] = 3
    rows = summarise(
        np.array(list("abcd"))[y],
        P,
        calibrator=cb.calibrators.Identity(),
        classes=list("abcd"),
        n_resamples=100,
    )["classes"]["rows"]
    assert rows[0]["class"] == "b"
    assert rows[0]["accuracy"] == pytest.approx(0.5)
    assert rows[0]["gap"] == pytest.approx(0.44)
    assert rows[0]["low"] < 0.44 < rows[0]["high"]


def test_cautions_name_sparse_and_absent_classes():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "rare"], [300, 290, 4])
    P = rng.dirichlet(np.ones(4), 594)
    summary = summarise(
        y,
        P,
        classes=["a", "b", "rare", "ghost"],
        calibrator=cb.calibrators.Identity(),
        n_resamples=100,
    )
    found = " ".join(summary["cautions"])
    assert "1 of 4 classes have fewer than 25 rows: rare (4)" in found
    assert "ghost never occurs" in found


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"calibrator": "temperature"}, "calibrator must be"),
        ({"calibrator": cb.Isotonic().fit([0.1, 0.9], [0, 1])}, "fitted Isotonic, a map"),
        ({"test": 3}, "test must be"),
        ({"y": None}, "y must be the true labels"),
    ],
)
def test_clear_errors(sharp, options, match):
    y, _, Q = sharp
    with pytest.raises(InputError, match=match):
        summarise(**{"y": y, "P": Q, **options})


@pytest.mark.parametrize(
    ("options", "fold_fits", "n_splits", "sentence"),
    [
        ({}, "pairs", 10, "each of its 10 folds by candidates fitted without it"),
        ({"n_splits": 3}, "refits", 3, "was fitted 3 times, each time without the rows"),
        ({"calibrator": cb.TemperatureScaling}, "refits", 5, "was fitted 5 times"),
    ],
)
def test_the_folds_are_stated(sharp, options, fold_fits, n_splits, sentence):
    y, _, Q = sharp
    report = cb.report(y[:200], Q[:200], n_resamples=0, **options)
    found = report.to_dict()["calibrator"]
    assert (found["fold_fits"], found["n_splits"]) == (fold_fits, n_splits)
    assert sentence in report.to_html()


def test_the_report_names_the_choice_of_one_fit(sharp):
    y, _, Q = sharp
    choice = summarise(y[:300], Q[:300], n_resamples=0)["choice"]
    assert choice["words"] == cb.AutoCalibrator().fit(Q[:300], y[:300]).explain()


@pytest.mark.parametrize("kind", ["event", "classes"])
def test_numbers_without_a_page_are_those_of_the_page(sharp, kind):
    y, P, _ = sharp
    given = {"event": (y[:500] > 0, P[:500, 0]), "classes": (y[:500], P[:500])}[kind]
    whole, lean = (
        summarise(*given, calibrator=cb.calibrators.Identity(), page=page) for page in (True, False)
    )
    assert lean == {key: whole[key] for key in lean}
    assert {"corp", "regions"} <= set(whole) - set(lean)
