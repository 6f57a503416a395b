"""Ours beside the numbers that ``python -m benchmarks.event.against_r --store`` had from R."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from benchmarks.event.against_r import kitti, ours, points, within

from calibrant.errors import CalibrationWarning

LINES = [
    json.loads(line)
    for line in Path(__file__).with_name("r_values.jsonl").read_text(encoding="utf-8").splitlines()
]
CASES = {line["case"]: line for line in LINES[1:]}


def beside(p, y, r):
    """Every number within its distance of R's, and which were compared."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        mine = ours(p, y, points(r))
    compared = {
        key: value
        for key, value in r.items()
        if not key.startswith("at_") and within(key) is not None
    }
    far = {
        key: (mine[key], value)
        for key, value in compared.items()
        if not abs(mine[key] - value) <= within(key)
    }
    assert not far
    return compared


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "p" in case])
def test_it_is_what_r_says(name):
    case = CASES[name]
    compared = beside(np.array(case["p"]), np.array(list(case["y"]), dtype=int), case["r"])
    assert {
        "slope",
        "joint_intercept",
        "offset_intercept",
        "ici_direct",
        "loess_3",
        "spline5_3",
        "net_benefit_0.2",
    } <= set(compared)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "p" not in case])
def test_it_is_what_r_says_of_stored_outputs(name):
    cases = kitti()
    if name not in cases:
        pytest.skip("needs the files of CALIBRANT_DATA")
    beside(*cases[name], CASES[name]["r"])
