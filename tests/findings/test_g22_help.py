"""G22: help and wrong usage are readable and cost next to nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import calibrant

pytest.importorskip("click")
pytest.importorskip("rich")

#: CPU seconds that help or wrong usage may cost.
MOST = 0.4
HEAVY = ("numpy", "scipy", "sklearn", "matplotlib", "pandas", "polars", "pyarrow", "jinja2")
RUN = """
import json, resource, sys
from calibrant.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    code = end.code
used = resource.getrusage(resource.RUSAGE_SELF)
loaded = sorted({name.partition(".")[0] for name in sys.modules})
print(json.dumps({"code": code, "seconds": used.ru_utime + used.ru_stime, "loaded": loaded}))
"""


def told(*arguments):
    """(what was printed, exit code, CPU seconds, libraries loaded) of one run in a process of
    its own.
    """
    env = os.environ | {"PYTHONPATH": str(Path(calibrant.__file__).parent.parent)}
    command = [sys.executable, "-c", RUN, *arguments]
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=120, env=env, check=True
    )
    *lines, last = result.stdout.strip().split("\n")
    found = json.loads(last)
    return "\n".join(lines) + result.stderr, found["code"], found["seconds"], found["loaded"]


def test_g22_bare_calibrant_prints_help():
    text, code, *_ = told()
    assert "\\x0a" not in text
    assert "Measure:\n  evaluate" in text
    assert code == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), 0),
        (("--help",), 0),
        (("evaluate", "--help"), 0),
        (("report", "--help"), 0),
        (("monitor", "--help"), 0),
        (("fit", "--nope"), 2),
        (("apply", "nothing.calibrant", "nothing.csv"), 2),
    ],
)
def test_g22_help_and_wrong_usage_load_nothing_heavy(arguments, code):
    _, found, seconds, loaded = told(*arguments)
    assert found in (code, 2)
    assert not set(HEAVY) & set(loaded)
    assert (
        min(seconds, *(told(*arguments)[2] for _ in range(2))) <= MOST if seconds > MOST else True
    )
