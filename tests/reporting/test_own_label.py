from dataclasses import replace

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.core.predictions import read


@pytest.fixture(scope="module")
def doubtful():
    """A model that is far too sure between two of three classes: its calibrated confidence falls
    below the rest of the row.
    """
    rng = np.random.default_rng(1)
    P = rng.dirichlet(np.ones(3) * 0.5, 1500)
    y = np.where(rng.random(1500) < 0.3, P.argmax(axis=1), np.argsort(P, axis=1)[:, 1])
    return P, y


def test_confidence_calibrators_are_scored_on_the_label_of_the_model(doubtful):
    P, y = doubtful
    fit, rest = slice(0, 750), slice(750, None)
    cal = cb.ConfidenceCalibrator(map=cb.calibrators.HistogramBinning()).fit(P[fit], y[fit])
    summary = cb.report(y[rest], P[rest], calibrator=cal, n_resamples=100).to_dict()
    rows = {row["key"]: row for row in summary["metrics"]}
    sure, right = cal.predict_confidence(P[rest]), (P[rest].argmax(axis=1) == y[rest]).astype(int)
    assert (cal.predict_proba(P[rest]).argmax(axis=1) != P[rest].argmax(axis=1)).mean() > 0.2
    assert rows["ece"]["after"]["value"] == pytest.approx(
        metrics.positive_class_calibration_error(right, sure), abs=1e-9
    )
    assert rows["accuracy"]["after"]["value"] == rows["accuracy"]["before"]["value"]
    curve = summary["curves"]["after"]
    n, confidence = np.array(curve["n"]), np.array(curve["confidence"])
    assert n @ confidence == pytest.approx(sure.sum())
    assert n @ np.array(curve["accuracy"]) == pytest.approx(right.sum())
    assert sum(
        row["predicted"] * row["confidence"] for row in summary["classes"]["rows"]
    ) == pytest.approx(sure.sum())


def test_out_of_fold_and_fitted_agree_on_what_is_measured(doubtful):
    P, y = doubtful
    summary = cb.report(
        y,
        P,
        calibrator=cb.ConfidenceCalibrator(map=cb.calibrators.HistogramBinning()),
        n_resamples=100,
    ).to_dict()
    rows = {row["key"]: row for row in summary["metrics"]}
    assert rows["accuracy"]["change"]["value"] == 0.0
    assert rows["ece"]["after"]["value"] < 0.1 < rows["ece"]["before"]["value"]


def test_parts_and_blocks_keep_label_and_confidence(doubtful):
    P, y = doubtful
    record = read(P, y)
    second = np.argsort(P, axis=1)[:, 1]
    kept = replace(record, own=second)
    part = kept.take(np.arange(0, 1500, 3))
    assert (part.predicted == second[::3]).all()
    assert np.allclose(part.confidence, np.take_along_axis(P, second[:, None], axis=1)[::3, 0])
    assert (
        np.concatenate([block.correct for block in kept.blocks(100)]).tolist()
        == (second == y).astype(float).tolist()
    )
    pair = kept.as_pair("answer")
    assert (pair.labels == (second == y)).all()
    assert (pair.confidence == kept.confidence).all()
    assert pair.confidence.max() <= 0.5 + 1e-9
