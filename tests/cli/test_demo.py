import importlib
import json

import pytest

from calibrant.cli.methods import methods
from calibrant.datasets.bundled import BUNDLED


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
    assert "uncalibrated" in output
    assert "random forest on breast cancer: 171 rows to fit, 171 to test" in output
    assert "Open the report: demo.html" in output
