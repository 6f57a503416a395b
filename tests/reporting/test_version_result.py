"""Tests of how a comparison of versions is shown and written."""

import json
import math

from calibrant.monitoring import SwapCheck
from calibrant.reporting.versions import GroupMove, Move, VersionComparison


def result(advice, needed=0.0):
    check = SwapCheck("q", "broken", 0.5, 0.6, 10.0, 4.0, 1.0, 0.05, math.inf, 0.1)
    groups = [GroupMove(f"site {k}", 50.0, 0.2, 0.3, 0.1, 0.05, 0.15, 0.01) for k in "abcd"]
    moved = [Move("risk", 0.02, 0.01, 0.03)]
    return VersionComparison(
        advice, "a reason", needed, moved, groups, [], groups[:1], None, [check], 100, 10
    )


def test_it_prints_the_advice_what_moved_and_for_whom():
    said = repr(result("re-certify"))
    assert said.startswith("Re-certify: It moved most in site a (+0.1), site b (+0.1), site c")
    assert "site d" not in said
    assert "It is worse in site a" in said
    assert "A reason. Certify the rule on labels" in " ".join(said.split())
    assert "risk" in said
    assert "[0.01, 0.03]" in said
    assert "about 1,200 rows" in " ".join(repr(result("cannot tell", 1200.0)).split())
    assert "about more rows" not in repr(result("keep"))


def test_its_dictionary_is_ready_for_json():
    found = json.loads(json.dumps(result("keep").to_dict()))
    assert found["groups"][0]["group"] == "site a"
    assert found["checks"][0]["labels_needed"] is None
    assert found["moved"][0] == {"name": "risk", "value": 0.02, "low": 0.01, "high": 0.03}
