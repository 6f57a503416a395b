import numpy as np
import pytest

import calibrant as cb
from calibrant.cli.methods import EXPLORATORY, RENAMED, make, methods
from calibrant.core.estimators import offered
from calibrant.errors import InputError


def test_names():
    found = methods()
    assert isinstance(found["temperature"](), cb.TemperatureScaling)
    assert isinstance(found["identity"](), cb.calibrators.Identity)
    assert isinstance(found["histogram-binning"]().map, cb.calibrators.HistogramBinning)
    assert isinstance(found["temperature-isotonic"](), cb.calibrators.IsotonicOneVsRest)
    assert not {"confidence", *RENAMED} & set(found)
    assert set(RENAMED.values()) <= set(found)


@pytest.mark.parametrize(
    ("target", "wrapper"),
    [("classes", cb.OneVsRest), ("event", cb.OneVsRest), ("answer", cb.ConfidenceCalibrator)],
)
def test_every_exported_map_has_a_name(target, wrapper):
    # What other tests register has its package in the name.
    ours = [make() for name, make in methods(target).items() if ":" not in name]
    made = {type(m.map).__name__ for m in ours if isinstance(m, wrapper)}
    assert made == {cls.__name__ for cls in offered(cb.core.Map)}


@pytest.mark.parametrize("name", methods(given=["groups"]))
def test_each_fits_and_predicts(name):
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(2), 80)
    y = (rng.random(80) > P[:, 0]).astype(int)
    given = {} if name in methods() else {"groups": np.arange(80) % 2}
    Q = make(name).fit(P, y, **given).predict_proba(P, **given)
    np.testing.assert_allclose(Q.sum(axis=1), 1.0, atol=1e-9)


def test_maps_by_class():
    made = make("isotonic-by-class")
    assert isinstance(made.map, cb.Isotonic)
    assert made.per_class
    with pytest.raises(InputError, match="'temperature' is a calibrator of its own; leave"):
        make("temperature-by-class")
    assert all(make(name) for name in EXPLORATORY)


def test_unknown():
    with pytest.raises(InputError, match="identity"):
        make("magic")
