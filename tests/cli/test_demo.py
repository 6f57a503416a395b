import importlib
import json
from pathlib import Path

import pytest

from calibrant.cli.methods import methods
from calibrant.datasets.sets import BUNDLED


@pytest.fixture
def demo(run):
    return json.loads(run("demo", "--json", "-o", "demo.html").stdout)


def test_compares_every_method_on_every_case_and_writes_the_report(demo, tmp_path):
    assert len(demo) == 6
    for case, results in demo.items():
        assert list(results) == list(methods())
        for name, found in results.items():
            assert "refused" not in found, (case, name)
            assert (
                found["log loss"]["low"] <= found["log loss"]["value"] <= found["log loss"]["high"]
            )
    forest = demo["random forest on digits"]
    assert forest["temperature"]["log loss"]["value"] < forest["identity"]["log loss"]["value"]
    assert "Demo: random forest on digits" in (tmp_path / "demo.html").read_text("utf-8")


def test_tables(run, monkeypatch):
    module = importlib.import_module("calibrant.cli.demonstration")
    monkeypatch.setattr(module, "BUNDLED", {"breast-cancer": BUNDLED["breast-cancer"]})
    output = run("demo", "-o", "demo.html").output
    lines = output.splitlines()
    assert len(lines) <= 40
    assert lines[2].split()[0] == "uncalibrated"
    assert f"12 of {len(methods())} shown: --all" in lines
    assert sum(line.startswith("  calibrant ") for line in lines) == 3
    page = Path(lines[-1].removeprefix("Open the report: "))
    assert page.is_absolute()
    text = page.read_text("utf-8")
    # The page opens on the answer: nothing that is seen is before it.
    assert text.partition("<main>")[2].strip().startswith('<header class="answer')
    whole = run("demo", "-o", "all.html", "--all").output
    assert "random forest on breast cancer: 171 rows to fit, 171 to test" in whole
    assert "shown: --all" not in whole
