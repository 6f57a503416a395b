"""What is exported gives what ``predict_proba`` gives on the very scores that a map was fitted
on (finding G17).
"""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import calibrant as cb
from calibrant.export import to_c

MAPS = [
    cb.calibrators.ScalingBinning(n_bins=30),
    cb.calibrators.VennAbers(),
    cb.calibrators.VennAbers(objective="brier"),
    cb.calibrators.VennAbers(n_splits=3),
    cb.calibrators.CumulativeConfidence(),
    cb.calibrators.CumulativeConfidence(cutoff="optimal"),
    cb.calibrators.HistogramBinning(strategy="mass", n_bins=50),
    cb.Isotonic(),
    cb.calibrators.NearIsotonic(),
]


def problem(n_classes):
    """Logits in steps of a half, each row shifted by another constant: their probabilities tie
    but for rounding.
    """
    rng = np.random.default_rng(n_classes)
    logits = np.round(rng.normal(size=(40 * n_classes + 100, n_classes)) * 3.0) / 2.0
    y = (logits + rng.gumbel(size=logits.shape) * 1.6).argmax(axis=1)
    return logits + 0.1 * rng.integers(0, 9, len(y))[:, None], y


def rows_to_judge(logits):
    """The rows of the fit, and those one unit of the last place away."""
    off = logits.copy()
    off[:, 0] = np.nextafter(off[:, 0], np.inf)
    return np.vstack(
        [
            logits,
            np.nextafter(logits, np.inf),
            np.nextafter(logits, -np.inf),
            off,
            logits.astype(np.float32),
        ]
    )


def calibrators():
    for n_classes in (2, 10):
        logits, y = problem(n_classes)
        for map in MAPS:
            yield cb.OneVsRest(map, inputs="logit").fit(logits, y), rows_to_judge(logits)
            yield (
                cb.ConfidenceCalibrator(map=map, inputs="logit").fit(logits, y),
                rows_to_judge(logits),
            )


@pytest.fixture(scope="module")
def fitted():
    return list(calibrators())


def agree(found, expected, calibrator):
    off = np.abs(found - expected).max()
    assert off < 1e-12, f"{calibrator!r}: {off}"


def test_compiled_agrees_at_ties(fitted):
    for calibrator, rows in fitted:
        agree(calibrator.compile()(rows), calibrator.predict_proba(rows), calibrator)


def test_one_row_compiled_agrees_at_ties(fitted):
    for calibrator, rows in fitted:
        run = calibrator.compile()
        agree(
            np.vstack([run(row[None]) for row in rows[:150]]),
            calibrator.predict_proba(rows[:150]),
            calibrator,
        )


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_c_agrees_at_ties(fitted, tmp_path):
    source = "".join(to_c(calibrator, name=f"case{j}") for j, (calibrator, _) in enumerate(fitted))
    (tmp_path / "cases.c").write_text(source, encoding="utf-8")
    subprocess.run(
        [
            "gcc",
            "-O0",
            "-shared",
            "-fPIC",
            "-o",
            tmp_path / "cases.so",
            tmp_path / "cases.c",
            "-lm",
        ],
        check=True,
    )
    library = ctypes.CDLL(str(tmp_path / "cases.so"))
    for j, (calibrator, rows) in enumerate(fitted):
        function, found = library[f"case{j}"], np.empty(rows.shape)
        function.restype = None
        for row, out in zip(np.ascontiguousarray(rows), found, strict=True):
            function(*[array.ctypes.data_as(ctypes.c_void_p) for array in (row, out)])
        agree(found, calibrator.predict_proba(rows), calibrator)


@pytest.mark.parametrize("map", MAPS, ids=repr)
def test_logits_plus_a_constant_are_the_same_logits(map):
    logits, y = problem(3)
    calibrator = cb.OneVsRest(map, inputs="logit").fit(logits, y)
    agree(calibrator.predict_proba(logits + 0.3), calibrator.predict_proba(logits), calibrator)
