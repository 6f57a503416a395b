"""H4: names of models, methods and groups are text once, at the door, or are refused."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError

RNG = np.random.default_rng(0)
GOOD = RNG.random(400)
Y = (RNG.random(400) < GOOD).astype(int)
BAD = RNG.random(400)


@pytest.mark.parametrize("call", [cb.compare, cb.report])
def test_models_with_one_text_are_refused(call):
    for names in ((1, "1"), (None, "None"), (True, "True"), (1.5, "1.5")):
        with pytest.raises(InputError, match="P must have names that differ as text"):
            call(Y, dict(zip(names, (GOOD, BAD), strict=True)))


def test_names_of_any_kind_are_texts():
    plain = cb.compare(Y, {"1": GOOD, "2": BAD}, baseline="2")
    assert cb.compare(Y, {1: GOOD, 2: BAD}, baseline=2).to_dict() == plain.to_dict()
    assert [row.second for row in plain.rows] == ["1", "1"]
    report = cb.report(Y, {1: GOOD, 2: BAD}).to_dict()
    assert [one["name"] for one in report["models"]] == ["1", "2"]


def test_calibrators_with_one_text_are_refused():
    with pytest.raises(InputError, match="calibrator must have names that differ as text"):
        cb.report(Y, GOOD, calibrator={1: cb.OneVsRest(cb.Platt()), "1": cb.TemperatureScaling()})


def test_columns_of_groups_with_one_text_are_refused():
    groups = {1: ["a", "b"] * 200, "1": ["c"] * 400}
    with pytest.raises(InputError, match="groups must have names that differ as text"):
        cb.audit(Y, GOOD, groups=groups)
    with pytest.raises(InputError, match="groups must have names that differ as text"):
        cb.compare_versions(GOOD, BAD, groups=groups)
