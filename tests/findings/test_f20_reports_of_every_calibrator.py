"""F20: a report takes every calibrator that can be made, fitted or not, for two classes and for
three.
"""

import json
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import calibrant as cb
from calibrant.core.estimators import offered

N = 90


def made():
    """Every exported calibrator, the wrappers around each kind of map among them."""
    classes = offered(cb.core.Calibrator)
    per_class = cb.ConfidenceCalibrator(map=cb.calibrators.KernelDensity(), per_class=True)
    return [
        *(cls() for cls in classes),
        cb.OneVsRest(cb.Isotonic()),
        cb.calibrators.PerClass(cb.Platt()),
        per_class,
    ]


def data(n_classes):
    rng = np.random.default_rng(0)
    y = np.arange(N) % n_classes
    X = rng.normal(size=(N, 3)) + y[:, None]
    logits = 2.0 * np.eye(n_classes)[y] + rng.normal(size=(N, n_classes))
    P = np.exp(logits)
    reference = (rng.normal(size=(N, 3)) + y[:, None], y)
    return P / P.sum(axis=1, keepdims=True), y, X, reference


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("calibrator", made(), ids=lambda c: " ".join(repr(c).split()))
def test_f20_a_report_takes_every_calibrator(calibrator, n_classes):
    P, y, X, reference = data(n_classes)
    if calibrator.tags.binary_only and n_classes > 2:
        pytest.skip("takes two classes")
    used = {"X": X} if calibrator.tags.uses_features else {}
    used |= {"groups": np.where(X[:, 0] > 0.0, "a", "b")} if calibrator.tags.uses_groups else {}
    needed = {"reference": reference} if calibrator.tags.needs_reference else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for one in (calibrator, clone(calibrator).fit(P, y, **used, **needed)):
            found = cb.report(y, P, calibrator=one, n_resamples=20, n_splits=2, **used, **needed)
            drawn = found.to_dict()["confidence"]
            assert drawn is None or None not in drawn["points"]["confidence"]
            assert json.loads(found.to_json())["calibrator"]["class"] == type(calibrator).__name__


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "calibrator",
    [cb.OneVsRest(), cb.calibrators.PerClass(), cb.ConfidenceCalibrator(per_class=True)],
    ids=repr,
)
def test_f20_the_class_table_takes_every_wrapper(calibrator, n_classes):
    P, y, _, _ = data(n_classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = clone(calibrator).fit(P, y)
    assert len(cb.calibrators.class_report(y, P, calibrator=fitted).method) == n_classes
    assert cb.calibrators.confidence_curve(y, P, fitted, 1).n > 0
