"""Small wrong changes: how they are made, put in and taken back, which tests are near, and that
those made by hand are all noticed.
"""

import shutil
import tomllib
from pathlib import Path

import numpy as np
from tools.mutants import hand
from tools.mutants.making import compiled, mutants
from tools.mutants.near import Nearness
from tools.mutants.swapping import functions_of_file, put_in

from calibrant._numerics import conformal, online

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "calibrant"
SOURCE = '''"""A module with 1 number in its text."""
LEAST = 2

def kept(x: "1 + 1", at: int = 3) -> bool:
    if not x < at:
        raise ValueError(f"{x + 1}")
    return max(x, 0) == 1 and -x <= LEAST
'''


def test_every_change_made_by_hand_is_noticed():
    assert len(hand.HAND) >= 40
    assert hand.survivors() == []


def test_what_is_changed_and_what_is_not():
    found = [f"{one.where}: {one.change}" for one in mutants("a.py", SOURCE)]
    assert sorted(found) == sorted(
        [
            "module: LEAST = 2 -> LEAST = 3",
            "module: LEAST = 2 -> LEAST = 1",
            "kept: 3 -> 4",
            "kept: 3 -> 2",
            "kept: not x < at -> not not x < at",
            "kept: x < at -> x <= at",
            "kept: x < at -> x >= at",
            "kept: max(x, 0) == 1 and -x <= LEAST -> max(x, 0) == 1 or -x <= LEAST",
            "kept: max(x, 0) == 1 -> max(x, 0) != 1",
            "kept: max(x, 0) -> min(x, 0)",
            "kept: max(x, 0) -> max(x, 1)",
            "kept: max(x, 0) -> max(x, -1)",
            "kept: max(x, 0) == 1 -> max(x, 0) == 2",
            "kept: max(x, 0) == 1 -> max(x, 0) == 0",
            "kept: -x <= LEAST -> -x < LEAST",
            "kept: -x <= LEAST -> -x > LEAST",
        ]
    )


def test_each_change_is_one_change():
    """The code of every mutant of a kernel differs from the kernel's, and no two are named
    alike.
    """
    text = (PACKAGE / "_numerics" / "conformal.py").read_text(encoding="utf-8")
    every = mutants("_numerics/conformal.py", text)
    assert len({one.name for one in every}) == len(every) > 20
    right = compile(text, "conformal.py", "exec")
    assert all(compiled(text, one, "conformal.py").co_consts != right.co_consts for one in every)


def _put(module, before, after):
    text = Path(module.__file__).read_text(encoding="utf-8")
    assert text.count(before) == 1
    return put_in(
        compile(text.replace(before, after), module.__file__, "exec"),
        functions_of_file(module.__file__),
        module.__file__,
    )


def test_a_change_is_put_in_and_taken_back():
    arguments = (np.array([0.2, 0.5, 0.8]), np.ones(3), 3.0, 18.0, 0.1)
    assert conformal.least_parameter(*arguments)[0] == 0.8
    undo = _put(conformal, "(n + 1.0) * risk", "(n + 2.0) * risk")
    assert conformal.least_parameter(*arguments)[0] == 0.5
    for one in undo:
        one()
    assert conformal.least_parameter(*arguments)[0] == 0.8


def test_a_constant_is_put_in_wherever_it_was_imported_and_taken_back():
    before, stakes = conformal.ROUNDING, online.N_ALTERNATIVES
    undo = _put(conformal, "ROUNDING = 1e-12", "ROUNDING = 1.0")
    assert conformal.conformal_rank(9, 0.5) == 0.0
    for one in undo:
        one()
    assert before == conformal.ROUNDING
    assert conformal.conformal_rank(9, 0.5) == 5.0
    assert stakes == online.N_ALTERNATIVES
    assert _put(conformal, "ROUNDING = 1e-12", "ROUNDING = 1e-12  # the same") == []


#: Files of a small tree, as they are here.
TREE = (
    "src/calibrant/_numerics/conformal.py",
    "src/calibrant/_numerics/isotonic.py",
    "src/calibrant/decisions/risk_control.py",
    "src/calibrant/__init__.py",
    "src/calibrant/__init__.pyi",
    "src/calibrant/decisions/__init__.py",
    "src/calibrant/decisions/__init__.pyi",
    "tests/_numerics/test_conformal.py",
    "tests/_numerics/test_isotonic.py",
    "tests/guarantees/test_conformal_edges.py",
    "tests/decisions/test_conformal_risk_control.py",
)


def test_the_nearest_tests_are_those_that_import_the_module(tmp_path):
    for name in TREE:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    near = Nearness(tmp_path)
    found = [
        (distance, path.relative_to(tmp_path / "tests").as_posix())
        for distance, path in near.tests("_numerics/conformal.py")
    ]
    assert found == [
        (0, "_numerics/test_conformal.py"),
        (0, "guarantees/test_conformal_edges.py"),
        (1, "decisions/test_conformal_risk_control.py"),
    ]


def test_mutants_listed_as_equivalent_can_be_made_and_say_why():
    listed = tomllib.loads(
        (ROOT / "tools" / "mutants" / "equivalent.toml").read_text(encoding="utf-8")
    )["equivalent"]
    for path in {one["mutant"].split("::")[0] for one in listed}:
        names = {one.name for one in mutants(path, (PACKAGE / path).read_text(encoding="utf-8"))}
        asked = {one["mutant"] for one in listed if one["mutant"].startswith(f"{path}::")}
        assert asked - names == set(), "no such mutant"
    assert all(len(one["reason"].split()) >= 4 for one in listed)
