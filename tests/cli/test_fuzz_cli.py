"""Files, names and options of every kind by the hundred: each command does what it says, or says
why not.
"""

from collections import Counter

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("polars")
pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")
from tools.fuzz_cli import COMMANDS, fuzz


@pytest.mark.parametrize("cases", [400, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore", "always::RuntimeWarning")
def test_commands_do_what_they_say_or_say_why_not(cases, tmp_path):
    counts, slowest, bad = fuzz(cases, seed=cases, folder=tmp_path)
    assert bad == []
    assert all(counts[name]["done"] > 0 and counts[name]["refused"] > 0 for name in COMMANDS)
    assert sum(counts.values(), Counter()).total() == cases
    assert slowest < 5.0
