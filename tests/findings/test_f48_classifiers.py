"""F48: the package names every version of Python that it was tested on, from the lowest it
allows.
"""

import tomllib
from pathlib import Path

PROJECT = tomllib.loads(
    (Path(__file__).resolve().parents[2] / "pyproject.toml").read_text(encoding="utf-8")
)["project"]


def test_f48_the_classifiers_name_what_was_tried():
    prefix = "Programming Language :: Python :: "
    named = [c.removeprefix(prefix) for c in PROJECT["classifiers"] if c.startswith(prefix + "3.")]
    assert {"3.11", "3.12", "3.13"} <= set(named)
    assert PROJECT["requires-python"] == f">={named[0]}"
    assert PROJECT["classifiers"] == sorted(PROJECT["classifiers"])
