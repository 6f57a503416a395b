"""What a package offers is what its stub says, whatever was imported before."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "first",
    [
        "calibrant.tables.apply",
        "calibrant.tables.sample",
        "calibrant.tables",
    ],
)
def test_a_function_is_no_module_though_its_file_has_its_name(first):
    asked = f"import {first}; from calibrant.tables import apply as c, sample as d"
    code = f"{asked}; print(callable(c), callable(d), c.__module__)"
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert said.split() == ["True", "True", "calibrant.tables.apply"]
