"""The reference reader of docs/reader gives what predict gives, for everything that can be
exported.
"""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import calibrant as cb
from calibrant.core.expression import PRIMITIVES
from calibrant.errors import InputError
from calibrant.export import to_json

READERS = Path(__file__).parents[2] / "docs" / "reader"


def loaded(name):
    spec = importlib.util.spec_from_file_location(name, READERS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def reader():
    return loaded("read_expression")


def test_the_reader_gives_what_predict_gives(cases, reader):
    used = set()
    for case in cases:
        exported = json.loads(to_json(case.fitted))
        used |= {node["op"] for node in exported["nodes"]}
        out = np.array([reader.run(exported, row) for row in case.rows.tolist()])
        assert np.abs(out - case.expected).max() < 1e-12, case.name
    assert used | {"max"} >= set(PRIMITIVES), "a primitive that nothing uses, or no case for it"


def test_the_reader_is_short():
    assert len((READERS / "read_expression.py").read_text(encoding="utf-8").splitlines()) <= 110


def test_the_head_says_what_goes_in():
    cal = cb.TemperatureScaling(classes=["no", "yes"]).fit(
        [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], ["no", "yes", "yes"]
    )
    exported = json.loads(to_json(cal))
    assert {k: v for k, v in exported.items() if k != "nodes"} == {
        "format": "calibrant expression",
        "schema": 1,
        "method": "TemperatureScaling",
        "inputs": "probability",
        "classes": ["no", "yes"],
    }


def test_the_reader_finds_the_positions_of_groups(cases):
    reader = loaded("read_levels")
    some = [case for case in cases if case.groups is not None]
    assert some
    for case in some:
        described = json.loads(to_json(case.fitted))["groups"]
        assert [column["name"] for column in described] == list(case.groups)
        for row, codes in zip(
            case.groups.to_numpy().tolist(), case.rows[:, -3:].tolist(), strict=True
        ):
            assert [
                reader.position(column, value) for column, value in zip(described, row, strict=True)
            ] == codes
    assert any(case.fitted.offsets_.used for case in some), "groups that say nothing prove nothing"


def test_error_bars_name_what_comes_out():
    cal = cb.StdScaling().fit([0.0, 0.0], [2.0, -2.0], std=[1.0, 1.0])
    exported = json.loads(to_json(cal, quantiles=(0.1, 0.9)))
    assert (exported["inputs"], exported["outputs"]) == (
        "forecast",
        ["mean", "std", "q0.1", "q0.9"],
    )
    with pytest.raises(InputError, match="quantiles must be a list of numbers above 0"):
        to_json(cal, quantiles=(0.0, 0.9))
    with pytest.raises(InputError, match="of one output are exported"):
        to_json(cb.StdScaling().fit(np.zeros((2, 2)), np.ones((2, 2)), std=np.ones((2, 2))))
    with pytest.raises(InputError, match=r"that of 0.99\d* is infinite"):
        to_json(
            cb.ConformalIntervals().fit([0.0] * 9, np.arange(9.0), std=[1.0] * 9),
            quantiles=(0.5, 0.999),
        )


def test_other_objects_are_refused():
    with pytest.raises(
        InputError, match="only fitted calibrators and maps can be exported; got dict"
    ):
        to_json({})


def test_options_of_the_wrong_kind_are_refused():
    cal = cb.StdScaling().fit([0.0, 0.0], [2.0, -2.0], std=[1.0, 1.0])
    for quantiles in (5, "0.5", (0.05, "x"), True):
        with pytest.raises(InputError, match="quantiles must be a list of numbers"):
            to_json(cal, quantiles=quantiles)
    for indent in ("x", -1, True):
        with pytest.raises(InputError, match="indent must be a whole number of at least 0"):
            to_json(cal, indent=indent)
