"""Everything compared, one fit and prediction each: the paper's baselines by our names, Hoki,
and its signal under other maps.
"""

import time
import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np
from benchmarks.papers.hoki.networks import ZOOMS
from benchmarks.papers.hoki.recal import ReCal

import calibrant as cb
from calibrant.errors import CalibrationWarning

BASELINES = {
    "uncalibrated": cb.calibrators.Identity,
    "TempS": cb.TemperatureScaling,
    "VecS": cb.calibrators.VectorScaling,
    "MS-ODIR": cb.calibrators.MatrixScaling,
    "Dir-ODIR": cb.calibrators.DirichletCalibration,
    "ETS": cb.calibrators.EnsembleTemperature,
    "IRM": cb.calibrators.IsotonicPreserving,
    "IROvA-TS": cb.calibrators.IsotonicOneVsRest,
}
#: The zooms from here on leave at least 0.7 of the image's size.
SLIGHT = 15


@dataclass(frozen=True)
class Result:
    """One method on one split: confidence in the label it answers, whether that is right, CPU
    seconds of the fit, the fitted object.
    """

    confidence: np.ndarray
    correct: np.ndarray
    seconds: float
    fitted: object


def stability_of(noise="auto"):
    return cb.calibrators.LabelStability(noise=noise)


def calibrators():
    """{name: function that makes an unfitted calibrator of log-probabilities}."""
    out = {label: partial(make, inputs="logit") for label, make in BASELINES.items()}
    out["Hoki"] = partial(cb.calibrators.HokiCalibrator, inputs="logit")
    out["Hoki, uniform"] = lambda: cb.calibrators.HokiCalibrator(
        signal=stability_of("uniform"), inputs="logit"
    )
    out["Hoki, sampled"] = lambda: cb.calibrators.HokiCalibrator(
        signal=cb.calibrators.LabelStability(method="sampled"), inputs="logit"
    )
    out["Hoki from confidence"] = partial(
        cb.calibrators.HokiCalibrator, start="confidence", inputs="logit"
    )
    for short, make in (
        ("isotonic", cb.Isotonic),
        ("kernel density", cb.calibrators.KernelDensity),
        ("histogram", cb.calibrators.HistogramBinning),
        ("Platt", cb.Platt),
        ("beta", cb.calibrators.Beta),
    ):
        out[f"stability + {short}"] = partial(_confidence, stability_of, make)
        out[f"top probability + {short}"] = partial(
            _confidence, cb.calibrators.TopProbability, make
        )
    return out


def _confidence(signal, make_map):
    return cb.ConfidenceCalibrator(signal=signal(), map=make_map(), per_class=False, inputs="logit")


def run(outputs, seed):
    """{method: Result} of one split."""
    fit, test = outputs.split(seed)
    logits, labels = outputs.logits, outputs.labels
    results = {}
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", CalibrationWarning
        )  # a few classes are scarce in halves of 5,000 rows
        for name, make in calibrators().items():
            start = time.process_time()
            calibrator = make().fit(logits[fit], labels[fit])
            seconds = time.process_time() - start
            results[name] = _result(calibrator, logits[test], labels[test], seconds)
    if outputs.zoomed is not None:
        results |= _with_images(outputs, seed, fit, test, results["Hoki"].fitted.signal_.scale_)
    return results


def _result(calibrator, logits, y, seconds, **given):
    """The confidence in the answer: the model's own label, or the new one where a method gives
    whole vectors.
    """
    if calibrator.tags.output == "confidence":
        return Result(
            calibrator.predict_confidence(logits, **given),
            logits.argmax(axis=1) == y,
            seconds,
            calibrator,
        )
    Q = calibrator.predict_proba(logits, **given)
    return Result(Q.max(axis=1), Q.argmax(axis=1) == y, seconds, calibrator)


def _with_images(outputs, seed, fit, test, scale):
    """ReCal, and Hoki on zoomed-out images and on the mix of zoom and noise of that scale; a
    row's number stands for its image.
    """
    logits, labels, zoomed = outputs.logits, outputs.labels, outputs.zoomed
    start = time.process_time()
    recal = ReCal(seed).fit(logits[fit], zoomed[:, fit], labels[fit])
    Q = recal.predict_proba(logits[test], zoomed[:, test])
    out = {
        "ReCal": Result(
            Q.max(axis=1), Q.argmax(axis=1) == labels[test], time.process_time() - start, recal
        )
    }
    every, slight = range(len(ZOOMS)), range(SLIGHT, len(ZOOMS))
    for name, noise, zooms in (
        ("Hoki, zoom", "auto", every),
        ("Hoki, zoom + noise", "gaussian", every),
        ("Hoki, slight zoom", "auto", slight),
        ("Hoki, slight zoom + noise", "gaussian", slight),
    ):
        model = partial(_said, zoomed)
        signal = cb.calibrators.LabelStability(
            noise=noise, scale=scale, transform=ZoomInTurn(zooms), model=model, n_draws=len(zooms)
        )
        start = time.process_time()
        calibrator = cb.calibrators.HokiCalibrator(signal=signal, inputs="logit").fit(
            logits[fit], labels[fit], X=fit[:, None]
        )
        out[name] = _result(
            calibrator, logits[test], labels[test], time.process_time() - start, X=test[:, None]
        )
    return out


class ZoomInTurn:
    """The transformation of images by their row number: each of the zooms in turn."""

    def __init__(self, zooms):
        self.zooms, self.turn = zooms, -1

    def __call__(self, rows, rng):
        self.turn = (self.turn + 1) % len(self.zooms)
        return np.column_stack([rows, np.full(len(rows), self.zooms[self.turn])])


def _said(zoomed, rows_and_zooms):
    rows, zooms = rows_and_zooms.T
    return zoomed[zooms, rows]
