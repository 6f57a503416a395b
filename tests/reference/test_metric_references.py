"""Our numbers against other libraries', where the definitions agree; their numbers are stored,
with the script that made them.
"""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from calibrant import metrics

HERE = Path(__file__).parent
KNOWN = {
    name: found["values"]
    for name, found in json.loads(
        (HERE / "metric_references.json").read_text(encoding="utf-8")
    ).items()
}
_spec = importlib.util.spec_from_file_location(
    "make_metric_references", HERE / "make_metric_references.py"
)
_make = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_make)

YB, PB = _make.binary()
Y, P = _make.multiclass()
#: torchmetrics and probmetrics sum in float32.
SINGLE = 2e-6


@pytest.mark.parametrize(("name", "norm"), [("l1", 1), ("l2", 2), ("max", "max")])
def test_torchmetrics(name, norm):
    known = KNOWN["torchmetrics"]
    assert metrics.expected_calibration_error(Y, P, norm=norm) == pytest.approx(
        known[f"top label {name}"], abs=SINGLE
    )
    assert metrics.positive_class_calibration_error(YB, PB, norm=norm) == pytest.approx(
        known[f"positive {name}"], abs=SINGLE
    )


def test_netcal():
    # Its own sums carry single-precision noise; its bins and formula are ours.
    assert metrics.expected_calibration_error(Y, P) == pytest.approx(
        KNOWN["netcal"]["ECE"], abs=1e-6
    )
    assert metrics.maximum_calibration_error(Y, P) == pytest.approx(
        KNOWN["netcal"]["MCE"], abs=1e-6
    )


def test_probmetrics():
    known = KNOWN["probmetrics"]
    assert metrics.log_loss(Y, P) == pytest.approx(known["logloss"], abs=1e-12)
    assert metrics.brier_score(Y, P) == pytest.approx(known["brier"], abs=1e-12)
    assert metrics.expected_calibration_error(Y, P) == pytest.approx(known["ece-15"], abs=SINGLE)
    assert metrics.root_mean_square_calibration_error(Y, P) == pytest.approx(
        known["rmsce-15"], abs=SINGLE
    )
    assert metrics.maximum_calibration_error(Y, P) == pytest.approx(known["mce-15"], abs=SINGLE)


def test_relplot():
    """It searches the width to 1e-3; the equation it solves is ours."""
    assert metrics.smooth_calibration_error(YB, PB, target="event") == pytest.approx(
        KNOWN["relplot"]["smECE"], abs=1e-3
    )


@pytest.mark.parametrize("score", ["brier", "log"])
@pytest.mark.parametrize("weighted", [False, True])
def test_model_diagnostics(score, weighted):
    p = np.round(PB, 2).clip(0.01, 0.99)
    weight = np.random.default_rng(22).integers(1, 4, len(YB)) if weighted else None
    decompose = metrics.brier_decomposition if score == "brier" else metrics.log_loss_decomposition
    parts = decompose(YB, p, target="event", sample_weight=weight)
    known = KNOWN["model-diagnostics"][f"{score} {'weighted' if weighted else 'plain'}"]
    assert [
        parts.score,
        parts.miscalibration,
        parts.discrimination,
        parts.uncertainty,
    ] == pytest.approx(known, abs=1e-12)


def test_uncertainty_calibration():
    """Its equal-mass bins put a row or two elsewhere than ours at an edge."""
    known = KNOWN["uncertainty-calibration"]["debiased, equal mass, top label"]
    assert metrics.debiased_calibration_error(YB, PB) == pytest.approx(known, rel=0.05)


def test_scikit_learn():
    known = KNOWN["scikit-learn"]
    assert metrics.log_loss(Y, P) == pytest.approx(known["log_loss"], abs=1e-12)
    assert metrics.brier_score(Y, P) == pytest.approx(known["brier_score_loss"], abs=1e-12)
    assert metrics.calibration_slope(YB, PB) == pytest.approx(known["slope"], abs=1e-4)
    assert metrics.confidence_auroc(Y, P) == pytest.approx(
        known["auroc of the confidence"], abs=1e-12
    )
