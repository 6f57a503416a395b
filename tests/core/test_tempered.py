"""Scores after temperature scaling: by their formula, found once in a choice, in float32 where
classes are many.
"""

from dataclasses import replace

import numpy as np
import pytest

import calibrant as cb
from calibrant.core.given import Workspace
from calibrant.core.predictions import read
from calibrant.core.solving import least_nll, tempered_scores, tolerance_for


def _record(n_classes, workspace=None):
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.full(n_classes, 0.5), 300)
    y = (P.cumsum(axis=1) > rng.uniform(size=(300, 1))).argmax(axis=1)
    y = np.where(rng.random(300) < 0.3, rng.integers(0, n_classes, 300), y)
    return replace(read(P, y, classes=range(n_classes)), workspace=workspace)


def test_they_are_the_mixture_of_the_tempered_and_the_uniform():
    record = _record(4)
    z, temperature, mixing = tempered_scores(record)
    tempered = cb.TemperatureScaling().fit_record(record).predict_record(record)
    assert temperature == pytest.approx(1.0 / least_nll(record)[0])
    np.testing.assert_allclose(np.exp(z), tempered * 300 / 301 + 1 / 301 / 4, rtol=1e-9)
    assert mixing == 1 / 301
    assert tempered_scores(record)[0] is not z


@pytest.mark.parametrize(
    ("n_classes", "dtype", "tolerance"), [(4, np.float64, 1e-8), (30, np.float32, 1e-6)]
)
def test_fits_of_one_choice_share_them(n_classes, dtype, tolerance):
    record = _record(n_classes, Workspace.of_choice())
    z, _, _ = tempered_scores(record)
    assert z.dtype == dtype
    assert tolerance_for(z) == tolerance
    assert tempered_scores(record)[0] is z
    np.testing.assert_allclose(z, tempered_scores(replace(record, workspace=None))[0], rtol=1e-6)


@pytest.mark.parametrize(
    "cls",
    [
        cb.calibrators.StructuredVectorScaling,
        cb.calibrators.StructuredMatrixScaling,
        cb.calibrators.EnsembleMatrixScaling,
        cb.calibrators.IntraOrderPreserving,
    ],
)
def test_a_fit_on_them_in_float32_ends_where_one_in_float64_does(cls):
    exact, shared = _record(30), _record(30, Workspace.of_choice())
    P = exact.probabilities
    losses = [
        cb.metrics.log_loss(exact.labels, cls().fit_record(r).predict_proba(P), classes=range(30))
        for r in (exact, shared)
    ]
    assert losses[1] == pytest.approx(losses[0], abs=1e-7)
